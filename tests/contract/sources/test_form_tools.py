"""The traps of the smaller form tools: ids that are there or not, and fields that no visitor wrote."""

from __future__ import annotations

import pytest

from intake.sources.base import Unreadable
from tests.contract.sources.reading import changed, event, reading, with_members


def test_webflow_phone_of_a_json_number_is_read() -> None:
    phone = event("webflow/form_submission.json").lead.contact.phone
    assert phone is not None
    assert (phone.raw, phone.e164) == ("51912345678", "+51912345678")


def test_webflow_phone_that_lost_its_country_is_kept_and_flagged() -> None:
    body = changed("webflow/form_submission.json", "51912345678", "15550000000")
    lead = event("webflow/form_submission.json", body=body).lead
    assert lead.contact.phone is not None
    assert (lead.contact.phone.raw, lead.flags) == ("15550000000", ("phone_unreadable",))


@pytest.mark.parametrize(
    ("sample", "key"),
    [
        ("webflow/form_submission.json", "65f0000000000000000000aa"),
        ("webflow/without_envelope.json", "65f0000000000000000000ab"),
        ("netlify/submission.json", "65f0000000000000000000ba"),
        ("fluent_forms/all_fields.json", "3:77"),
        ("fluent_forms/all_fields.txt", "3:78"),
        ("fluent_forms/chosen_fields.txt", None),
        ("framer/contact.json", None),  # The header has it, and here is none.
        ("formspree/wrapped.json", None),
        ("opnform/submission.json", None),
        ("ninja_forms/body.json", None),
    ],
)
def test_identity_is_the_tools_own_id_or_the_answers(sample: str, key: str | None) -> None:
    assert event(sample).request_id == key


def test_framer_id_is_in_a_signed_header() -> None:
    headers = {"framer-webhook-submission-id": "sub-1"}
    assert event("framer/contact.json", headers=headers).request_id == "sub-1"


def test_opnform_link_to_edit_is_a_secret_and_gives_the_identity_only_as_a_digest() -> None:
    found = event("opnform/editable.json")
    assert found.request_id is not None
    assert "Ab12Cd" not in repr((found.request_id, found.lead.answers, found.content))


def test_opnform_edit_is_an_update_under_the_same_identity() -> None:
    edited = event("opnform/editable.json", body=changed("opnform/editable.json", "Rosa Prueba", "Rosa María Prueba"))
    assert (edited.request_id, edited.on_change) == (event("opnform/editable.json").request_id, "update")


def test_opnform_file_with_a_new_token_is_the_same_answer() -> None:
    again = event("opnform/submission.json", body=changed("opnform/submission.json", "signature=abc", "signature=def"))
    assert again.content == event("opnform/submission.json").content


@pytest.mark.parametrize("field", ["203.0.113.7", "Mozilla/5.0", "https://www.example.com/contacto"])
def test_netlify_adds_nothing_to_what_the_visitor_wrote(field: str) -> None:
    assert field not in repr(event("netlify/submission.json").lead.answers)


def test_formspree_settings_are_no_answers_and_an_address_to_reply_to_is() -> None:
    assert event("formspree/wrapped.json").lead.answers == ()
    assert event("formspree/bare.json").lead.contact.email == "rosa@example.com"


@pytest.mark.parametrize("sample", ["ninja_forms/form.txt", "ninja_forms/json_in_one_field.txt"])
def test_ninja_forms_codings_are_the_same_answers(sample: str) -> None:
    assert event(sample).content == event("ninja_forms/body.json").content


def test_ninja_forms_single_answer_is_an_answer() -> None:
    assert event("ninja_forms/form.txt", body=b"mensaje={hola}").lead.enquiry.text == "{hola}"


def test_fluent_forms_own_names_are_no_answers() -> None:
    labels = [label for label, _ in event("fluent_forms/all_fields.json").lead.answers]
    assert labels == ["file-upload"]


def test_fluent_forms_list_is_one_answer() -> None:
    assert event("fluent_forms/chosen_fields.txt").lead.enquiry.product == "Sillas, Mesas"


def test_time_without_a_zone_says_no_moment() -> None:
    assert event("fluent_forms/all_fields.json").lead.occurred_at is None


@pytest.mark.parametrize(
    ("sample", "member"),
    [("webflow/form_submission.json", "payload"), ("netlify/submission.json", "data")],
)
def test_body_whose_answers_are_elsewhere_is_unreadable(sample: str, member: str) -> None:
    with pytest.raises(Unreadable):
        reading(sample, body=with_members(sample, **{member: "moved"}))
