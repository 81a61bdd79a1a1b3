"""Signing in and out: cookies, locks, fixed sessions, and where a login leads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from intake.console.gate import LIVE
from intake.console.login import PER_MINUTE
from intake.desk import operators, sessions
from intake.desk.operators import MOST_FAILURES, Secret
from intake.desk.serving import create
from intake.desk.tools import Tools
from intake.rates import Rates
from tests.desk_lab import PASSWORD, QUICK, form_token
from tests.integration.desk.conftest import Scene


def enter(browser: FlaskClient, name: str, password: str, **more: str) -> TestResponse:
    """By the form, as a browser does."""
    page = browser.get("/console/login").get_data(as_text=True)
    return browser.post("/console/login", data={"csrf": form_token(page), "name": name, "password": password, **more})


def cookie(browser: FlaskClient, name: str = "intake") -> str:
    found = browser.get_cookie(name)
    return "" if found is None else found.value


def newcomer(scene: Scene, name: str) -> str:
    """An operator of the test's own; returns the name."""
    with scene.lab.pool.connection() as conn:
        operators.add(conn, QUICK, name, "viewer", Secret(PASSWORD, must_change=False))
    return name


def test_a_login_leads_to_the_inbox(scene: Scene) -> None:
    browser = scene.desk.stranger()
    answer = enter(browser, "operator", PASSWORD)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/console/")
    assert browser.get("/console/inbox/decide").status_code == 200


def test_who_was_sent_to_the_login_comes_back_to_the_page(scene: Scene) -> None:
    browser = scene.desk.stranger()
    wanted = "/console/inbox/all?source=web&state=review"
    sent = browser.get(wanted).headers["Location"]
    page = browser.get(sent).get_data(as_text=True)
    assert "source=web&amp;state=review" in page
    assert enter(browser, "operator", PASSWORD, next=wanted).headers["Location"] == wanted


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example", "//evil.example", "/\\evil.example", "/console/../../evil", "\\\\evil.example",
        "/console//evil.example", "javascript:alert(1)", "/console\r\nSet-Cookie: a=b", "/console/?next=//evil.example",
        "/hooks/web", "/console@evil.example", "///evil.example/console", "http:/console",
    ],
)  # fmt: skip
def test_a_login_leads_to_no_other_site(scene: Scene, target: str) -> None:
    location = enter(scene.desk.stranger(), "operator", PASSWORD, next=target).headers["Location"]
    assert location == "/console/"


def test_a_session_that_was_brought_along_is_not_taken(scene: Scene) -> None:
    browser = scene.desk.stranger()
    browser.set_cookie("intake", "fixed-by-somebody")
    enter(browser, "operator", PASSWORD)
    assert cookie(browser) != "fixed-by-somebody"
    fixed = scene.desk.stranger()
    fixed.set_cookie("intake", "fixed-by-somebody")
    assert fixed.get("/console/inbox/all").status_code == 302


def test_each_login_is_a_session_of_its_own(scene: Scene) -> None:
    browser = scene.desk.stranger()
    enter(browser, "operator", PASSWORD)
    first = cookie(browser)
    browser.delete_cookie("intake")
    enter(browser, "operator", PASSWORD)
    assert cookie(browser) not in {"", first}


def test_signing_out_ends_the_session_at_the_server(scene: Scene) -> None:
    person = scene.desk.person("operator")
    kept = cookie(person.client)
    person.post("/console/logout")
    person.client.set_cookie("intake", kept)
    assert person.get("/console/inbox/all").status_code == 302


def test_brute_force_is_locked_out_of_the_form(scene: Scene) -> None:
    name, browser = newcomer(scene, "brute"), scene.desk.stranger()
    told = [enter(browser, name, f"guess {number}").status_code for number in range(MOST_FAILURES)]
    assert told == [401] * MOST_FAILURES
    answer = enter(browser, name, PASSWORD)
    assert answer.status_code == 401
    assert "15 minutos" in answer.get_data(as_text=True)


def test_an_address_that_tries_too_often_waits(scene: Scene) -> None:
    tools = Tools(scene.lab.settings, scene.lab.pool, lambda: None, QUICK, Rates(lambda: 0.0))
    browser = create(tools).test_client()
    told = [enter(browser, f"n{number}", "guess").status_code for number in range(PER_MINUTE + 1)]
    assert told[:5] == [401] * 5
    assert told[-1] == 429


def test_a_wrong_password_and_an_unknown_name_look_alike(scene: Scene) -> None:
    pages = [
        enter(scene.desk.stranger(), name, "wrong").get_data(as_text=True).replace(name, "NAME")
        for name in (newcomer(scene, "somebody"), "nobodyy")
    ]
    first, second = (page.replace(form_token(page), "") for page in pages)
    assert first == second


def test_the_login_form_is_bound_to_its_browser(scene: Scene) -> None:
    page = scene.desk.stranger().get("/console/login").get_data(as_text=True)
    data = {"csrf": form_token(page), "name": "operator", "password": PASSWORD}
    assert scene.desk.stranger().post("/console/login", data=data).status_code == 403


@pytest.mark.parametrize("body", [b"\xff\xfe", b"name=%00&password=%00&csrf=%00", b"a=1&" * 200, b"csrf=%ED%A0%80"])
def test_a_broken_login_is_refused_and_no_bug(scene: Scene, body: bytes) -> None:
    browser = scene.desk.stranger()
    browser.get("/console/login")
    answer = browser.post("/console/login", data=body, content_type="application/x-www-form-urlencoded")
    assert 400 <= answer.status_code < 500


def test_cookies_are_for_https_and_no_script_where_people_come_from_outside(scene: Scene) -> None:
    settings = replace(scene.lab.settings, public_base_url="https://intake.example.com")
    browser = create(Tools(settings, scene.lab.pool, lambda: None, QUICK)).test_client()
    page = browser.get("/console/login", base_url="https://intake.example.com").get_data(as_text=True)
    answer = browser.post(
        "/console/login",
        base_url="https://intake.example.com",
        data={"csrf": form_token(page), "name": "operator", "password": PASSWORD},
    )
    (made,) = [each for each in answer.headers.getlist("Set-Cookie") if each.startswith("__Host-intake=")]
    parts = set(made.split("; ")[1:])
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= parts
    assert not any(each.startswith("Domain") for each in parts)
    assert answer.headers["Strict-Transport-Security"]


AGE = "UPDATE operator_sessions SET seen_at = seen_at - interval '50 minutes' WHERE operator_id = %(id)s"
SEEN = "SELECT max(clock_timestamp() - seen_at) < interval '5 minutes' AS lately FROM operator_sessions s"


@pytest.mark.parametrize(("headers", "lately"), [({}, True), ({LIVE: "1"}, False)])
def test_a_page_that_stays_up_to_date_by_itself_keeps_no_session_alive(
    scene: Scene, headers: dict[str, str], lately: bool
) -> None:
    name = newcomer(scene, f"leaves{len(headers)}")
    with scene.lab.pool.connection() as conn:
        operator = operators.find(conn, name)
        assert operator is not None
        begun = sessions.begin(conn, operator)
        conn.execute(AGE, {"id": operator.operator_id})
    browser = scene.desk.stranger()
    browser.set_cookie("intake", begun.token)
    assert browser.get("/console/inbox/all", headers=headers).status_code == 200
    seen = scene.lab.rows(f"{SEEN} WHERE operator_id = %(id)s", id=operator.operator_id)
    assert seen == [{"lately": lately}]


# --- one's own account ------------------------------------------------------------------------------------------------


def test_a_new_password_ends_the_other_sessions(scene: Scene) -> None:
    name = newcomer(scene, "changes")
    with scene.lab.pool.connection() as conn:
        operator = operators.find(conn, name)
        assert operator is not None
        mine, other = sessions.begin(conn, operator), sessions.begin(conn, operator)
    browser = scene.desk.stranger()
    browser.set_cookie("intake", mine.token)
    fields = {"old": PASSWORD, "new": "otra frase bien larga", "again": "otra frase bien larga"}
    answer = browser.post("/console/account/password", data={"csrf": mine.form_token, **fields})
    assert answer.status_code == 303
    assert browser.get("/console/inbox/all").status_code == 200
    with scene.lab.pool.connection() as conn:
        assert sessions.find(conn, other.token) is None
        assert sessions.find(conn, mine.token) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"old": "wrong", "new": "otra frase bien larga", "again": "otra frase bien larga"},
        {"old": PASSWORD, "new": "otra frase bien larga", "again": "otra"},
        {"old": PASSWORD, "new": "corta", "again": "corta"},
        {"old": PASSWORD, "new": PASSWORD, "again": PASSWORD},
    ],
)
def test_a_bad_change_of_the_password_changes_nothing(scene: Scene, fields: dict[str, str]) -> None:
    answer = scene.desk.person("approver").post("/console/account/password", **fields)
    assert answer.status_code == 422
    with scene.lab.pool.connection() as conn:
        assert isinstance(operators.identify(conn, QUICK, "approver", PASSWORD), operators.Operator)
