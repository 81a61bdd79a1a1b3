"""What is Odoo's own: two protocols, external ids that are written with their record, and `false` for what is empty."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from crm_clients.abilities import FormsAccount
from crm_clients.base import (
    Absent,
    Capability,
    Confirmed,
    ContactDraft,
    Duplicate,
    Found,
    Kind,
    NoteDraft,
    OpportunityDraft,
    Rejected,
    Request,
    Response,
    Retry,
    Seen,
    TaskDraft,
    Uncertain,
    Unsure,
)
from crm_clients.odoo.client import Odoo, from_settings
from crm_clients.odoo.wire import KEY_PLACE, Wire
from crm_clients.options import BadSetting
from tests.contract.drafts import DUE, ordinary

JSON2 = Odoo(currency="PEN")
JSON_RPC = Odoo(Wire(17, "company", 6), currency="PEN")
each_protocol = pytest.mark.parametrize("odoo", [JSON2, JSON_RPC], ids=["json2", "jsonrpc"])


def answer(odoo: Odoo, value: object) -> Response:
    """What a method returned."""
    body = value if odoo.wire.is_json2 else {"jsonrpc": "2.0", "id": 1, "result": value}
    return Response(200, {}, json.dumps(body).encode())


def raised(odoo: Odoo, name: str, message: str = "no", status: int = 422) -> Response:
    """An exception of Odoo's."""
    if odoo.wire.is_json2:
        return Response(status, {}, json.dumps({"name": name, "message": message, "arguments": []}).encode())
    data = {"name": name, "message": message, "debug": "Traceback"}
    error = {"code": 200, "message": "Odoo Server Error", "data": data}
    return Response(200, {}, json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode())


def cells(request: Request) -> dict[str, str]:
    """The row that a create hands to `load`."""
    body = json.loads(request.body or b"")
    told = body["params"]["args"][6] if "params" in body else body
    (row,) = told["data"]
    return dict(zip(told["fields"], row, strict=True))


def lead(**changes: object) -> dict[str, object]:
    row: dict[str, object] = {"id": 9, "x_external_ref": "need-1", "name": "Bomba", "description": False}
    return row | {"user_id": [6, "Alice"], "partner_id": False, "active": True, "probability": 10.0} | changes


def read(row: dict[str, object], odoo: Odoo = JSON2) -> Seen:
    looked = odoo.was_read(Kind.OPPORTUNITY, "9", answer(odoo, [row]))
    assert isinstance(looked, Found)
    return looked.seen


# --- requests ---


@each_protocol
def test_external_id_and_custom_field_bear_the_reference_in_one_call(odoo: Odoo) -> None:
    row = cells(odoo.create(ordinary(Kind.OPPORTUNITY, parent_id="31", owner="6"), "need-1"))
    assert (row["id"], row["x_external_ref"]) == ("intake.need-1", "need-1")
    assert (row["partner_id/.id"], row["user_id/.id"], row["type"]) == ("31", "6", "opportunity")


@each_protocol
def test_a_create_never_changes_what_stands_already(odoo: Odoo) -> None:
    body = (odoo.create(ordinary(Kind.CONTACT), "c-1").body or b"").decode()
    assert '"context": {"mode": "update", "noupdate": true, ' in body


def test_json_rpc_leaves_the_key_to_the_transport_and_puts_it_before_all_that_people_wrote() -> None:
    request = JSON_RPC.create(NoteDraft(KEY_PLACE, "9"), "n-1")
    body = (request.body or b"").decode()
    assert body.count(KEY_PLACE) == 1
    assert json.loads(body)["params"]["args"][:5] == ["company", 6, json.loads(KEY_PLACE), "mail.message", "load"]


def test_a_method_of_records_gets_them_first() -> None:
    request = JSON_RPC.update(Kind.OPPORTUNITY, "9", {"title": "Bomba"})
    args = json.loads(request.body or b"")["params"]["args"]
    assert args[3:] == ["crm.lead", "write", [[9]], {"vals": {"name": "Bomba"}}]
    assert json.loads(JSON2.update(Kind.OPPORTUNITY, "9", {"title": "Bomba"}).body or b"") == {
        "ids": [9],
        "vals": {"name": "Bomba"},
    }


def test_the_key_is_a_header_of_json2_and_part_of_the_body_of_json_rpc() -> None:
    new: FormsAccount = Odoo(Wire(19, "company"))
    account = new.account("crm", "https://crm.example.com", "k-1")
    assert account.headers == (("Authorization", "bearer k-1"), ("X-Odoo-Database", "company"))
    assert JSON_RPC.account("crm", "https://crm.example.com", 'k"1').places == ((KEY_PLACE, '"k\\"1"'),)


def test_a_text_becomes_html_that_shows_it_as_it_is_and_is_read_back_so() -> None:
    said = "2 < 3 & <b>\n\n¿Cuánto?"
    row = cells(JSON2.create(OpportunityDraft("Bomba", said, "31"), "need-1"))
    assert row["description"] == "<p>2 &lt; 3 &amp; &lt;b&gt;<br><br>¿Cuánto?</p>"
    assert read(lead(description=row["description"])).values["text"] == said


def test_an_old_version_has_plain_text_and_another_name_for_the_amount() -> None:
    old = Odoo(Wire(11, "company", 1), currency="USD")
    row = cells(old.create(ordinary(Kind.OPPORTUNITY), "need-1"))
    assert (row["description"], row["planned_revenue"]) == ("Quiero una bomba de 2 HP.", "1200.50")


def test_an_amount_in_another_currency_than_the_company_s_stands_in_the_text() -> None:
    row = cells(JSON2.create(ordinary(Kind.OPPORTUNITY), "need-1"))
    assert "expected_revenue" not in row
    assert "USD 1200.50" in row["description"]
    assert json.loads(JSON2.update(Kind.OPPORTUNITY, "9", {"amount": "5", "currency": "USD"}).body or b"")["vals"] == {}


@pytest.mark.parametrize(
    ("type_", "column", "cell"),
    [
        (None, "activity_type_id/id", "mail.mail_activity_data_todo"),
        ("call", "activity_type_id/id", "mail.mail_activity_data_call"),
        ("14", "activity_type_id/.id", "14"),
        ("Visita técnica", "activity_type_id", "Visita técnica"),
    ],
)
def test_a_task_s_type_is_a_word_a_number_or_a_name(type_: str | None, column: str, cell: str) -> None:
    assert cells(JSON2.create(TaskDraft("Llamar", "9", DUE, type=type_), "t-1"))[column] == cell


def test_a_note_says_when_it_was_said_and_ends_with_its_reference() -> None:
    row = cells(JSON2.create(NoteDraft("¿Cuánto?", "9", said_at=DUE), "n-1"))
    assert (row["date"], row["body"]) == ("2026-12-24 15:30:00", "<p>¿Cuánto?<br><br>[ref:n-1]</p>")
    assert row["subtype_id/id"] == "mail.mt_note"


def test_a_contact_is_matched_as_odoo_keeps_numbers_and_as_people_type_them() -> None:
    by_phone, by_email = JSON2.matches(ContactDraft("Rosa", "+51987654321", "rosa_q@example.com"))
    domain = json.loads(by_phone.body or b"")["domain"]
    assert domain[1] == ["phone_sanitized", "=", "+51987654321"]
    assert {"+51987654321", "987654321", "+51 987 654 321"} <= set(domain[2][2])
    # `_` would stand for any letter.
    assert json.loads(by_email.body or b"")["domain"] == [["email", "=ilike", "rosa\\_q@example.com"]]


# --- answers ---


@each_protocol
@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("odoo.exceptions.ValidationError", Rejected("validation", (("message", "no"),))),
        ("odoo.exceptions.AccessDenied", Retry("bad_credential", scope="account")),
        ("odoo.exceptions.AccessError", Retry("forbidden", scope="account")),
        ("psycopg2.OperationalError", Retry("account_missing", scope="account")),
        ("psycopg2.errors.SerializationFailure", Retry("concurrent_update", passing=True)),
    ],
)
def test_an_exception_is_known_by_its_name(odoo: Odoo, name: str, means: object) -> None:
    assert odoo.created(Kind.OPPORTUNITY, raised(odoo, name)) == means


@each_protocol
def test_an_exception_that_nobody_knows_is_doubt(odoo: Odoo) -> None:
    assert isinstance(odoo.created(Kind.OPPORTUNITY, raised(odoo, "custom.Broken")), Uncertain)


def test_an_error_of_json_rpc_is_no_success_though_its_status_is_200() -> None:
    wrong = raised(JSON_RPC, "builtins.ValueError", "Invalid field 'bogus' on model 'crm.lead'")
    assert isinstance(JSON_RPC.created(Kind.OPPORTUNITY, wrong), Rejected)
    assert JSON_RPC.found(Kind.OPPORTUNITY, "need-1", wrong) == Unsure("refused")
    assert JSON_RPC.controlled(wrong) == Unsure("reference_field_missing", scope="account")


@each_protocol
def test_the_loser_of_a_race_tries_again_or_looks(odoo: Odoo) -> None:
    def failed(message: str) -> object:
        told = {"ids": False, "messages": [{"type": "error", "message": message}]}
        return odoo.created(Kind.OPPORTUNITY, answer(odoo, told))

    assert failed("could not serialize access due to concurrent update\n") == Retry("concurrent_update", passing=True)
    unique = 'duplicate key value violates unique constraint "ir_model_data_module_name_uniq_index"'
    assert failed(unique) == Duplicate("reference")


@each_protocol
def test_a_row_that_was_not_loaded_and_does_not_say_why_is_doubt(odoo: Odoo) -> None:
    assert isinstance(odoo.created(Kind.TASK, answer(odoo, {"ids": False, "messages": []})), Uncertain)
    assert isinstance(odoo.created(Kind.TASK, answer(odoo, {"ids": [1, 2], "messages": []})), Uncertain)


@each_protocol
def test_an_update_is_done_when_odoo_says_true(odoo: Odoo) -> None:
    assert odoo.updated(Kind.OPPORTUNITY, "9", answer(odoo, True)) == Confirmed("9")
    assert isinstance(odoo.updated(Kind.OPPORTUNITY, "9", answer(odoo, None)), Uncertain)
    gone = raised(odoo, "odoo.exceptions.MissingError", status=404)
    assert isinstance(odoo.updated(Kind.OPPORTUNITY, "9", gone), Rejected)


def test_what_is_empty_is_false_and_an_amount_nobody_typed_is_zero() -> None:
    values = read(lead(expected_revenue=0.0)).values
    assert (values["text"], values["amount"], values["currency"]) == ("", "", "PEN")


@pytest.mark.parametrize(
    ("active", "probability", "live", "closed"),
    [(True, 10.0, True, False), (True, 100, True, True), (False, 0, True, True), (False, 10.0, False, False)],
    ids=["open", "won", "lost", "archived"],
)
def test_a_lost_lead_is_closed_and_one_put_aside_is_not_live(
    active: bool, probability: float, live: bool, closed: bool
) -> None:
    seen = read(lead(active=active, probability=probability))
    assert (seen.live, seen.closed) == (live, closed)


@each_protocol
def test_a_reference_is_compared_on_our_side(odoo: Odoo) -> None:
    assert odoo.found(Kind.OPPORTUNITY, "NEED-1", answer(odoo, [lead()])) == Absent()
    hidden = {name: value for name, value in lead().items() if name != "x_external_ref"}
    assert isinstance(odoo.found(Kind.OPPORTUNITY, "need-1", answer(odoo, [hidden])), Unsure)


def test_references_count_as_enforced_only_by_the_owner_s_word() -> None:
    assert Odoo().capability(Kind.TASK) == Capability("stored", absence_may_mean_done=True)
    told = from_settings({"enforced": "contact, task", "limit_seconds": "120"})
    assert told.capability(Kind.TASK) == Capability(
        "enforced", limit=timedelta(seconds=120), absence_may_mean_done=True
    )
    assert told.capability(Kind.NOTE).reference == "marker"


@pytest.mark.parametrize(
    "settings",
    [
        {"version": "17"},
        {"version": "10", "database": "company", "user_id": "2"},
        {"user_id": "me"},
        {"module": "In-take"},
        {"reference_field": "external_ref"},
        {"currency": "PEN USD"},
        {"enforced": "deal"},
    ],
    ids=" ".join,
)
def test_options_that_cannot_be_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        from_settings(settings)
