"""`intake operators`: people, tokens, and who saw what, as an administrator types it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest

from intake.desk import access, operators, tokens
from intake.desk.passwords import Passwords
from tests.commands import intake, listed


@pytest.fixture
def environ(desk_url: str, tmp_path: Path) -> Mapping[str, str]:
    return {"DATABASE_URL": desk_url, "INTAKE_HOME": str(tmp_path)}


def test_an_operator_signs_in_with_the_password_that_was_shown(environ: Mapping[str, str], desk_url: str) -> None:
    said = intake(environ, "operators", "add", "ana", "--role", "approver")
    password = said.out.partition("password: ")[2].split()[0]
    with psycopg.connect(desk_url, autocommit=True) as conn:
        found = operators.identify(conn, Passwords(), "ana", password)
    assert isinstance(found, operators.Operator)
    assert (found.role, found.must_change) == ("approver", True)


def test_everybody_is_listed_and_no_password_with_them(environ: Mapping[str, str]) -> None:
    password = intake(environ, "operators", "add", "ana").out.partition("password: ")[2].split()[0]
    intake(environ, "operators", "disable", "ana")
    said = intake(environ, "operators", "list", "--json")
    (ana,) = listed(said.document, "operators")
    assert ana["name"] == "ana"
    assert ana["disabled_at"] is not None
    assert password not in said.out
    assert "argon2" not in said.out


def test_people_read_the_list_in_their_language(environ: Mapping[str, str]) -> None:
    intake(environ, "operators", "add", "ana")
    head = intake(environ, "operators", "list").out.splitlines()[0]
    assert head.split() == ["nombre", "rol", "desde", "desactivado"]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("add", "Ana María"), 2),
        (("disable", "nobody"), 1),
        (("enable", "nobody"), 1),
        (("reset", "nobody"), 1),
        (("role", "nobody", "admin"), 1),
        (("token", "add", "nobody", "reports"), 1),
        (("token", "revoke", "7"), 1),
    ],
)
def test_what_cannot_be_done_is_said(environ: Mapping[str, str], words: tuple[str, ...], status: int) -> None:
    assert intake(environ, "operators", *words).status == status


def test_a_name_is_given_once(environ: Mapping[str, str]) -> None:
    intake(environ, "operators", "add", "ana")
    again = intake(environ, "operators", "add", "ana")
    assert again.status == 1
    assert "already" in again.err


def test_a_token_is_shown_once(environ: Mapping[str, str], desk_url: str) -> None:
    intake(environ, "operators", "add", "ana")
    secret = intake(environ, "operators", "token", "add", "ana", "reports", "--scope", "read").out.strip()
    with psycopg.connect(desk_url, autocommit=True) as conn:
        assert tokens.find(conn, secret) is not None
    said = intake(environ, "operators", "token", "list", "--json")
    assert secret not in said.out
    assert listed(said.document, "tokens")[0]["label"] == "reports"


def test_who_saw_what_is_exported(environ: Mapping[str, str], desk_url: str) -> None:
    with psycopg.connect(desk_url, autocommit=True) as conn:
        access.note(conn, access.Viewer("ana", "console"), "content", None, count=1)
    said = intake(environ, "operators", "access", "--csv")
    header, line = said.out.splitlines()
    assert header == "at,operator,via,what,event_id"
    assert line.endswith(",ana,console,content,")


def test_the_access_log_is_append_only(desk_url: str) -> None:
    with psycopg.connect(desk_url, autocommit=True) as conn:
        access.note(conn, access.Viewer("ana", "console"), "content")
        with pytest.raises(psycopg.errors.CheckViolation):
            conn.execute("DELETE FROM access_log")
