"""Nothing of ours rests on a session of PostgreSQL, so that a pooler may lend each transaction another connection."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
# The proofs and the demo have databases of their own, and no pooler.
APART = (CHECKOUT / "workers" / "prove", CHECKOUT / "workers" / "demo")

# What a session keeps beyond its transaction: https://www.pgbouncer.org/features.html (2026-11-30).
OF_A_SESSION = {
    "a session's advisory lock": r"pg_(try_)?advisory_(lock|unlock)",
    "LISTEN": r"\b(UN)?LISTEN\s+\w+|\bNOTIFY\s+\w+\s*[;,]",
    "SET without LOCAL": r"[\"'(;]\s*SET\s+(?!LOCAL\b|CONSTRAINTS\b|TRANSACTION\b)\w+\s*(=|TO)\s",
    "set_config for the session": r"set_config\([^)]*false\s*\)",
    "a temporary table": r"\bCREATE\s+(TEMP|TEMPORARY)\b",
    "a cursor that outlives its transaction": r"\bWITH\s+HOLD\b|\.cursor\(\s*(name=)?[\"']",
    "PREPARE": r"\b(PREPARE|DEALLOCATE)\s+\w+\s+(AS|\()",
}


def sources() -> Iterator[Path]:
    for package in ("intake", "workers", "sql"):
        for suffix in ("py", "sql"):
            yield from (CHECKOUT / package).rglob(f"*.{suffix}")


@pytest.mark.parametrize("feature", OF_A_SESSION)
def test_no_statement_needs_its_session(feature: str) -> None:
    pattern = re.compile(OF_A_SESSION[feature])
    mine = [path for path in sources() if not any(path.is_relative_to(apart) for apart in APART)]
    assert [str(path.relative_to(CHECKOUT)) for path in mine if pattern.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("feature", "statement"),
    [
        ("a session's advisory lock", "SELECT pg_advisory_lock(1)"),
        ("LISTEN", "LISTEN leads"),
        ("SET without LOCAL", 'conn.execute("SET lock_timeout = 1")'),
        ("a temporary table", "CREATE TEMP TABLE some (id int)"),
        ("a cursor that outlives its transaction", 'conn.cursor("named")'),
    ],
)
def test_it_would_be_seen(feature: str, statement: str) -> None:
    assert re.search(OF_A_SESSION[feature], statement)
