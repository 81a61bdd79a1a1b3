"""The lab as a fixture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import fresh_database
from tests.lab import Lab, lab


@pytest.fixture
def stored(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    """A lab whose CRM keeps references and does not enforce them."""
    with lab(database_url, tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(postgres_server: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The same, for a module of many tests with people of their own each; a lab takes longer than such a test."""
    folder = tmp_path_factory.mktemp("lab")
    with fresh_database(postgres_server, template=migrated_template) as (_, url), lab(url, folder) as made:
        yield made
