"""A time that an index tells is compared with one that stands for the whole statement.

PostgreSQL asks a volatile function, as clock_timestamp() is, for each row anew, so that no index finds a row by it, and
all of them are read: https://www.postgresql.org/docs/18/xfunc-volatility.html (2026-11-30).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
SCHEMA = (CHECKOUT / "sql" / "schema.sql").read_text("utf-8")

# How long an approval lasts is asked of rows that were found otherwise, and by the very moment.
BY_THE_MOMENT = {"approved_until"}


def indexed() -> set[str]:
    """The columns of times by which an index finds rows."""
    times = set(re.findall(r"^ +(\w+) +timestamptz\b", SCHEMA, re.MULTILINE))
    indexes = re.findall(
        r"^CREATE (?:UNIQUE )?INDEX \w+ ON \w+ (?:USING \w+ )?\(([^;]*?)\)(?: WHERE|;)", SCHEMA, re.MULTILINE
    )
    return times & {column for columns in indexes for column in re.findall(r"\w+", columns)} - BY_THE_MOMENT


def compared(text: str) -> Iterator[str]:
    columns = "|".join(sorted(indexed()))
    yield from (found[0] for found in re.finditer(rf"\b({columns})\s*[<>]=?\s*clock_timestamp\(\)", text))


def test_no_statement_compares_an_indexed_time_with_a_clock_that_moves() -> None:
    files = [path for package in ("intake", "workers") for path in (CHECKOUT / package).rglob("*.py")]
    found = {path.name: list(compared(path.read_text("utf-8"))) for path in files}
    assert {name: times for name, times in found.items() if times} == {}


def test_it_would_be_seen() -> None:
    assert {"received_at", "due_at", "changed_at", "answered_at", "prepared_at"} <= indexed()
    assert list(compared("WHERE d.due_at <= clock_timestamp()")) == ["due_at <= clock_timestamp()"]
