"""The lab as a fixture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import Lab, lab


@pytest.fixture
def stored(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    """A lab whose CRM keeps references and does not enforce them."""
    with lab(database_url, tmp_path) as made:
        yield made
