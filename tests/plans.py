"""How PostgreSQL executes a statement whose plan a connection keeps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg


def plan(database_url: str, query: str, *, large: bool = False) -> str:
    """How PostgreSQL executes it whatever its values are, on tables that nobody has analysed.

    `large`: as if each were so large that it is read whole only where no index helps.
    """
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        names.extend({match[1]} - set(names))
        return f"${names.index(match[1]) + 1}"

    numbered = re.sub(r"%\((\w+)\)s", number, query)
    # Which is what EXPLAIN (GENERIC_PLAN) would show, had PostgreSQL 15 that already.
    explain = f"EXPLAIN EXECUTE kept({', '.join(['NULL'] * len(names))})" if names else "EXPLAIN EXECUTE kept"
    options = "-c plan_cache_mode=force_generic_plan" + (" -c enable_seqscan=off" if large else "")
    with psycopg.connect(database_url, options=options) as conn:
        conn.execute(f"PREPARE kept AS {numbered}".encode())
        return "\n".join(line for (line,) in conn.execute(explain.encode()))


def read_whole(shown: str) -> set[str]:
    """The tables that this plan reads from one end to the other, or an index of which it does."""
    return set(_read_whole(shown.splitlines()))


def _read_whole(lines: list[str]) -> Iterator[str]:
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        by_index = re.search(r"Index (?:Only )?Scan using \w+ on (\w+)", line)
        if by_index and "Index Cond: " not in below:
            yield by_index[1]
        if whole := re.search(r"Seq Scan on (\w+)", line):
            yield whole[1]
