"""The code of the version before goes on while the schema is this version's already: migrations only add.

PREVIOUS_CODE=v0.1.0 (a tag or commit): its own simulations are run against the schema of now, too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg._queries import PostgresQuery  # psycopg publishes no other way from %(name)s to $1
from psycopg.adapt import Transformer
from psycopg.rows import tuple_row

CHECKOUT = Path(__file__).parents[2]
RELEASED = sorted(Path(__file__).parent.glob("statements-*.json"))
PREVIOUS_CODE = os.environ.get("PREVIOUS_CODE")

# What a running process of the version before may need.  A migration that does it is a *contract*: it may come only
# in the version after the one whose code has stopped needing it, and then it stands here, with that version.
TAKES_AWAY = {
    "drops a table, column, view or function": r"\bDROP\s+(TABLE|COLUMN|VIEW|FUNCTION|TYPE)\b",
    "renames": r"\bRENAME\b",
    "changes a type": r"\bALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE\b",
    "wants a value that older code does not give": r"\bSET\s+NOT\s+NULL\b"
    r"|\bADD\s+COLUMN\s+(?:IF\s+NOT\s+EXISTS\s+)?\w+\s+(?![^,;]*\bDEFAULT\b)[^,;]*\bNOT\s+NULL\b",
}
# Those of the releases before 0.1.0: no other version has run on them.
FIRST = "0011_grants.sql"
CONTRACTS: dict[str, str] = {}


def migrations() -> Iterator[Path]:
    folder = CHECKOUT / "sql" / "migrations"
    yield from (path for path in sorted(folder.glob("*.sql")) if path.name > FIRST and path.name not in CONTRACTS)


@pytest.mark.parametrize("path", [*migrations()], ids=lambda path: path.name)
def test_a_migration_only_adds(path: Path) -> None:
    text = re.sub(r"--.*$", "", path.read_text("utf-8"), flags=re.MULTILINE)
    assert [what for what, pattern in TAKES_AWAY.items() if re.search(pattern, text, re.IGNORECASE)] == []


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE events DROP COLUMN source",
        "ALTER TABLE events RENAME TO things",
        "ALTER TABLE events ALTER COLUMN version TYPE text",
        "ALTER TABLE events ADD COLUMN more text NOT NULL",
        "ALTER TABLE events ALTER COLUMN version SET NOT NULL",
    ],
)
def test_what_takes_away_is_seen(statement: str) -> None:
    assert any(re.search(pattern, statement, re.IGNORECASE) for pattern in TAKES_AWAY.values())


def test_what_adds_with_a_default_is_no_contract() -> None:
    added = "ALTER TABLE events ADD COLUMN more text NOT NULL DEFAULT ''"
    assert not any(re.search(pattern, added, re.IGNORECASE) for pattern in TAKES_AWAY.values())


# --- the statements of released code --------------------------------------------------------------------------------

# A type that only the value given would tell.
UNTOLD = (
    psycopg.errors.IndeterminateDatatype,
    psycopg.errors.AmbiguousParameter,
    psycopg.errors.AmbiguousFunction,
    psycopg.errors.DatatypeMismatch,
)

OPERATOR = "operator does not exist"  # Taken for another type than the value's; no migration takes operators away.


@pytest.mark.parametrize("released", RELEASED, ids=lambda path: path.stem)
def test_every_statement_of_released_code_is_understood(database_url: str, released: Path) -> None:
    statements: dict[str, str] = json.loads(released.read_text("utf-8"))
    assert len(statements) > 100
    with psycopg.connect(database_url, autocommit=True) as conn:
        assert {name: why for name, text in statements.items() if (why := _refusal(conn, text))} == {}


def _refusal(conn: psycopg.Connection, text: str) -> str:
    """Why PostgreSQL would not plan it; nothing where it would."""
    names = re.findall(r"%\((\w+)\)s", text)
    query = PostgresQuery(Transformer(conn))
    query.convert(text, dict.fromkeys(names) or None)
    try:
        with conn.transaction(force_rollback=True):
            conn.execute(sql.SQL("PREPARE tried AS ") + sql.SQL(query.query.decode()))  # our own file
            conn.execute("DEALLOCATE tried")
    except UNTOLD:
        return ""
    except psycopg.Error as refused:
        told = str(refused).splitlines()[0]
        return "" if told.startswith(OPERATOR) else told
    return ""


INSERTED = re.compile(r"INSERT\s+INTO\s+(\w+)(?:\s+AS\s+\w+)?\s*\(([^)]*)\)", re.IGNORECASE)
REQUIRED = """
    SELECT table_name::text, column_name::text FROM information_schema.columns
     WHERE table_schema = 'public' AND is_nullable = 'NO' AND column_default IS NULL
       AND is_identity = 'NO' AND is_generated = 'NEVER'
"""


@pytest.mark.parametrize("released", RELEASED, ids=lambda path: path.stem)
def test_every_row_that_released_code_inserts_has_all_that_is_required(database_url: str, released: Path) -> None:
    with psycopg.connect(database_url) as conn, conn.cursor(row_factory=tuple_row) as cursor:
        required = set(cursor.execute(REQUIRED))
    lacking = {}
    for name, text in json.loads(released.read_text("utf-8")).items():
        for table, columns in INSERTED.findall(text):
            given = {each.strip() for each in columns.split(",")}
            if missing := {column for of, column in required if of == table} - given:
                lacking[name] = missing
    assert lacking == {}


# --- its whole code -------------------------------------------------------------------------------------------------

SIMULATIONS = ("test_simple_path.py", "test_states.py", "test_zombies.py", "test_conflicts.py", "test_lost_answers.py")


@pytest.mark.skipif(not PREVIOUS_CODE, reason="not run: PREVIOUS_CODE names no tag or commit")
def test_the_simulations_of_the_version_before_pass_on_the_schema_of_now(tmp_path: Path) -> None:
    archive = subprocess.run(
        ["git", "archive", PREVIOUS_CODE or ""],  # noqa: S607  # whichever git a developer has
        cwd=CHECKOUT,
        check=True,
        capture_output=True,
    )
    subprocess.run(["tar", "x"], cwd=tmp_path, input=archive.stdout, check=True)  # noqa: S607
    for path in (CHECKOUT / "sql" / "migrations").glob("*.sql"):
        (tmp_path / "sql" / "migrations" / path.name).write_bytes(path.read_bytes())
    tests = [f"tests/simulation/{name}" for name in SIMULATIONS]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
