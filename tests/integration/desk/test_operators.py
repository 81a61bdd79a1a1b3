"""Who may open the desk: passwords, locks, sessions and tokens, against a real database."""

from __future__ import annotations

from datetime import timedelta

import pytest
from argon2 import PasswordHasher

from intake.db import Conn
from intake.desk import operators, sessions, tokens
from intake.desk.operators import MOST_FAILURES, Operator, Secret
from intake.desk.passwords import Passwords, WeakPassword
from intake.desk.roles import Scope
from intake.desk.sessions import IDLE, LONGEST, MOST

# Of the test alone: as quick as Argon2 can be.
HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
QUICK = Passwords(HASHER, HASHER.hash("nobody"))
GOOD = "veintisiete tazas"


@pytest.fixture
def conn(bare: Conn) -> Conn:
    operators.add(bare, QUICK, "ana", "operator", Secret(GOOD, must_change=False))
    return bare


def ana(conn: Conn) -> Operator:
    found = operators.find(conn, "ana")
    assert found is not None
    return found


def wait(conn: Conn, span: timedelta) -> None:
    """Every stored time is now this much longer ago."""
    conn.execute(
        "UPDATE login_failures SET last_at = last_at - %(s)s, locked_until = locked_until - %(s)s", {"s": span}
    )
    conn.execute("UPDATE operator_sessions SET made_at = made_at - %(s)s, seen_at = seen_at - %(s)s", {"s": span})
    conn.execute("UPDATE api_tokens SET expires_at = expires_at - %(s)s", {"s": span})


# --- passwords ------------------------------------------------------------------------------------------------------


def test_the_right_password_names_its_operator(conn: Conn) -> None:
    assert operators.identify(conn, QUICK, " ANA ", GOOD) == ana(conn)


def test_a_wrong_password_and_an_unknown_name_are_answered_alike(conn: Conn) -> None:
    assert operators.identify(conn, QUICK, "ana", "no") == operators.identify(conn, QUICK, "luis", "no") == "wrong"


def test_no_password_is_stored(conn: Conn) -> None:
    (stored,) = conn.execute("SELECT password_hash FROM operators").fetchone() or ()
    assert stored.startswith("$argon2id$")
    assert GOOD not in stored


@pytest.mark.parametrize("password", ["corto", "x" * 201, "la-clave-de-benita", "aaaaaaaaaaaaaaaa"])
def test_a_weak_password_is_refused(conn: Conn, password: str) -> None:
    with pytest.raises(WeakPassword):
        operators.add(conn, QUICK, "benita", "viewer", Secret(password))


def test_a_name_is_not_given_twice(conn: Conn) -> None:
    operators.disable(conn, "ana")
    with pytest.raises(operators.NameTaken):
        operators.add(conn, QUICK, "ana", "viewer", Secret(GOOD))


@pytest.mark.parametrize("name", ["", "Ana", "ana maría", "<script>", "-ana", "a" * 64, "ana\n"])
def test_a_name_is_plain(conn: Conn, name: str) -> None:
    with pytest.raises(operators.BadName):
        operators.add(conn, QUICK, name, "viewer", Secret(GOOD))


@pytest.mark.parametrize("name", ["ana", "nobody", "", "\x00", "a" * 5000, "ñ\ud800"])
def test_brute_force_locks_any_name(conn: Conn, name: str) -> None:
    told = [operators.identify(conn, QUICK, name, f"guess {number}") for number in range(MOST_FAILURES + 2)]
    assert told == ["wrong"] * MOST_FAILURES + ["locked"] * 2


def test_the_right_password_does_not_open_a_lock(conn: Conn) -> None:
    for number in range(MOST_FAILURES):
        operators.identify(conn, QUICK, "ana", f"guess {number}")
    assert operators.identify(conn, QUICK, "ana", GOOD) == "locked"


def test_a_lock_ends_by_itself(conn: Conn) -> None:
    for number in range(MOST_FAILURES):
        operators.identify(conn, QUICK, "ana", f"guess {number}")
    wait(conn, timedelta(minutes=16))
    assert operators.identify(conn, QUICK, "ana", GOOD) == ana(conn)


def test_failures_that_lie_apart_lock_nobody(conn: Conn) -> None:
    for number in range(3 * MOST_FAILURES):
        assert operators.identify(conn, QUICK, "ana", f"guess {number}") == "wrong"
        wait(conn, timedelta(minutes=16))


def test_a_reset_lets_a_locked_operator_in(conn: Conn) -> None:
    for number in range(MOST_FAILURES):
        operators.identify(conn, QUICK, "ana", f"guess {number}")
    assert operators.set_password(conn, QUICK, "ana", Secret("otra frase larga"))
    found = operators.identify(conn, QUICK, "ana", "otra frase larga")
    assert isinstance(found, Operator)
    assert found.must_change


# --- sessions -------------------------------------------------------------------------------------------------------


def test_a_session_names_its_operator(conn: Conn) -> None:
    begun = sessions.begin(conn, ana(conn))
    assert sessions.find(conn, begun.token) == begun


def test_the_database_does_not_hold_what_the_cookie_holds(conn: Conn) -> None:
    begun = sessions.begin(conn, ana(conn))
    (stored,) = conn.execute("SELECT session_hash FROM operator_sessions").fetchone() or ()
    assert begun.token.encode() not in stored


@pytest.mark.parametrize("token", ["", "x", "\x00", "ñ\ud800", "a" * 10_000])
def test_a_made_up_cookie_is_nobodys(conn: Conn, token: str) -> None:
    assert sessions.find(conn, token) is None


def test_a_session_that_is_left_alone_ends(conn: Conn) -> None:
    begun = sessions.begin(conn, ana(conn))
    wait(conn, IDLE + timedelta(seconds=1))
    assert sessions.find(conn, begun.token) is None


def test_a_session_in_use_ends_after_a_working_day(conn: Conn) -> None:
    begun = sessions.begin(conn, ana(conn))
    for _ in range(int(LONGEST / timedelta(minutes=30))):
        assert sessions.find(conn, begun.token) is not None
        wait(conn, timedelta(minutes=30))
    wait(conn, timedelta(seconds=1))
    assert sessions.find(conn, begun.token) is None


def test_the_least_used_of_too_many_sessions_ends(conn: Conn) -> None:
    first, *others = [sessions.begin(conn, ana(conn)) for _ in range(MOST + 1)]
    assert sessions.find(conn, first.token) is None
    assert all(sessions.find(conn, each.token) for each in others)


@pytest.mark.parametrize("how", ["disable", "reset"])
def test_a_disabled_or_reset_operator_is_signed_in_nowhere(conn: Conn, how: str) -> None:
    begun = sessions.begin(conn, ana(conn))
    if how == "disable":
        operators.disable(conn, "ana")
    else:
        operators.set_password(conn, QUICK, "ana", Secret("otra frase larga"))
    assert sessions.find(conn, begun.token) is None


def test_another_role_counts_at_once(conn: Conn) -> None:
    begun = sessions.begin(conn, ana(conn))
    operators.give_role(conn, "ana", "viewer")
    found = sessions.find(conn, begun.token)
    assert found is not None
    assert not found.operator.may("work")


def test_the_form_token_tells_nothing_of_the_cookie(conn: Conn) -> None:
    begun = sessions.begin(conn, ana(conn))
    assert begun.token not in begun.form_token
    assert sessions.is_form_token(begun.token, begun.form_token)
    assert not sessions.is_form_token(begun.token, sessions.begin(conn, ana(conn)).form_token)


# --- tokens ---------------------------------------------------------------------------------------------------------


def token(conn: Conn, *scopes: Scope) -> str:
    made = tokens.add(conn, "ana", "test", list(scopes), timedelta(days=1))
    assert made is not None
    return made


def test_a_token_may_do_what_its_scopes_and_its_operator_may(conn: Conn) -> None:
    found = tokens.find(conn, token(conn, "read", "act"))
    assert found is not None
    assert found.permissions == {"see", "work"}


def test_a_token_of_a_viewer_decides_nothing(conn: Conn) -> None:
    secret = token(conn, "read", "data", "act")
    operators.give_role(conn, "ana", "viewer")
    found = tokens.find(conn, secret)
    assert found is not None
    assert found.permissions == {"see"}


def test_a_token_ends(conn: Conn) -> None:
    secret = token(conn, "read")
    wait(conn, timedelta(days=1, seconds=1))
    assert tokens.find(conn, secret) is None


def test_a_revoked_token_lets_nobody_in(conn: Conn) -> None:
    secret = token(conn, "read")
    (listed,) = tokens.listed(conn)
    assert tokens.revoke(conn, listed.token_id)
    assert tokens.find(conn, secret) is None


def test_a_token_of_a_disabled_operator_lets_nobody_in(conn: Conn) -> None:
    secret = token(conn, "read")
    operators.disable(conn, "ana")
    assert tokens.find(conn, secret) is None
