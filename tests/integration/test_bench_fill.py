"""The bench's large database is as the migrations make it, whatever was taken out of it meanwhile."""

from __future__ import annotations

import psycopg
import pytest

from tests.bench.fill import fill
from tests.integration.test_schema import CONSTRAINTS, INDEXES

pytestmark = pytest.mark.slow


def test_keys_and_indexes_come_back(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        before = [sorted(map(str, conn.execute(query))) for query in (INDEXES, CONSTRAINTS)]
        fill(database_url, stored=20, pending=5)
        after = [sorted(map(str, conn.execute(query))) for query in (INDEXES, CONSTRAINTS)]
        assert [each.replace(" NOT VALID", "") for each in after[1]] == before[1]
        assert after[0] == before[0]
        assert conn.execute("SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL").fetchone() == (5,)
