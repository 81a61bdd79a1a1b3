"""What the sandbox CRM takes and answers, without faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from crm_clients.sandbox.dials import Dials
from crm_clients.sandbox.profiles import PROFILES
from crm_clients.sandbox.server import Running, running
from tests.integration.sandbox_calls import Caller, Json, loaded


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running() as sandbox:
        yield sandbox


@pytest.fixture
def dials(server: Running) -> Dials:
    dials = Dials(server.url)
    dials.reset()
    dials.profile("stored")
    dials.set_clock(0)
    return dials


@pytest.fixture
def crm(server: Running, dials: Dials) -> Caller:  # noqa: ARG001 - the dials begin anew
    return Caller(server.url)


def test_a_contact_is_shown_as_it_was_sent(crm: Caller) -> None:
    sent: Json = {
        "reference": "c-1",
        "name": "Eva",
        "phone": "+51999000111",
        "email": "eva@example.com",
        "text": "hola",
    }
    sent |= {"company": "Ejemplo SAC", "owner_id": "ana", "fields": {"ruc": "20000000001"}}
    made = crm.create("contacts", **sent)
    assert loaded(crm.call("GET", f"contacts/{made['id']}")) == made
    assert made == sent | {"id": made["id"], "live": True, "merged_into": None}


def test_an_opportunity_its_task_and_its_note_are_taken(crm: Caller) -> None:
    opportunity = crm.opportunity("o-1", amount="10", currency="PEN", pipeline="ventas", stage="nuevo", text="x")
    due = "2026-03-02T10:00:00-05:00"
    task = crm.create("tasks", title="Llamar", opportunity_id=opportunity, due_at=due, type="call", reference="t-1")
    note = crm.create("notes", text="Otra cosa", opportunity_id=opportunity, reference="n-1")
    assert [one["id"] for one in crm.find("tasks", f"opportunity_id={opportunity}")] == [task["id"]]
    assert [one["id"] for one in crm.find("notes", f"opportunity_id={opportunity}")] == [note["id"]]


def test_amounts_are_written_back_with_two_places(crm: Caller) -> None:
    opportunity = crm.opportunity("o-1", amount="1200.5")
    assert loaded(crm.call("GET", f"opportunities/{opportunity}"))["amount"] == "1200.50"


@pytest.mark.parametrize("authorization", ["", "Bearer wrong", "Bearer sandboxx", "sandbox", "Bearer ñ"])
def test_nothing_is_done_without_the_token(crm: Caller, dials: Dials, authorization: str) -> None:
    headers = {"Authorization": authorization.encode().decode("latin-1")}
    answer = crm.call("POST", "contacts", {"name": "Eva"}, headers=headers)
    assert (answer.status_code, dials.records()) == (401, [])


@pytest.mark.parametrize(
    ("plural", "body", "field"),
    [
        ("contacts", {}, "name"),
        ("contacts", {"name": ""}, "name"),
        ("contacts", {"name": "Eva", "email": "eva"}, "email"),
        ("contacts", {"name": "Eva", "phone": "llámame"}, "phone"),
        ("contacts", {"name": "Eva", "owner_id": "pedro"}, "owner_id"),
        ("contacts", {"name": "Eva", "colour": "red"}, "colour"),
        ("contacts", {"name": "Eva", "reference": "con espacio"}, "reference"),
        ("contacts", {"name": "Eva\x00"}, "name"),
        ("contacts", {"name": "Eva \ud800"}, "name"),
        ("contacts", {"name": ["Eva"]}, "name"),
        ("contacts", {"name": "Eva", "fields": {"ruc": 5}}, "fields"),
        ("contacts", ["Eva"], "_"),
        ("opportunities", {"title": "x"}, "contact_id"),
        ("opportunities", {"title": "x", "contact_id": "con-0"}, "contact_id"),
        ("opportunities", {"title": "x", "contact_id": "con-0", "amount": "mil"}, "amount"),
        ("opportunities", {"title": "x", "contact_id": "con-0", "amount": 1200.5}, "amount"),
        ("opportunities", {"title": "x", "contact_id": "con-0", "currency": "soles"}, "currency"),
        ("tasks", {"title": "x", "opportunity_id": "opp-0"}, "opportunity_id"),
        ("tasks", {"title": "x", "opportunity_id": "opp-0", "due_at": "2026-03-02T10:00:00"}, "due_at"),
        ("notes", {"opportunity_id": "opp-0"}, "text"),
    ],
)
def test_a_broken_rule_is_named_and_nothing_is_stored(
    crm: Caller, dials: Dials, plural: str, body: object, field: str
) -> None:
    answer = crm.call("POST", plural, body)
    assert answer.status_code == 422
    assert field in str(loaded(answer)["fields"])
    assert dials.ledger() == []


def test_refusals_never_repeat_what_was_sent(crm: Caller) -> None:
    assert "secreto" not in crm.call("POST", "contacts", {"name": "x", "email": "secreto", "phone": "secreto"}).text


@pytest.mark.parametrize("query", ["", "?reference=", "?colour=red", "?reference=a&colour=red", "?contact_id=con-1"])
def test_a_search_never_gives_all_records(crm: Caller, query: str) -> None:
    crm.contact("c-1")
    assert crm.call("GET", f"contacts{query}").status_code == 400


def test_a_search_compares_the_whole_reference(crm: Caller) -> None:
    crm.contact("c-1")
    assert crm.find("contacts", "reference=c-") == []


def test_contacts_are_found_by_phone_and_by_email_in_any_case(crm: Caller) -> None:
    made = crm.create("contacts", name="Eva", phone="+51999000111", email="eva@example.com")
    assert crm.find("contacts", "phone=%2B51999000111") == crm.find("contacts", "email=EVA@example.com") == [made]


def test_an_update_touches_only_what_was_sent(crm: Caller) -> None:
    opportunity = crm.opportunity("o-1", owner_id="ana", amount="5")
    changed = loaded(crm.call("PATCH", f"opportunities/{opportunity}", {"title": "Nuevo"}))
    assert (changed["title"], changed["owner_id"], changed["amount"]) == ("Nuevo", "ana", "5.00")


def test_a_reference_is_never_changed(crm: Caller) -> None:
    assert crm.call("PATCH", f"contacts/{crm.contact('c-1')}", {"reference": "c-2"}).status_code == 422


def test_what_is_in_the_trash_is_shown_so_and_not_changed(crm: Caller) -> None:
    contact = crm.contact("c-1")
    crm.call("DELETE", f"contacts/{contact}")
    assert loaded(crm.call("GET", f"contacts/{contact}"))["live"] is False
    assert crm.find("contacts", "reference=c-1")[0]["live"] is False
    assert crm.call("PATCH", f"contacts/{contact}", {"name": "Ana"}).status_code == 404


def test_a_merged_contact_leaves_its_opportunities_to_the_other(crm: Caller) -> None:
    kept = crm.contact("c-2")
    opportunity = crm.opportunity("o-1")
    gone = str(loaded(crm.call("GET", f"opportunities/{opportunity}"))["contact_id"])
    merged = loaded(crm.call("POST", f"contacts/{gone}/merge", {"into": kept}))
    assert (merged["live"], merged["merged_into"]) == (False, kept)
    assert loaded(crm.call("GET", f"opportunities/{opportunity}"))["contact_id"] == kept


@pytest.mark.parametrize("into", ["con-0", ""])
def test_a_contact_is_merged_only_into_another_that_lives(crm: Caller, into: str) -> None:
    contact = crm.contact("c-1")
    assert crm.call("POST", f"contacts/{contact}/merge", {"into": into or contact}).status_code == 422


def test_an_unknown_id_is_not_found_and_a_wrong_path_is_something_else(crm: Caller) -> None:
    assert loaded(crm.call("GET", "contacts/con-0"))["error"] == "not_found"
    assert loaded(crm.call("GET", "api/contacts/con-0"))["error"] == "no_such_path"


def test_the_control_call_tells_profile_limit_and_lag(crm: Caller, dials: Dials) -> None:
    dials.profile("lagging", lag=7, limit=3)
    told = loaded(crm.call("GET", "me"))
    assert told == {"ok": True, "profile": "lagging", "limit_seconds": 3, "lag_seconds": 7}


def test_owners_have_names(crm: Caller) -> None:
    assert "Rosa" in crm.call("GET", "owners").text


# --- profiles ---


def test_an_enforced_reference_is_taken_once(crm: Caller, dials: Dials) -> None:
    dials.profile("enforced")
    first = crm.contact("c-1")
    again = crm.call("POST", "contacts", {"name": "Eva", "reference": "c-1"})
    assert again.status_code == 409
    assert loaded(again) == {"error": "duplicate", "by": "reference", "id": first}


def test_an_enforced_reference_stays_taken_in_the_trash(crm: Caller, dials: Dials) -> None:
    dials.profile("enforced")
    contact = crm.contact("c-1")
    crm.call("DELETE", f"contacts/{contact}")
    assert loaded(crm.call("POST", "contacts", {"name": "Eva", "reference": "c-1"}))["id"] == contact


@pytest.mark.parametrize(("profile", "expected"), [("enforced", 1), ("stored", 50)])
def test_fifty_creates_at_once_under_one_reference(crm: Caller, dials: Dials, profile: str, expected: int) -> None:
    dials.profile(profile)
    with ThreadPoolExecutor(50) as pool:
        codes = list(pool.map(lambda _: _status(crm), range(50)))
    assert codes.count(201) == expected == len(dials.ledger())
    assert len(crm.find("contacts", "reference=c-1")) == expected


def _status(crm: Caller) -> int:
    return crm.call("POST", "contacts", {"name": "Eva", "reference": "c-1"}).status_code


def test_a_stored_reference_may_be_doubled_and_that_is_told(crm: Caller, dials: Dials) -> None:
    ids = [crm.contact("c-1"), crm.contact("c-1")]
    assert dials.doubles() == [{"kind": "contact", "reference": "c-1", "ids": ids}]


def test_what_lags_is_read_at_once_and_found_later(crm: Caller, dials: Dials) -> None:
    dials.profile("lagging", lag=60)
    contact = crm.contact("c-1")
    assert crm.call("GET", f"contacts/{contact}").status_code == 200
    assert crm.find("contacts", "reference=c-1") == []
    dials.set_clock(61)
    assert len(crm.find("contacts", "reference=c-1")) == 1


def test_what_was_created_under_a_later_clock_is_found(crm: Caller, dials: Dials) -> None:
    dials.profile("lagging", lag=60)
    dials.set_clock(3600)
    crm.contact("c-1")
    dials.set_clock(0)
    assert len(crm.find("contacts", "reference=c-1")) == 1


def test_a_weak_profile_states_no_lag_and_has_one(crm: Caller, dials: Dials) -> None:
    dials.profile("weak", lag=60)
    crm.contact("c-1")
    assert loaded(crm.call("GET", "me"))["lag_seconds"] is None
    assert crm.find("contacts", "reference=c-1") == []


def test_a_profile_without_task_references_refuses_them_and_counts_markers(crm: Caller, dials: Dials) -> None:
    dials.profile("no_task_reference")
    opportunity = crm.opportunity("o-1")
    task = {"title": "Llamar", "opportunity_id": opportunity}
    assert crm.call("POST", "tasks", task | {"reference": "t-1"}).status_code == 422
    assert crm.call("GET", "tasks?reference=t-1").status_code == 400
    crm.create("tasks", **task, text="Hola\n[ref:t-1]")
    crm.create("tasks", **task, text="Hola\n[ref:t-1]")
    assert [double["reference"] for double in dials.doubles()] == ["t-1"]


def test_an_idempotency_key_is_honoured_in_its_profile(crm: Caller, dials: Dials) -> None:
    dials.profile("idempotency")
    key, body = {"Idempotency-Key": "k-1"}, {"name": "Eva"}
    first, again = crm.call("POST", "contacts", body, headers=key), crm.call("POST", "contacts", body, headers=key)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(dials.ledger()) == 1


def test_an_idempotency_key_of_other_content_is_refused(crm: Caller, dials: Dials) -> None:
    dials.profile("idempotency")
    key = {"Idempotency-Key": "k-1"}
    crm.call("POST", "contacts", {"name": "Eva"}, headers=key)
    assert crm.call("POST", "contacts", {"name": "Ana"}, headers=key).status_code == 422
    assert len(dials.ledger()) == 1


def test_an_idempotency_key_is_forgotten_after_a_day(crm: Caller, dials: Dials) -> None:
    dials.profile("idempotency")
    key = {"Idempotency-Key": "k-1"}
    crm.call("POST", "contacts", {"name": "Eva"}, headers=key)
    dials.set_clock(24 * 3600 + 1)
    crm.call("POST", "contacts", {"name": "Eva"}, headers=key)
    assert len(dials.ledger()) == 2


def test_an_idempotency_key_means_nothing_elsewhere(crm: Caller, dials: Dials) -> None:
    key = {"Idempotency-Key": "k-1"}
    crm.call("POST", "contacts", {"name": "Eva"}, headers=key)
    crm.call("POST", "contacts", {"name": "Eva"}, headers=key)
    assert len(dials.ledger()) == 2


def test_an_email_may_be_unique(crm: Caller, dials: Dials) -> None:
    dials.profile("unique_email")
    first = crm.create("contacts", name="Eva", email="eva@example.com")
    again = crm.call("POST", "contacts", {"name": "Eva", "email": "Eva@example.com"})
    assert loaded(again) == {"error": "duplicate", "by": "email", "id": first["id"]}


# --- the control plane ---


def test_the_ledger_tells_in_order_what_was_done_and_no_values(crm: Caller, dials: Dials) -> None:
    contact = crm.contact("c-1")
    crm.call("PATCH", f"contacts/{contact}", {"phone": "+51999000111"})
    crm.call("DELETE", f"contacts/{contact}")
    entries = dials.ledger()
    assert [entry["what"] for entry in entries] == ["created", "updated", "deleted"]
    assert entries[1]["fields"] == ["phone"]
    assert "51999000111" not in json.dumps(entries)


def test_the_ledger_can_be_read_from_a_place_on(crm: Caller, dials: Dials) -> None:
    crm.contact("c-1")
    crm.contact("c-2")
    assert [entry["reference"] for entry in dials.ledger(since=1)] == ["c-2"]


def test_a_ledger_row_names_its_request(crm: Caller, dials: Dials) -> None:
    crm.contact("c-1")
    assert dials.ledger()[0]["request_id"] == dials.requests()[0]["id"]


def test_the_log_of_requests_holds_no_bodies(crm: Caller, dials: Dials) -> None:
    crm.create("contacts", name="Eva", email="eva@example.com", reference="c-1")
    crm.find("contacts", "email=eva@example.com")
    assert "example.com" not in json.dumps(dials.requests())


def test_a_refused_request_counts_as_not_executed(crm: Caller, dials: Dials) -> None:
    crm.call("POST", "contacts", {})
    assert (dials.requests()[0]["executed"], dials.requests()[0]["status"]) == (0, 422)


def test_a_web_page_cannot_turn_the_dials(server: Running) -> None:
    caller = Caller(server.url)
    assert caller.call("GET", "../control/ledger", headers={"Origin": "https://example.com"}).status_code == 403


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_profile_can_be_set_while_it_runs(crm: Caller, dials: Dials, name: str) -> None:
    dials.profile(name)
    assert loaded(crm.call("GET", "me"))["profile"] == name


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "faults", {"fault": "gremlins"}),
        ("POST", "faults", {"fault": "503", "times": -1}),
        ("POST", "faults", {"fault": "503", "match": {"colour": "red"}}),
        ("POST", "faults", {"fault": "429", "retry_after": 10**30}),
        ("POST", "faults", None),
        ("PUT", "faults", {"fault": "503"}),
        ("PUT", "profile", {"name": "gremlins"}),
        ("PUT", "profile", {"name": "stored", "lag_seconds": "much"}),
        ("PUT", "clock", {"offset_seconds": "much"}),
    ],
)
def test_a_dial_that_is_not_there_cannot_be_turned(crm: Caller, method: str, path: str, body: object) -> None:
    assert crm.call(method, f"../control/{path}", body).status_code == 422
