"""A configuration file of a test, written to a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from intake.config import ConfigError, Settings, load

Loads = Callable[..., Settings]
Complains = Callable[..., list[str]]

SOURCE = '[[sources]]\nname = "web"\nkind = "form"\nprovider = "generic"\nsecrets = ["env:KEY"]\n'


@pytest.fixture
def loads(tmp_path: Path) -> Loads:
    """Load a text as the configuration."""

    def run(text: str, environ: Mapping[str, str] | None = None) -> Settings:
        path = tmp_path / "intake.toml"
        path.write_bytes(text.encode())
        return load(path, {"KEY": "sesame"} if environ is None else environ)

    return run


@pytest.fixture
def complains(loads: Loads, tmp_path: Path) -> Complains:
    """Load a text that must be refused; the lines of the message, without the folder."""

    def run(text: str, environ: Mapping[str, str] | None = None) -> list[str]:
        with pytest.raises(ConfigError) as refused:
            loads(text, environ)
        return str(refused.value).replace(f"{tmp_path}/", "").splitlines()

    return run
