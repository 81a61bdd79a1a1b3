"""Which lead is it: an id that is none is never shared, and ids that differ are never one."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest

from intake.sources.base import Incoming
from tests.contract.sources.reading import event, raw, reading

# Where each tool writes the id of a submission.
PLACES: Mapping[str, tuple[str, ...]] = {
    "calendly/created.json": ("payload", "uri"),
    "fluent_forms/all_fields.json": ("__submission", "id"),
    "formbricks/finished.json": ("data", "id"),
    "google_ads/lead.json": ("lead_id",),
    "google_forms/named_values.json": ("responseId",),
    "gravity_forms/entry.json": ("id",),
    "netlify/submission.json": ("id",),
    "opnform/editable.json": ("edit_link",),
    "typeform/response.json": ("form_response", "token"),
    "webflow/form_submission.json": ("payload", "id"),
    "wpforms/fields.json": ("entry_id",),
}
NO_IDS: list[object] = [
    None,
    "",
    " \t",
    0,
    "0",
    "000",
    0.0,
    True,
    False,
    [],
    {},
    ["a"],
    "null",
    "NULL",
    "undefined",
    "NaN",
]
IDS = [
    "a",
    "A",
    "a b",
    "ñ",
    "n\u0303",
    "1",
    "01",
    "1.0",
    "-1",
    "9007199254740993",
    "9007199254740992",
    "x" * 9000,
    "🙂",
]


def with_id(sample: str, value: object) -> Incoming:
    body: dict[str, Any] = copy.deepcopy(json.loads(raw(sample)))
    *outer, last = PLACES[sample]
    members = body
    for name in outer:
        members = members[name]
    members[last] = value
    return event(sample, body=json.dumps(body).encode())


@pytest.mark.parametrize("value", NO_IDS, ids=repr)
@pytest.mark.parametrize("sample", PLACES)
def test_what_is_no_id_is_none(sample: str, value: object) -> None:
    assert with_id(sample, value).request_id is None


@pytest.mark.parametrize("sample", PLACES)
def test_ids_that_differ_are_other_leads(sample: str) -> None:
    assert len({with_id(sample, value).request_id for value in IDS}) == len(IDS)


@pytest.mark.parametrize(
    ("sample", "form"),
    [("tally/choices.json", ("data", "formId")), ("typeform/response.json", ("form_response", "form_id"))],
)
def test_form_and_id_are_told_apart_where_they_meet(sample: str, form: tuple[str, str]) -> None:
    found = set()
    for name, own in (("a", "b:c"), ("a:b", "c"), ("a%3Ab", "c"), ("", "a:b:c")):
        body: dict[str, Any] = json.loads(raw(sample))
        outer = body[form[0]]
        outer[form[1]] = name
        outer["responseId" if "responseId" in outer else "token"] = own
        found.add(event(sample, body=json.dumps(body).encode()).request_id)
    assert len(found) == 4


@pytest.mark.parametrize("sample", PLACES)
def test_a_number_and_its_text_are_one_id(sample: str) -> None:
    numbers = {
        with_id(sample, value).request_id for value in (9007199254740993, "9007199254740993", " 9007199254740993 ")
    }
    assert len(numbers) == 1


@pytest.mark.parametrize("value", NO_IDS, ids=repr)
def test_message_or_lead_without_an_id_is_kept_for_a_person(value: object) -> None:
    message = {"from": "51987654321", "id": value, "timestamp": "1790000000", "type": "text", "text": {"body": "hola"}}
    lead = {"field": "leadgen", "value": {"leadgen_id": value, "form_id": "1"}}
    for sample, change in (
        ("whatsapp_cloud/text.json", {"value": {"messages": [message]}}),
        ("meta_lead_ads/one.json", lead),
    ):
        found = reading(sample, body=json.dumps({"entry": [{"id": "1", "changes": [change]}]}).encode())
        assert (len(found.events), len(found.quarantined)) == (0, 1)
