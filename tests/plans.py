"""How PostgreSQL executes a statement whose plan a connection keeps."""

from __future__ import annotations

import re

import psycopg


def plan(database_url: str, query: str) -> str:
    """How PostgreSQL executes it whatever its values are, on tables that nobody has analysed."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        names.extend({match[1]} - set(names))
        return f"${names.index(match[1]) + 1}"

    numbered = re.sub(r"%\((\w+)\)s", number, query)
    with psycopg.connect(database_url) as conn:
        return "\n".join(line for (line,) in conn.execute(f"EXPLAIN (GENERIC_PLAN) {numbered}".encode()))
