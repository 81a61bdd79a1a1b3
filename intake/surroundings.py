"""What a command finds around it: the environment, and what a running `intake up` left in its home for the others.

`intake up` writes two files that only its user may read: `runtime.env` (where its servers are; removed when it stops)
and `demo-secrets.env` (the secrets of the built-in demo configuration, made once).  What the environment says wins.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

RUNTIME = "runtime.env"
DEMO_SECRETS = "demo-secrets.env"


def home_of(environ: Mapping[str, str]) -> Path:
    """Where the state of this installation stands."""
    return Path(environ.get("INTAKE_HOME") or "var")


def surroundings(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment, completed with what a running `intake up` of the same home says."""
    home = home_of(environ)
    given = {name: value for name, value in environ.items() if value}
    return {**read(home / DEMO_SECRETS), **read(home / RUNTIME), **given}


def read(file: Path) -> dict[str, str]:
    """The NAME=VALUE lines of a file; none where there is no file."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def write(file: Path, values: Mapping[str, str]) -> None:
    """Replace a file in one piece; only its owner may read it.  Raises OSError."""
    unfinished = file.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        out.writelines(f"{name}={value}\n" for name, value in values.items())
    unfinished.replace(file)
