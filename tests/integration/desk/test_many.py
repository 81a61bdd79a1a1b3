"""One decision about many events, by console and API: counted first, for that number alone, with a result for each."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import urlencode
from uuid import UUID

import pytest
from werkzeug.test import TestResponse

from intake import bulk
from intake.console.wording import STATIC
from intake.decided import Author
from intake.desk import inbox, many
from intake.desk.roles import Role
from tests.integration.desk.conftest import Scene
from tests.lab import Lab


class Since:
    """What came from now on, so that a test meets its own events alone."""

    def __init__(self, lab: Lab) -> None:
        lab.work()
        (row,) = lab.rows("SELECT clock_timestamp() AS now")
        now = row["now"]
        assert isinstance(now, datetime)
        self.moment = now.astimezone(UTC).isoformat()


def in_review(lab: Lab, count: int) -> list[UUID]:
    lab.dials.fault("422", match={"what": "create", "kind": "contact"}, times=count)
    events = [lab.form(email=f"many{next(lab.counter)}@example.com", phone="") for _ in range(count)]
    lab.work()
    assert {lab.state(each) for each in events} == {"review"}
    return events


def api(scene: Scene, path: str, body: dict[str, object] | None = None, role: Role = "admin") -> TestResponse:
    headers = scene.desk.token(role)
    if body is None:
        return scene.desk.stranger().get(f"/api/v1{path}", headers=headers)
    return scene.desk.stranger().post(f"/api/v1{path}", headers=headers, json=body)


def decided(scene: Scene, since: Since, action: str, expected: int, **more: object) -> TestResponse:
    body: dict[str, object] = {
        "action": action, "expected": expected, "state": "review", "since": since.moment, "reason": "CRM mended",
    }  # fmt: skip
    return api(scene, "/bulk", body | more)


# --- the API ----------------------------------------------------------------------------------------------------------


def test_what_matches_is_counted_and_judged_before(scene: Scene) -> None:
    since = Since(scene.lab)
    in_review(scene.lab, 2)
    counted = api(scene, f"/bulk/count?{urlencode({'state': 'review', 'since': since.moment})}").get_json()
    assert counted["events"] == 2
    judged = {each["action"]: (each["allowed"], each["events"]) for each in counted["safe_actions"]}
    assert judged["revive"] == (True, 2)
    assert judged["approve"] == (False, 0)


def test_each_event_has_its_own_result_and_decision(scene: Scene) -> None:
    since = Since(scene.lab)
    events = in_review(scene.lab, 3)
    run = decided(scene, since, "revive", 3).get_json()
    scene.lab.work()
    whole = api(scene, f"/bulk/{run['bulk_id']}").get_json()
    assert {each["event_id"]: each["result"] for each in whole["results"]} == dict.fromkeys(map(str, events), "done")
    assert {scene.lab.state(each) for each in events} == {"confirmed"}
    (made,) = api(scene, f"/events/{events[0]}").get_json()["decisions"]
    assert (made["author"], made["action"], made["reason"]) == ("admin", "revive", "CRM mended")


def test_another_number_than_was_counted_begins_nothing(scene: Scene) -> None:
    since = Since(scene.lab)
    events = in_review(scene.lab, 2)
    before = scene.lab.rows("SELECT count(*) AS n FROM bulk_runs")
    answer = decided(scene, since, "cancel", 1)
    assert (answer.status_code, answer.get_json()["code"], answer.get_json()["events"]) == (409, "other_number", 2)
    assert scene.lab.rows("SELECT count(*) AS n FROM bulk_runs") == before
    assert {scene.lab.state(each) for each in events} == {"review"}


def test_a_decision_about_many_with_a_key_is_begun_once(scene: Scene) -> None:
    since = Since(scene.lab)
    in_review(scene.lab, 1)
    headers = scene.desk.token("admin") | {"Idempotency-Key": "many-1"}
    body = {"action": "cancel", "expected": 1, "state": "review", "since": since.moment, "reason": "x"}
    first, again = (scene.desk.stranger().post("/api/v1/bulk", headers=headers, json=body) for _ in range(2))
    assert first.get_json() == again.get_json()
    assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    "body",
    [
        {"action": "cancel", "expected": 1, "reason": "x"},
        {"action": "cancel", "state": "review", "reason": "x"},
        {"action": "settle", "expected": 1, "state": "review", "reason": "x"},
        {"action": "cancel", "expected": 1, "state": "review", "reason": "  "},
        {"action": "cancel", "expected": 0, "state": "review", "reason": "x"},
    ],
)
def test_a_wish_that_breaks_a_rule_begins_nothing(scene: Scene, body: dict[str, object]) -> None:
    assert api(scene, "/bulk", body).status_code == 422


def test_an_operator_may_not_approve_many(scene: Scene) -> None:
    body: dict[str, object] = {"action": "approve", "expected": 1, "state": "awaiting_approval", "reason": "x"}
    assert api(scene, "/bulk", body, "operator").status_code == 403
    assert api(scene, "/bulk", body, "approver").status_code != 403


def test_a_run_is_stopped_and_goes_on(scene: Scene) -> None:
    since = Since(scene.lab)
    events = in_review(scene.lab, 2)
    with scene.lab.pool.connection() as conn:
        wanted = bulk.Filter(state="review", since=datetime.fromisoformat(since.moment))
        begun = bulk.begin(conn, Author("admin", "x"), "cancel", wanted)
        bulk.step(conn, scene.lab.settings, bulk_id=begun)
    stopped = api(scene, f"/bulk/{begun}/stop", {}).get_json()
    scene.lab.work()
    assert (stopped["left"], sorted(map(scene.lab.state, events))) == (1, ["cancelled", "review"])
    assert api(scene, f"/bulk/{begun}/go", {}).get_json()["left"] == 0
    assert {scene.lab.state(each) for each in events} == {"cancelled"}


def test_results_come_in_pages(scene: Scene) -> None:
    since = Since(scene.lab)
    events = in_review(scene.lab, 3)
    run = decided(scene, since, "cancel", 3).get_json()
    first = api(scene, f"/bulk/{run['bulk_id']}?limit=2").get_json()
    second = api(scene, f"/bulk/{run['bulk_id']}?limit=2&cursor={first['next_cursor']}").get_json()
    found = [each["event_id"] for page in (first, second) for each in page["results"]]
    assert (sorted(found), second["next_cursor"]) == (sorted(map(str, events)), None)


def test_a_run_of_nobody_is_not_found(scene: Scene) -> None:
    told = [api(scene, "/bulk/999999"), api(scene, "/bulk/999999/stop", {}), api(scene, "/bulk/999999/go", {})]
    assert [each.status_code for each in told] == [404, 404, 404]


# --- the console ------------------------------------------------------------------------------------------------------


def new(since: Since, action: str) -> str:
    return "/console/many/new?" + urlencode({"action": action, "state": "review", "since": since.moment})


def hidden(page: str) -> dict[str, str]:
    """What the form of a page sends beside the reason."""
    form = page[page.index('class="card fields"') :]
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))


def test_the_consequence_is_told_in_numbers_and_nothing_is_decided(scene: Scene) -> None:
    since = Since(scene.lab)
    events = in_review(scene.lab, 2)
    page = scene.desk.person("operator").page(new(since, "cancel"))
    assert "Eventos: 2 de 2" in page
    assert "No se puede deshacer" in page
    assert hidden(page)["expected"] == "2"
    assert {scene.lab.state(each) for each in events} == {"review"}


def test_many_are_decided_in_the_console_with_a_result_for_each(scene: Scene) -> None:
    since = Since(scene.lab)
    events = in_review(scene.lab, 2)
    operator = scene.desk.person("operator")
    form = hidden(operator.page(new(since, "cancel"))) | {"reason": "ya no quieren"}
    answer = operator.client.post("/console/many/new", data=form)
    assert answer.status_code == 303
    page = operator.page(answer.headers["Location"])
    assert {scene.lab.state(each) for each in events} == {"cancelled"}
    assert all(f"/console/events/{each}" in page for each in events)
    assert "ya no quieren" in page
    assert "Terminó." in page


def test_the_console_decides_nothing_about_others_than_were_seen(scene: Scene) -> None:
    since = Since(scene.lab)
    first = in_review(scene.lab, 1)
    operator = scene.desk.person("operator")
    form = hidden(operator.page(new(since, "cancel"))) | {"reason": "x"}
    second = in_review(scene.lab, 1)
    answer = operator.client.post("/console/many/new", data=form)
    assert answer.status_code == 409
    assert "son 2 y no 1" in answer.get_data(as_text=True)
    assert {scene.lab.state(each) for each in (*first, *second)} == {"review"}


@pytest.mark.parametrize("missing", ["reason", "expected", "seen", "action"])
def test_the_console_decides_about_many_only_what_is_whole(scene: Scene, missing: str) -> None:
    since = Since(scene.lab)
    (event,) = in_review(scene.lab, 1)
    form = {"action": "cancel", "state": "review", "since": since.moment, "expected": "1", "seen": "s", "reason": "x"}
    del form[missing]
    assert scene.desk.person("admin").post("/console/many/new", **form).status_code == 422
    assert scene.lab.state(event) == "review"


@pytest.mark.parametrize("filters", ["state=nowhere", "since=yesterday"])
def test_a_filter_that_cannot_be_read_is_refused(scene: Scene, filters: str) -> None:
    answer = scene.desk.person("admin").get(f"/console/many/new?action=cancel&source=web&{filters}")
    assert answer.status_code == 400


def test_an_operator_does_not_approve_many_in_the_console(scene: Scene) -> None:
    operator = scene.desk.person("operator")
    assert operator.get("/console/many/new?action=approve&state=awaiting_approval").status_code == 403
    form = {"action": "approve", "state": "awaiting_approval", "expected": "1", "reason": "x"}
    assert operator.post("/console/many/new", **form).status_code == 403


def test_a_full_page_is_small(scene: Scene) -> None:
    since = Since(scene.lab)
    in_review(scene.lab, inbox.PAGE + 1)
    run = decided(scene, since, "look", inbox.PAGE + 1).get_json()["bulk_id"]
    beside = sum((STATIC / name).stat().st_size for name in ("desk.css", "desk.js", "icon.svg", "inter.woff2"))
    pages = ("/console/inbox/decide", "/console/inbox/all", "/console/inbox/all?q=example.com", f"/console/many/{run}")
    sizes = {page: len(scene.desk.person("admin").page(page).encode()) + beside for page in pages}
    decided(scene, since, "cancel", inbox.PAGE + 1)  # Other tests meet a desk as it was.
    assert {page: size for page, size in sizes.items() if size > 100 * 1024} == {}


def test_what_shares_a_cause_stands_together_with_one_action(scene: Scene) -> None:
    in_review(scene.lab, 2)
    page = scene.desk.person("operator").page("/console/inbox/decide")
    with scene.lab.pool.connection() as conn:
        cause = next(each for each in many.causes(conn) if each.state == "review")
    link = f"/console/many/new?action=revive&amp;state=review&amp;cause={cause.reason}"
    assert link in page
    assert f"{cause.events} por lo mismo" in page
    told = api(scene, "/causes").get_json()["causes"]
    assert {"cause": cause.reason, "events": cause.events, "action": "revive"}.items() <= next(
        each for each in told if each["cause"] == cause.reason
    ).items()


def test_a_paused_account_stands_above_with_what_waits_for_it(scene: Scene) -> None:
    with scene.lab.pool.connection() as conn:
        (row,) = conn.execute("SELECT destination FROM deliveries LIMIT 1").fetchall()
        given = {"destination": row[0]}
        conn.execute("INSERT INTO accounts (destination) VALUES (%(destination)s) ON CONFLICT DO NOTHING", given)
        with conn.transaction(force_rollback=True):
            conn.execute(
                "UPDATE accounts SET paused_at = clock_timestamp(), paused_reason = 'credential',"
                " control_at = clock_timestamp()"
                " WHERE destination = %(destination)s", given,
            )  # fmt: skip
            (held,) = many.held(conn)
    assert (held.destination, held.events > 0) == (row[0], True)
