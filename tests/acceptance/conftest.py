"""The door as a fixture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import fresh_database
from tests.doorway import Doorway, doorway


@pytest.fixture(scope="module")
def any_door(
    postgres_server: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Doorway]:
    """A door for tests that look at the answer alone; what others of the file sent stands in its database."""
    database = fresh_database(postgres_server, template=migrated_template)
    with database as (_, url), doorway(url, tmp_path_factory.mktemp("door")) as made:
        yield made


@pytest.fixture
def door(database_url: str, tmp_path: Path) -> Iterator[Doorway]:
    """A door with an empty database."""
    with doorway(database_url, tmp_path) as made:
        yield made
