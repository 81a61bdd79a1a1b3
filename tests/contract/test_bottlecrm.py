"""What is BottleCRM's own: the traps of its answers, and where a reference is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from crm_clients.base import (
    Absent,
    Duplicate,
    Kind,
    OpportunityDraft,
    Rejected,
    Request,
    Response,
    Retry,
    Uncertain,
    Unsure,
    Written,
)
from crm_clients.bottlecrm import BottleCRM
from crm_clients.bottlecrm.drafts import short
from tests.contract.drafts import ordinary

CLIENT = BottleCRM()


def answer(status: int, body: object) -> Response:
    return Response(status, {}, json.dumps(body).encode())


def sent(request: Request) -> dict[str, object]:
    body = json.loads(request.body or b"{}")
    assert isinstance(body, dict)
    return body


def refused(status: int, body: object) -> Written:
    return CLIENT.created(Kind.OPPORTUNITY, answer(status, body))


def task_row(title: str) -> dict[str, object]:
    return {"id": "t-1", "title": title, "opportunity": {"id": "o-1"}, "assigned_to": []}


def tasks(*titles: str, count: int | None = None) -> Response:
    rows = [task_row(title) for title in titles]
    return answer(200, {"tasks": rows, "tasks_count": len(rows) if count is None else count})


def test_a_long_title_keeps_the_short_form_of_its_reference() -> None:
    draft = OpportunityDraft("Bomba " * 100, "", "c-1")
    name = str(sent(CLIENT.create(draft, "need-1"))["name"])
    assert len(name) <= 255
    assert name.endswith(f"[{short('need-1')}]")


def test_an_amount_keeps_two_decimals() -> None:
    draft = OpportunityDraft("Bomba", "", "c-1", Decimal("1200.505"), "USD")
    assert sent(CLIENT.create(draft, "need-1"))["amount"] == "1200.50"


def test_an_update_of_an_amount_in_soles_sends_no_amount() -> None:
    request = CLIENT.update(Kind.OPPORTUNITY, "o-1", {"amount": "5", "currency": "PEN", "text": "x"})
    assert sent(request) == {"description": "x"}


def test_an_amount_without_currency_is_in_the_destination_s() -> None:
    soles, dollars = replace(CLIENT, currency="PEN"), replace(CLIENT, currency="USD")
    changes = {"amount": "5"}
    assert sent(soles.update(Kind.OPPORTUNITY, "o-1", changes)) == {}
    assert sent(dollars.update(Kind.OPPORTUNITY, "o-1", changes)) == {"amount": "5"}


@pytest.mark.parametrize("name", ["owner", "assigned_to", "stage", "custom_fields"])
def test_what_is_not_guarded_is_never_updated(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        CLIENT.update(Kind.OPPORTUNITY, "o-1", {name: "x"})


def test_a_task_whose_title_somebody_changed_is_neither_ours_nor_absent() -> None:
    assert CLIENT.found(Kind.TASK, "need-1", tasks("Llamar mañana")) == Unsure("unreadable")


def test_a_task_of_another_reference_is_not_ours() -> None:
    assert CLIENT.found(Kind.TASK, "need-1", tasks(f"Llamar [{short('need-2')}]")) == Absent()


def test_a_page_of_a_longer_list_proves_no_absence() -> None:
    assert CLIENT.found(Kind.TASK, "need-1", tasks(f"x [{short('need-2')}]", count=50)) == Unsure("more_than_one_page")


def test_a_list_that_hides_the_custom_fields_proves_nothing() -> None:
    listed = answer(200, {"opportunities": [{"id": "o-1", "name": "Bomba"}], "opportunities_count": 1})
    assert isinstance(CLIENT.found(Kind.OPPORTUNITY, "need-1", listed), Unsure)


def test_an_inactive_record_is_shown_as_not_live() -> None:
    row = {"id": "c-1", "custom_fields": {"external_ref": "c"}, "is_active": False}
    looked = CLIENT.found(Kind.CONTACT, "c", answer(200, {"results": [row], "count": 1}))
    assert "live=False" in repr(looked)


def test_a_note_without_its_parent_cannot_be_looked_for() -> None:
    request = CLIENT.find(Kind.NOTE, "n-1", parent_id=None)
    assert request.path == "/opportunities/"
    listed = answer(200, {"opportunities": [], "opportunities_count": 0})
    assert isinstance(CLIENT.found(Kind.NOTE, "n-1", listed), Unsure)


def test_a_note_whose_opportunity_is_gone_is_not_called_absent() -> None:
    gone = answer(404, {"error": True, "errors": "Opportunity not found."})
    assert isinstance(CLIENT.found(Kind.NOTE, "n-1", gone), Unsure)
    assert CLIENT.created(Kind.NOTE, gone) == Rejected("gone")


def test_a_404_in_other_words_is_not_called_absent() -> None:
    assert isinstance(CLIENT.was_read(Kind.TASK, "t-1", answer(404, {"detail": "Not found."})), Unsure)


def test_a_name_that_exists_is_a_duplicate_by_name() -> None:
    body = {"error": True, "errors": {"name": ["Opportunity already exists with this name"]}}
    assert refused(400, body) == Duplicate("name")


def test_a_name_that_is_too_long_is_refused() -> None:
    body = {"error": True, "errors": {"name": ["Ensure this field has no more than 255 characters."]}}
    assert refused(400, body) == Rejected("validation", (("name", body["errors"]["name"][0]),))  # type: ignore[index]


def test_a_malformed_id_is_refused_without_the_usual_frame() -> None:
    body = {"assigned_to": ["'nobody' is not a valid id."]}
    assert refused(400, body) == Rejected("validation", (("assigned_to", "'nobody' is not a valid id."),))


def test_a_token_that_may_only_read_is_refused_and_a_wrong_one_is_the_account_s() -> None:
    scope = "This token is not scoped for write access to contacts. It needs the contacts:write scope."
    assert refused(403, {"detail": scope}) == Rejected("token_scope", (("detail", scope),))
    unknown = "Organization context is required. Please login again."
    assert refused(403, {"detail": unknown}) == Retry("bad_credential", scope="account")


def test_a_403_of_a_firewall_is_doubt() -> None:
    assert CLIENT.created(Kind.CONTACT, Response(403, {}, b"<html>Forbidden</html>")) == Uncertain("status_403")


def test_a_reference_field_that_is_switched_off_fails_the_control_call() -> None:
    fields = [
        {"target_model": model, "key": "external_ref", "is_active": model != "Task"}
        for model in ("Contact", "Opportunity", "Task")
    ]
    assert CLIENT.controlled(answer(200, {"definitions": fields})) == Unsure("reference_field_missing", scope="account")


def test_custom_and_native_fields_go_where_they_belong() -> None:
    draft = replace(
        OpportunityDraft("Bomba", "", "c-1"), fields=(("cf_utm_source", "google"), ("lead_source", "website"))
    )
    body = sent(CLIENT.create(draft, "need-1"))
    assert body["custom_fields"] == {"utm_source": "google", "external_ref": "need-1"}
    assert body["lead_source"] == "website"


def test_a_custom_field_cannot_take_the_place_of_the_reference() -> None:
    draft = replace(OpportunityDraft("Bomba", "", "c-1"), fields=(("cf_external_ref", "other"),))
    assert sent(CLIENT.create(draft, "need-1"))["custom_fields"] == {"external_ref": "need-1"}


def test_the_hour_of_a_task_stands_in_its_text() -> None:
    body = sent(CLIENT.create(ordinary(Kind.TASK), "need-1"))
    assert (body["due_date"], body["description"]) == ("2026-12-24", "2026-12-24 15:30+00:00")
