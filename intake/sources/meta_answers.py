"""The answers of a Meta lead, as its Graph API tells them, put into the lead that the webhook named.

    {"id": "1001", "created_time": "2026-03-02T15:00:00+0000",
     "field_data": [{"name": "full_name", "values": ["Ana Prueba"]}, ...]}

Names are Meta's keys for its own questions and the advertiser's own words, with underscores, for others.
Source: Meta, "Retrieving leads"
(https://developers.facebook.com/documentation/ads-commerce/marketing-api/guides/lead-ads/retrieving, 7 Nov 2025).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields as names_of
from dataclasses import replace
from datetime import datetime

from intake.lead import FETCH_PENDING, Contact, Enquiry, Lead
from intake.sources import fields, questions
from intake.sources.base import Unreadable
from intake.sources.decoding import Json, credible, mapping, read_json, sequence, text
from intake.sources.questions import Question
from intake.sources.submission import pointer

# Meta's own questions whose keys are no well-known names.
HINTS: Mapping[str, str] = {
    "work_email": "email",
    "work_phone_number": "phone",
    "user_provided_phone_number": "phone",
    "whatsapp_number": "whatsapp",
    "id_pe_dni": "dni",
    "national_id": "dni",
}
# What the testing tool fills in begins so.
DUMMY = "<test lead:"


def complete(lead: Lead, answer: bytes, *, leadgen_id: str, region: str, pointers: Mapping[str, str]) -> Lead:
    """The lead with its answers; what stands in it already, because a person wrote it there, stays.

    Raises Unreadable, also for the answers of another lead.
    """
    body = mapping(read_json(answer).value)
    if text(body.get("id")) != leadgen_id or not isinstance(body.get("field_data"), list):
        raise Unreadable("not_this_lead", {"field_data": "must be the answers of the lead asked for"})
    asked = tuple(_questions(body))
    form = fields.read(questions.answers(asked), region=region, pointers=pointers, occurred_at=_moment(body))
    told = form.lead if form else Lead(Contact(), flags=("no_answers", "no_contact_point"))
    flags = (*lead.flags, *told.flags, *(("test_lead",) if _is_dummy(asked) else ()))
    return replace(
        told,
        contact=_contact(lead.contact, told.contact),
        enquiry=_enquiry(lead.enquiry, told.enquiry),
        attribution=replace(lead.attribution, ad_id=lead.attribution.ad_id or text(body.get("ad_id"))),
        answers=(*told.answers, *lead.answers),
        flags=tuple(dict.fromkeys(flag for flag in flags if flag != FETCH_PENDING)),
        occurred_at=lead.occurred_at or told.occurred_at,
    )


def _questions(body: dict[str, Json]) -> Iterator[Question]:
    for entry in (mapping(one) for one in sequence(body.get("field_data"))):
        name = text(entry.get("name"))
        values = [value for one in sequence(entry.get("values")) if (value := text(one))]
        if name and values:
            hints = (HINTS[name],) if name in HINTS else ()
            yield Question(pointer("field_data", name), name.replace("_", " "), ", ".join(values), hints)


def _is_dummy(asked: tuple[Question, ...]) -> bool:
    return any(question.answer.startswith(DUMMY) for question in asked)


def _moment(body: dict[str, Json]) -> datetime | None:
    try:
        written = datetime.fromisoformat(text(body.get("created_time")) or "")
    except ValueError:
        return None
    return credible(written) if written.tzinfo else None


def _contact(stands: Contact, told: Contact) -> Contact:
    kept = {each.name: value for each in names_of(Contact) if (value := getattr(stands, each.name)) is not None}
    return replace(told, **kept)


def _enquiry(stands: Enquiry, told: Enquiry) -> Enquiry:
    return replace(
        told,
        text=stands.text or told.text,
        product=stands.product or told.product,
        amount=told.amount if stands.amount is None else stands.amount,
        currency=stands.currency or told.currency,
    )
