"""Who is let in where: each route of the console and the API, for each role, and for nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import pytest
from flask import Flask
from werkzeug.routing import Rule

from intake.console.gate import BEFORE_CHANGE, OPEN
from intake.desk.roles import GRANTS, OF_SCOPE, ROLES, SCOPES, Permission, Role, Scope
from tests.desk_lab import Person
from tests.integration.desk.conftest import Scene

# What a path is filled with, where a test does not care.
NAMES: Final[Mapping[str, str]] = {
    "which": "all", "deed": "look", "things": "sources", "name": "web", "filename": "desk.css",
}  # fmt: skip
# Those need nobody: the way in, and what describes the API.
PUBLIC: Final = OPEN | {"about_api.openapi", "about_api.reference", "metrics"}


def routes(app: Flask, prefix: str) -> Iterator[tuple[str, Rule]]:
    """Every method and rule of the pages, or of the API, that asks who it is."""
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith(prefix) and rule.endpoint not in PUBLIC:
            for method in (rule.methods or set()) & {"GET", "POST"}:
                yield method, rule


def path(scene: Scene, rule: Rule) -> str:
    given = {"event_id": scene.day.confirmed, "item_id": scene.day.conflict_item, "bulk_id": scene.day.run, **NAMES}
    if rule.endpoint == "console.steer":
        given["deed"] = "resume"
    built = rule.build({name: given[name] for name in rule.arguments})
    assert built is not None
    return built[1]


def asked(app: Flask, rule: Rule) -> Permission:
    """What a view says that it needs."""
    found: Permission = vars(app.view_functions[rule.endpoint])["needs"]  # set by the decorator of that name
    return found


def ask(person: Person, method: str, address: str) -> int:
    answer = person.get(address) if method == "GET" else person.post(address)
    return answer.status_code


def test_every_route_says_what_it_needs(scene: Scene) -> None:
    silent = [
        rule.endpoint
        for prefix in ("/console", "/api")
        for _, rule in routes(scene.desk.app, prefix)
        if not hasattr(scene.desk.app.view_functions[rule.endpoint], "needs")
    ]
    assert silent == []


@pytest.mark.parametrize("role", ROLES)
def test_each_role_reaches_its_pages_and_no_other(scene: Scene, role: Role) -> None:
    wrong = []
    for method, rule in routes(scene.desk.app, "/console"):
        status = ask(scene.desk.person(role), method, path(scene, rule))
        may = asked(scene.desk.app, rule) in GRANTS[role]
        if (status == 403) is may or status >= 500:
            wrong.append((role, method, rule.rule, status))
    assert wrong == []


def test_nobody_reaches_a_page(scene: Scene) -> None:
    reached = []
    for method, rule in routes(scene.desk.app, "/console"):
        browser, address = scene.desk.stranger(), path(scene, rule)
        answer = browser.get(address) if method == "GET" else browser.post(address)
        if answer.status_code != 302 or not answer.headers["Location"].startswith("/console/login"):
            reached.append((method, rule.rule, answer.status_code))
    assert reached == []


def test_no_form_is_taken_without_its_proof(scene: Scene) -> None:
    other = scene.desk.person("admin").form_token
    taken = []
    for method, rule in routes(scene.desk.app, "/console"):
        if method == "POST":
            person = scene.desk.person("admin")
            for proof in ("", "0" * 64, other):
                answer = person.client.post(path(scene, rule), data={"csrf": proof, "reason": "x"})
                if answer.status_code != 403:
                    taken.append((rule.rule, answer.status_code))
    assert taken == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_no_form_is_taken_from_another_site(scene: Scene, site: str) -> None:
    person = scene.desk.person("admin")
    answer = person.client.post(
        "/console/account/language",
        data={"csrf": person.form_token, "language": "es"},
        headers={"Sec-Fetch-Site": site},
    )
    assert answer.status_code == 403


def test_a_password_that_others_know_opens_nothing_but_its_change(scene: Scene) -> None:
    with scene.lab.pool.connection() as conn:
        conn.execute("UPDATE operators SET must_change = true WHERE name = 'viewer'")
    try:
        for method, rule in routes(scene.desk.app, "/console"):
            if rule.endpoint not in BEFORE_CHANGE:
                person, address = scene.desk.person("viewer"), path(scene, rule)
                answer = person.get(address) if method == "GET" else person.post(address)
                assert (answer.status_code, answer.headers["Location"]) == (302, "/console/account"), rule
    finally:
        with scene.lab.pool.connection() as conn:
            conn.execute("UPDATE operators SET must_change = false WHERE name = 'viewer'")


# --- the API ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_reaches_what_its_scope_and_its_operator_may(scene: Scene, role: Role, scope: Scope) -> None:
    program, headers = scene.desk.stranger(), scene.desk.token(role, scope)
    wrong = []
    for method, rule in routes(scene.desk.app, "/api"):
        answer = program.open(path(scene, rule), method=method, headers=headers, json={} if method == "POST" else None)
        may = asked(scene.desk.app, rule) in GRANTS[role] & OF_SCOPE[scope]
        if (answer.status_code == 403) is may or answer.status_code >= 500:
            wrong.append((method, rule.rule, answer.status_code))
    assert wrong == []


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer x", "Basic YTpi", "Bearer intake_" + "a" * 43, "Bearer a\tb", "Bearer ñ"]
)
def test_no_route_of_the_api_answers_a_stranger(scene: Scene, header: str) -> None:
    for method, rule in routes(scene.desk.app, "/api"):
        answer = scene.desk.stranger().open(path(scene, rule), method=method, headers={"Authorization": header})
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_cookie_is_no_token(scene: Scene) -> None:
    assert scene.desk.person("admin").get("/api/v1/events").status_code == 401


def test_a_token_is_no_cookie(scene: Scene) -> None:
    answer = scene.desk.stranger().get("/console/inbox/all", headers=scene.desk.token("admin"))
    assert answer.status_code == 302


@pytest.mark.parametrize("forwarded", [False, True])
def test_metrics_are_open_to_this_host_alone(scene: Scene, forwarded: bool) -> None:
    headers = {"X-Forwarded-For": "203.0.113.7"} if forwarded else {}
    answer = scene.desk.stranger().get("/metrics", headers=headers)
    assert answer.status_code == (401 if forwarded else 200)
    assert (b'intake_open_items{kind="conflict"} ' in answer.data) is not forwarded


def test_a_scraper_elsewhere_needs_a_token(scene: Scene) -> None:
    headers = scene.desk.token("viewer", "read") | {"X-Forwarded-For": "203.0.113.7"}
    assert scene.desk.stranger().get("/metrics", headers=headers).status_code == 200


# --- items ------------------------------------------------------------------------------------------------------------


def test_an_operator_sees_to_an_incident_and_accepts_no_other_content(scene: Scene) -> None:
    with scene.lab.pool.connection() as conn:
        (row,) = conn.execute(
            "INSERT INTO items (kind, reason, mode, source, event_id)"
            " VALUES ('incident', 'task_several', 'live', 'web', %(event_id)s) RETURNING item_id",
            {"event_id": scene.day.confirmed},
        ).fetchall()
    operator = scene.desk.person("operator")
    taken = operator.post(f"/console/items/{row[0]}/resolve", deed="resolve accept", reason="seen to")
    refused = operator.post(f"/console/items/{scene.day.conflict_item}/resolve", deed="resolve accept", reason="x")
    assert (taken.status_code, refused.status_code) == (303, 403)
