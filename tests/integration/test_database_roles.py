"""The database itself refuses what nobody may do, to the owner by its triggers, and to each process by its role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg import errors

from intake import database_roles
from intake.db import Conn
from tests.by_role import Users, apart
from tests.commands import DECIDED, beside, intake
from tests.conftest import fresh_database
from tests.lab import Lab, lab
from tests.simulation.watching import watching

# Typed by hand, each changes or takes away what must stay.
FORBIDDEN: tuple[LiteralString, ...] = (
    "DELETE FROM decisions",
    "UPDATE decisions SET author = 'otra'",
    "DELETE FROM delivery_history",
    "UPDATE delivery_history SET to_state = 'confirmed'",
    "DELETE FROM events",
    "UPDATE events SET source = 'otra'",
    "DELETE FROM deliveries",
    "DELETE FROM receipts",
    "DELETE FROM bodies",
    "DELETE FROM attempts",
    "UPDATE attempts SET outcome = 'uncertain' WHERE outcome = 'confirmed'",
    "DELETE FROM records",
    "DELETE FROM items",
    "UPDATE receipts SET verdict = 'refused'",
    "DELETE FROM reconciliations",
)
# Besides, to whoever does not own the tables.
OWNERS_ALONE: tuple[LiteralString, ...] = (
    "UPDATE bodies SET content = 'otra' WHERE what = 'raw'",
    "UPDATE attempts SET record_id = record_id",
    "UPDATE receipts SET received_at = now()",
    "UPDATE installation SET epoch = 7",
    "TRUNCATE decisions",
    "TRUNCATE receipts, events CASCADE",
    "ALTER TABLE decisions DISABLE TRIGGER ALL",
    "DROP TRIGGER append_only ON decisions",
    "SET session_replication_role = replica",
    "CREATE TABLE mine (a int)",
)
REFUSED = (errors.CheckViolation, errors.InsufficientPrivilege)


@pytest.fixture(scope="module")
def lived(
    postgres_server: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Lab, Users]]:
    """A pipeline in which each process has its own role, and in which everything has happened once."""
    folder = tmp_path_factory.mktemp("roles")
    database = fresh_database(postgres_server, template=migrated_template)
    with database as (_, url), lab(url, folder) as owned, apart(owned) as (made, users):
        live(made, users, folder)
        yield made, users


def live(made: Lab, users: Users, folder: Path) -> None:
    with watching(made) as told:
        event = made.form(delivery_id="msg_1")
        made.form(delivery_id="msg_1", message="Otra cosa")
        made.whatsapp("Hola", "¿Cuánto cuesta?")
        made.quote(version=1)
        made.quote(version=2, amount="200.00")
        made.post("web", b'{"broken')
        made.settle(3)
        made.dials.fault("422", match={"what": "create", "kind": "contact"})
        refused = made.form(email="otra@example.com", phone="911222333")
        made.work()
        assert told.round()
    desk = {**beside(made, folder), "DATABASE_URL": users.of("intake_desk", made.database_url)}
    assert intake(desk, "revive", refused, *DECIDED).status == 0
    made.settle(2)
    assert [made.state(each) for each in (event, refused)] == ["confirmed", "confirmed"]
    said = intake(desk, "reconcile", "--verify")
    assert said.status == 0, said.out + said.err


def connected(lived: tuple[Lab, Users], role: str) -> psycopg.Connection:
    made, users = lived
    return psycopg.connect(made.database_url if role == "owner" else users.of(role, made.database_url))


@pytest.mark.parametrize("role", ["owner", *database_roles.ROLES])
@pytest.mark.parametrize("statement", FORBIDDEN)
def test_what_must_stay_is_refused_to_everybody(lived: tuple[Lab, Users], role: str, statement: LiteralString) -> None:
    with connected(lived, role) as conn, pytest.raises(REFUSED):
        conn.execute(statement)


@pytest.mark.parametrize("role", database_roles.ROLES)
@pytest.mark.parametrize("statement", OWNERS_ALONE)
def test_what_only_the_owner_may_do_is_refused_to_the_processes(
    lived: tuple[Lab, Users], role: str, statement: LiteralString
) -> None:
    with connected(lived, role) as conn, pytest.raises(REFUSED):
        conn.execute(statement)


@pytest.mark.parametrize("role", database_roles.ROLES)
@pytest.mark.parametrize("statement", FORBIDDEN)
def test_a_process_that_calls_it_a_purge_is_refused_all_the_same(
    lived: tuple[Lab, Users], role: str, statement: LiteralString
) -> None:
    with connected(lived, role) as conn:
        conn.execute("SET LOCAL intake.purge = 'on'")
        with pytest.raises(REFUSED):
            conn.execute(statement)


# Payloads, decisions and what became of an event, in the order of who points at whom.
PURGE: tuple[LiteralString, ...] = (
    "DELETE FROM bodies",
    "UPDATE decisions SET reason = 'purged'",
    "DELETE FROM decisions",
    "DELETE FROM delivery_history",
)


def test_the_owner_may_purge_in_a_transaction_that_says_so(lived: tuple[Lab, Users]) -> None:
    with connected(lived, "owner") as conn, conn.transaction(force_rollback=True):
        conn.execute("SET LOCAL intake.purge = 'on'")
        for statement in PURGE:
            assert conn.execute(statement).rowcount > 0


@pytest.mark.parametrize(
    ("role", "statement"),
    [
        ("intake_door", "INSERT INTO decisions (author, reason, action) VALUES ('a', 'b', 'look')"),
        ("intake_door", "UPDATE records SET state = 'none'"),
        ("intake_door", "SELECT FROM operators"),
        ("intake_worker", "SELECT FROM operator_sessions"),
        ("intake_worker", "INSERT INTO access_log (operator, via, what) VALUES ('a', 'cli', 'content')"),
        ("intake_worker", "INSERT INTO paused_sources (source) VALUES ('web')"),
    ],
)
def test_no_process_may_do_what_only_a_later_one_does(
    lived: tuple[Lab, Users], role: str, statement: LiteralString
) -> None:
    with connected(lived, role) as conn, pytest.raises(errors.InsufficientPrivilege):
        conn.execute(statement)


# Of people at the desk, and what opens a CRM.
NOT_THE_DOORS = (
    "operators",
    "operator_sessions",
    "login_failures",
    "api_tokens",
    "api_calls",
    "access_log",
    "crm_grants",
)
# What was acknowledged, and what was said about it.
FOR_EVER = ("events", "event_aliases", "delivery_history", "decisions")
MAY: LiteralString = "SELECT has_any_column_privilege(%s, %s, %s) OR has_table_privilege(%s, %s, %s)"


def may(conn: Conn, role: str, table: str, privilege: str) -> bool:
    """On the table, or on a column of it."""
    asked = (role, table, privilege)
    return bool(conn.execute(MAY, (*asked, *asked)).fetchall()[0][0])


@pytest.mark.parametrize("table", NOT_THE_DOORS)
def test_the_door_reads_nothing_of_the_desk_and_no_token(lived: tuple[Lab, Users], table: str) -> None:
    with connected(lived, "owner") as conn:
        assert [may(conn, "intake_door", table, each) for each in ("SELECT", "INSERT", "UPDATE")] == [False] * 3


@pytest.mark.parametrize("table", FOR_EVER)
def test_the_desk_changes_nothing_that_was_acknowledged_or_decided(lived: tuple[Lab, Users], table: str) -> None:
    with connected(lived, "owner") as conn:
        assert not may(conn, "intake_desk", table, "UPDATE")
        assert conn.execute("SELECT has_table_privilege('intake_desk', %s, 'DELETE')", (table,)).fetchall() == [
            (False,)
        ]


# Nobody but the owner writes these.
OWNED = {"forgotten", "installation", "schema_migrations"}
TABLES: LiteralString = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
WRITTEN: LiteralString = TABLES + " AND has_table_privilege('intake_desk', oid, 'INSERT')"


def test_every_table_is_written_by_some_role(lived: tuple[Lab, Users]) -> None:
    with connected(lived, "owner") as conn:
        assert names(conn, TABLES) - names(conn, WRITTEN) == OWNED


def names(conn: Conn, query: LiteralString) -> set[str]:
    return {str(name) for (name,) in conn.execute(query)}


def test_a_migration_gives_the_roles_what_is_new(database_url: str, tmp_path: Path) -> None:
    environ = {"DATABASE_URL": database_url, "INTAKE_HOME": str(tmp_path)}
    assert "granted" not in intake(environ, "migrate").out
    assert "granted to intake_door" in intake(environ, "migrate", "--roles").out
    with psycopg.connect(database_url) as conn:
        conn.execute("REVOKE INSERT ON outbox FROM intake_worker")
    assert "granted to intake_door" in intake(environ, "migrate").out
    with psycopg.connect(database_url) as conn:
        (found,) = conn.execute("SELECT has_table_privilege('intake_worker', 'outbox', 'INSERT')").fetchall()
    assert found == (True,)
