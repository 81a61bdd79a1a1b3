"""`sql/schema.sql`, which people read, says what the migrations make."""

from __future__ import annotations

from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from intake.db import migrate, sql_folder

COLUMNS = """
    SELECT table_name, column_name, ordinal_position, data_type, is_nullable, column_default
      FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'schema_migrations'
"""
INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'schema_migrations'"
CONSTRAINTS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'schema_migrations'
"""
TRIGGERS = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
FUNCTIONS = "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
VIEWS = "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'"
OPTIONS = """
    SELECT relname, reloptions FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'schema_migrations%'
"""


@pytest.mark.parametrize("query", [COLUMNS, INDEXES, CONSTRAINTS, TRIGGERS, FUNCTIONS, VIEWS, OPTIONS])
def test_the_schema_for_readers_is_what_the_migrations_make(
    empty_database_url: str, database_url: str, query: LiteralString
) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as conn:
        conn.execute(sql.SQL((sql_folder() / "schema.sql").read_text("utf-8")))  # our own file
        read = sorted(map(str, conn.execute(query)))
    with psycopg.connect(database_url) as conn:
        made = sorted(map(str, conn.execute(query)))
    assert read == made
    assert migrate(database_url) == ()
