"""The API: the contract's names, problems that programs can read, and decisions that are made once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from uuid import UUID

import pytest
from werkzeug.test import TestResponse

from intake.api import openapi
from intake.api.gate import PER_MINUTE
from intake.api.problems import CODES
from intake.desk import searching
from intake.desk.serving import create
from intake.desk.tools import Tools
from intake.rates import Rates
from tests.desk_lab import QUICK
from tests.integration.desk.conftest import Scene

FIELDS: Final = [
    "event_id", "mode", "source", "kind", "request_id", "version", "need", "state", "reason", "received_at", "due_at",
    "attempts", "contact_id", "opportunity_id", "task_id", "note_id", "contact_ref", "opportunity_ref", "task_ref",
    "note_ref", "open_item",
]  # fmt: skip
REFERENCE: Final = "#/components/schemas/"


def get(scene: Scene, path: str) -> TestResponse:
    return scene.desk.stranger().get(f"/api/v1{path}", headers=scene.desk.token("admin"))


def post(scene: Scene, path: str, **body: object) -> TestResponse:
    return scene.desk.stranger().post(f"/api/v1{path}", headers=scene.desk.token("admin"), json=body)


def confirmed(scene: Scene) -> UUID:
    """An event of the test's own."""
    number = next(scene.lab.counter)
    event_id = scene.lab.form(email=f"api{number}@example.com", phone="", name="Eva Programada")
    scene.lab.work()
    return event_id


# --- reading ----------------------------------------------------------------------------------------------------------


def test_the_names_of_an_events_fields_are_the_contracts(scene: Scene) -> None:
    document = get(scene, "/events").get_json()
    assert all(list(each) == FIELDS for each in document["events"])


def test_an_event_is_told_with_its_attempts_and_what_may_be_done(scene: Scene) -> None:
    told = get(scene, f"/events/{scene.day.uncertain}").get_json()
    assert set(FIELDS) | {"history", "decisions", "safe_actions"} <= told.keys()
    wanted = {"record", "kind", "prepared_at", "sent_at", "answered_at", "confirmed_at", "outcome", "evidence"}
    assert wanted <= told["attempts"][0].keys()
    assert {each["action"]: each["allowed"] for each in told["safe_actions"]}["look"] is True


def test_each_page_follows_the_one_before(scene: Scene) -> None:
    first = get(scene, "/events?limit=2").get_json()
    second = get(scene, f"/events?limit=2&cursor={first['next_cursor']}").get_json()
    ids = [each["event_id"] for page in (first, second) for each in page["events"]]
    assert len(set(ids)) == 4


def found(scene: Scene, query: str) -> set[str]:
    return {each["event_id"] for each in get(scene, f"/events?{query}&limit=1000").get_json()["events"]}


def test_events_are_listed_by_where_they_go(scene: Scene) -> None:
    assert str(scene.day.confirmed) in found(scene, "destination=crm")
    assert found(scene, "destination=nowhere") == set()


def test_events_are_listed_by_whose_they_are(scene: Scene) -> None:
    event_id = str(scene.day.uncertain)
    assert event_id in found(scene, "assignee=-")
    item = get(scene, f"/events/{event_id}").get_json()["open_item"]
    post(scene, f"/items/{item}/assign", reason="mío")
    assert event_id in found(scene, "assignee=me") & found(scene, "assignee=admin")
    assert event_id not in found(scene, "assignee=-")


def test_an_event_is_found_by_the_whole_address_of_its_person(scene: Scene) -> None:
    address = f"api{next(scene.lab.counter)}@example.com"
    event_id = scene.lab.form(email=address, phone="", name="Eva Buscada")
    scene.lab.work()
    assert found(scene, f"q={address}") == {str(event_id)}
    assert found(scene, f"q={address}&state=review") == set()


def test_an_event_is_found_by_a_part_of_its_reference_among_what_the_filters_leave(scene: Scene) -> None:
    event_id = confirmed(scene)
    stem = get(scene, f"/events/{event_id}").get_json()["need"][3:-3]
    assert str(event_id) in found(scene, f"q={stem}&state=confirmed")
    assert str(event_id) not in found(scene, f"q={stem}&state=review")


def test_a_search_that_finds_nothing_lists_nothing(scene: Scene) -> None:
    assert found(scene, "q=nadie-se-llama-asi") == set()


def test_who_searches_too_often_is_told_to_wait(scene: Scene) -> None:
    impatient = Rates(lambda: 0.0)
    app = create(Tools(scene.lab.settings, scene.lab.pool, lambda: None, QUICK, impatient))
    headers = scene.desk.token("admin")
    answers = [
        app.test_client().get("/api/v1/events?q=nadie", headers=headers) for _ in range(searching.PER_MINUTE + 1)
    ]
    assert [each.status_code for each in answers[-2:]] == [200, 429]
    assert int(answers[-1].headers["Retry-After"]) > 0


def test_every_item_tells_what_may_be_done(scene: Scene) -> None:
    items = get(scene, "/items").get_json()["items"]
    assert {each["kind"] for each in items} >= {"delivery", "conflict", "quarantine"}
    assert all(any(action["allowed"] for action in each["safe_actions"]) for each in items)


def test_each_page_of_items_follows_the_one_before(scene: Scene) -> None:
    whole = [each["item_id"] for each in get(scene, "/items?limit=200").get_json()["items"]]
    found: list[int] = []
    cursor = ""
    while True:
        page = get(scene, f"/items?limit=2{cursor}").get_json()
        found += [each["item_id"] for each in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert found == whole


def test_what_the_crm_holds_is_read_on_demand(scene: Scene) -> None:
    event_id = confirmed(scene)
    before = get(scene, f"/events/{event_id}/crm").get_json()
    asked = post(scene, f"/events/{event_id}/crm").get_json()
    scene.lab.work()
    after = get(scene, f"/events/{event_id}/crm").get_json()
    assert [each["outcome"] for each in before["records"]] == [None] * 3
    assert asked["reading"] is True
    assert after["reading"] is False
    assert {each["record"]: each["outcome"] for each in after["records"]} == dict.fromkeys(
        ("contact", "opportunity", "task"), "live"
    )
    assert all(each["found_reference"] == each["reference"] for each in after["records"])


def test_nothing_but_data_names_a_person(scene: Scene) -> None:
    paths = ("/events", f"/events/{scene.day.confirmed}", f"/events/{scene.day.confirmed}/explain", "/items")
    told = "".join(get(scene, path).get_data(as_text=True) for path in paths)
    assert "carmen@example.com" not in told
    data = get(scene, f"/events/{scene.day.confirmed}/data")
    assert "carmen@example.com" in data.get_data(as_text=True)
    assert scene.lab.rows("SELECT 1 AS n FROM access_log WHERE via = 'api' AND operator = 'admin'")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/events?limit=0", 422, "invalid"),
        ("/events?state=nowhere", 422, "invalid"),
        ("/events?since=yesterday", 422, "invalid"),
        ("/events?stat=review", 422, "invalid"),
        ("/events?cursor=x", 400, "bad_cursor"),
        ("/items?cursor=x", 400, "bad_cursor"),
        ("/events?source=%00", 400, "bad_request"),
        ("/bulk/count?reason_word=%00", 400, "bad_request"),
        ("/items?cursor=MjAyNi0wMS0wMSAx", 400, "bad_cursor"),
        ("/items?cursor=MjAyNi0wMS0wMVQwMDowMDowMCswMDowMCAxZQ==", 400, "bad_cursor"),
        ("/events/00000000-0000-0000-0000-000000000000", 404, "not_found"),
        ("/events/nothing", 404, "not_found"),
        ("/items/999999999", 404, "not_found"),
        ("/items/99999999999999999999999", 404, "not_found"),
        ("/nothing", 404, "not_found"),
    ],
)
def test_what_cannot_be_read_is_a_problem(scene: Scene, path: str, status: int, code: str) -> None:
    answer = get(scene, path)
    assert answer.content_type == "application/problem+json"
    document = answer.get_json()
    assert (answer.status_code, document["status"], document["code"]) == (status, status, code)
    assert document["type"] == f"/api/#{code}"


# --- deciding ---------------------------------------------------------------------------------------------------------


def test_a_decision_bears_the_name_of_the_tokens_operator(scene: Scene) -> None:
    event_id = confirmed(scene)
    assert post(scene, f"/events/{event_id}/reissue", reason="wants another").status_code == 200
    (made,) = get(scene, f"/events/{event_id}").get_json()["decisions"]
    assert (made["author"], made["action"], made["reason"]) == ("admin", "reissue", "wants another")


def test_what_an_event_does_not_allow_is_told_in_a_stable_word(scene: Scene) -> None:
    answer = post(scene, f"/events/{scene.day.confirmed}/cancel", reason="x")
    assert answer.status_code == 409
    assert answer.get_json().items() >= {"code": "not_allowed", "reason": "not_open", "state": "confirmed"}.items()


def test_a_decision_with_a_key_is_made_once(scene: Scene) -> None:
    event_id = confirmed(scene)
    headers = scene.desk.token("admin") | {"Idempotency-Key": '"k-1"'}
    first, again = (
        scene.desk.stranger().post(f"/api/v1/events/{event_id}/reissue", headers=headers, json={"reason": "once"})
        for _ in range(2)
    )
    assert first.get_json() == again.get_json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(get(scene, f"/events/{event_id}").get_json()["reissues"]) == 1


def test_a_key_is_of_one_request(scene: Scene) -> None:
    event_id = confirmed(scene)
    headers = scene.desk.token("admin") | {"Idempotency-Key": "k-2"}
    url = f"/api/v1/events/{event_id}/reissue"
    scene.desk.stranger().post(url, headers=headers, json={"reason": "once"})
    answer = scene.desk.stranger().post(url, headers=headers, json={"reason": "other"})
    assert (answer.status_code, answer.get_json()["code"]) == (422, "key_reused")


def test_a_key_whose_request_is_on_its_way_is_refused(scene: Scene) -> None:
    event_id = confirmed(scene)
    headers = scene.desk.token("admin") | {"Idempotency-Key": "k-3"}
    url = f"/api/v1/events/{event_id}/reissue"
    scene.desk.stranger().post(url, headers=headers, json={"reason": "once"})
    with scene.lab.pool.connection() as conn:  # As if its process were still at it.
        conn.execute("UPDATE api_calls SET status = NULL, answer = NULL WHERE key = 'k-3'")
    answer = scene.desk.stranger().post(url, headers=headers, json={"reason": "once"})
    assert (answer.status_code, answer.get_json()["code"]) == (409, "in_progress")


def test_a_refused_decision_leaves_its_key_free(scene: Scene) -> None:
    headers = scene.desk.token("admin") | {"Idempotency-Key": "k-4"}
    url = f"/api/v1/events/{scene.day.confirmed}/cancel"
    told = [scene.desk.stranger().post(url, headers=headers, json={"reason": "x"}).status_code for _ in range(2)]
    assert told == [409, 409]


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("cancel", {}),
        ("cancel", {"reason": ""}),
        ("cancel", {"reason": "   "}),
        ("cancel", {"reason": "x" * 1001}),
        ("cancel", {"reason": "x", "more": 1}),
        ("settle", {"reason": "x", "outcome": "applied"}),
        ("settle", {"reason": "x", "outcome": "cancel", "crm_id": "c-1"}),
        ("settle", {"reason": "x", "outcome": "perhaps"}),
        ("correct", {"reason": "x", "fields": {}}),
        ("correct", {"reason": "x", "fields": {"nothing": "y"}}),
        ("correct", {"reason": "x", "fields": {"name": 7}}),
        ("cancel", {"reason": "a\x00b"}),
        ("cancel", {"reason": "a\ud800b"}),
    ],
)
def test_a_body_that_breaks_a_rule_decides_nothing(scene: Scene, action: str, body: dict[str, object]) -> None:
    before = scene.lab.rows("SELECT count(*) AS n FROM decisions")
    answer = post(scene, f"/events/{scene.day.review}/{action}", **body)
    assert answer.status_code in {400, 422}
    assert answer.content_type == "application/problem+json"
    assert scene.lab.rows("SELECT count(*) AS n FROM decisions") == before


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"7", b"{", b"[" * 100_000, b'{"reason": 1e999}', b"\xff"])
def test_a_body_that_is_no_object_is_a_problem_and_no_bug(scene: Scene, body: bytes) -> None:
    headers = scene.desk.token("admin") | {"Content-Type": "application/json"}
    answer = scene.desk.stranger().post(f"/api/v1/events/{scene.day.review}/cancel", headers=headers, data=body)
    assert answer.status_code in {400, 422}


def test_a_correction_that_breaks_a_rule_says_which(scene: Scene) -> None:
    answer = post(scene, f"/events/{scene.day.review}/correct", reason="typo", fields={"email": "no", "phone": "x"})
    assert answer.status_code == 422
    assert answer.get_json()["fields"].keys() == {"email", "phone"}


def test_a_source_is_paused_and_resumed(scene: Scene) -> None:
    told = [post(scene, f"/sources/quotes/{deed}", reason="x").get_json() for deed in ("pause", "resume", "resume")]
    assert [(each["paused"], each["changed"]) for each in told] == [(True, True), (False, True), (False, False)]


def test_an_item_is_given_to_operators_only(scene: Scene) -> None:
    path = f"/items/{scene.day.quarantine_item}/assign"
    assert post(scene, path, reason="x", assignee="nobody").status_code == 422
    assert post(scene, path, reason="x", assignee="approver").status_code == 200
    assert get(scene, f"/items/{scene.day.quarantine_item}").get_json()["assignee"] == "approver"


def test_a_token_that_asks_too_often_is_told_when_to_come_again(scene: Scene) -> None:
    tools = Tools(scene.lab.settings, scene.lab.pool, lambda: None, QUICK, Rates(lambda: 0.0))
    headers, program = scene.desk.token("viewer", "read"), create(tools).test_client()
    told = [program.get("/api/v1/items?kind=incident", headers=headers) for _ in range(PER_MINUTE + 1)]
    assert {each.status_code for each in told[:-1]} == {200}
    assert (told[-1].status_code, int(told[-1].headers["Retry-After"]) >= 1) == (429, True)


# --- its description --------------------------------------------------------------------------------------------------


def references(document: object) -> Iterator[str]:
    """Every reference of a document."""
    match document:
        case dict():
            for name, value in document.items():
                if name == "$ref":
                    yield str(value)
                else:
                    yield from references(value)
        case list():
            for value in document:
                yield from references(value)


def test_openapi_describes_every_route(scene: Scene) -> None:
    document = scene.desk.stranger().get("/api/openapi.json").get_json()
    assert document["openapi"] == "3.1.0"
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    served = {
        (method, re.sub(r"<(?:[^:>]+:)?(\w+)>", r"{\1}", rule.rule))
        for rule in scene.desk.app.url_map.iter_rules()
        if rule.rule.startswith("/api/v1")
        for method in (rule.methods or set()) & {"GET", "POST"}
    }
    assert described == served


def test_openapi_refers_to_what_it_holds(scene: Scene) -> None:
    document = scene.desk.stranger().get("/api/openapi.json").get_json()
    held = {REFERENCE + name for name in document["components"]["schemas"]}
    assert set(references(document)) <= held
    names = [each["operationId"] for methods in document["paths"].values() for each in methods.values()]
    assert len(names) == len(set(names))


def test_answers_are_as_openapi_says(scene: Scene) -> None:
    schemas = scene.desk.stranger().get("/api/openapi.json").get_json()["components"]["schemas"]
    for path, name in (
        (f"/events/{scene.day.uncertain}", "WholeEvent"),
        (f"/events/{scene.day.uncertain}/explain", "Explanation"),
        (f"/items/{scene.day.conflict_item}", "Item"),
        ("/items", "Items"),
        (f"/events/{scene.day.confirmed}/crm", "InCrm"),
        ("/causes", "Causes"),
        ("/bulk", "Runs"),
        (f"/bulk/{scene.day.run}", "WholeRun"),
        ("/bulk/count?state=review", "Count"),
        ("/nothing", "Problem"),
    ):
        told = get(scene, path).get_json()
        assert told.keys() <= schemas[name]["properties"].keys(), name
        assert set(schemas[name]["required"]) <= told.keys(), name


def test_the_reference_page_names_every_route_and_problem(scene: Scene) -> None:
    page = scene.desk.stranger().get("/api/").get_data(as_text=True)
    assert all(openapi.path_of(route) in page for route in openapi.ROUTES)
    assert all(f'id="{code}"' in page for code in CODES)
