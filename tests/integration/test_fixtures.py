"""The fixtures of conftest.py: what a test gets is its own, and empty."""

import psycopg
import redis


def test_a_database_has_the_schema_and_is_the_tests_own(database_url: str, empty_database_url: str) -> None:
    tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"
    with psycopg.connect(database_url) as migrated, psycopg.connect(empty_database_url) as empty:
        assert migrated.execute(tables).fetchone() != (0,)
        assert empty.execute(tables).fetchone() == (0,)


def test_a_redis_database_is_empty(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
