"""The roles of the database with the least that each process needs; what they may do stands in `sql/roles.sql`."""

from __future__ import annotations

import psycopg
from psycopg import sql
from psycopg.rows import scalar_row

from intake.db import sql_folder

ROLES = ("intake_door", "intake_worker", "intake_desk")


def grant(database_url: str) -> None:
    """Make the roles that are missing, and give each exactly what it needs here.

    Raises psycopg.Error: who asks must own the tables, and may make roles (CREATEROLE).
    """
    with psycopg.connect(database_url) as conn:
        conn.execute(sql.SQL((sql_folder() / "roles.sql").read_text("utf-8")))  # our own file


# Those of another database of the same server do not count: it is this one that was given to them.
GRANTED = """
    SELECT EXISTS (SELECT FROM information_schema.role_table_grants
                    WHERE grantee = ANY(%(roles)s) AND table_schema = 'public')
"""


def are_granted(database_url: str) -> bool:
    """Whether this database was given to them."""
    with psycopg.connect(database_url) as conn, conn.cursor(row_factory=scalar_row) as cursor:
        return bool(cursor.execute(GRANTED, {"roles": list(ROLES)}).fetchone())
