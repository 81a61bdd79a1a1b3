"""The pages of `docs/reference/`, and what each is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.reference import api, cli, settings, states

FOLDER: Final = Path(__file__).parents[2] / "docs" / "reference"

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "api.md": api.text,
    "cli.md": cli.text,
    "settings.md": settings.text,
    "states.md": states.text,
}
