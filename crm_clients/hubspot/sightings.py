"""What HubSpot's answers to looks show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crm_clients import answers, rich_text, worth
from crm_clients.base import (
    Absent,
    ContactDraft,
    Found,
    Kind,
    Looked,
    Response,
    Seen,
    UnreadableAnswer,
    Unsure,
)
from crm_clients.hubspot.outcomes import is_gone, is_refused
from crm_clients.own_fields import own_number

OWNER = "hubspot_owner_id"
MERGED = "hs_merged_object_ids"

# The properties that an answer must show.
SHOWN: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONTACT: ("email", "hs_additional_emails", "phone", "mobilephone", "message"),
    Kind.OPPORTUNITY: ("dealname", "description", "amount", "deal_currency_code", "hs_is_closed"),
    Kind.TASK: ("hs_task_subject", "hs_task_status"),
    Kind.NOTE: ("hs_note_body",),
}
PHONES = ("phone", "mobilephone", "hs_searchable_calculated_phone_number", "hs_searchable_calculated_mobile_number")


def shown(kind: Kind, reference: str) -> tuple[str, ...]:
    """What to ask for: the owner is shown to those who name it only."""
    calculated = PHONES[2:] if kind is Kind.CONTACT else ()
    return (reference, OWNER, MERGED, *SHOWN[kind], *calculated)


def found(kind: Kind, reference: str, response: Response, property_: str, currencies: Sequence[str]) -> Looked:
    """The one record that bears the reference: the property is unique."""
    if is_gone(response):
        return Absent()
    if is_refused(response):
        return Unsure("reference_field_not_unique")
    seen = _record(kind, response, property_, currencies)
    return answers.no_look(response) if seen is None else answers.under(reference, (seen,), complete=True)


def was_read(kind: Kind, crm_id: str, response: Response, property_: str, currencies: Sequence[str]) -> Looked:
    """The record that was asked for; one that was merged into another is not alive."""
    if is_gone(response):
        return Absent()
    seen = _record(kind, response, property_, currencies)
    if seen is None:
        return answers.no_look(response)
    if seen.crm_id == crm_id:
        return Found(seen)
    merged = answers.text(_properties(answers.json_object(response) or {}).get(MERGED)).split(";")
    if crm_id not in merged:
        return answers.no_look(response)
    return Found(Seen(crm_id, seen.reference, live=False, merged_into=seen.crm_id))


def _record(kind: Kind, response: Response, property_: str, currencies: Sequence[str]) -> Seen | None:
    body = answers.json_object(response)
    return None if body is None or not answers.succeeded(response) else _seen(kind, body, property_, currencies)


def _properties(row: Mapping[str, object]) -> Mapping[str, object]:
    return answers.mapping(row.get("properties"))


def _seen(kind: Kind, row: Mapping[str, object], property_: str, currencies: Sequence[str]) -> Seen | None:
    """A record with its properties; None if it has no id, or does not show them."""
    crm_id = answers.record_id(row.get("id"))
    if crm_id is None or not isinstance(row.get("properties"), dict):
        return None
    values = _properties(row)
    return Seen(
        crm_id,
        answers.record_id(values.get(property_)),
        owner=answers.record_id(values.get(OWNER)),
        live=row.get("archived") is not True,
        contact_id=_contact(row) if kind is Kind.OPPORTUNITY else None,
        values=_values(kind, values, currencies),
        closed=_is(values.get("hs_is_closed")) if kind is Kind.OPPORTUNITY else None,
    )


def _contact(row: Mapping[str, object]) -> str | None:
    linked = answers.mapping(answers.mapping(row.get("associations")).get("contacts"))
    listed = answers.rows(linked.get("results")) or ()
    return answers.record_id(listed[0].get("id")) if listed else None


def _is(value: object) -> bool | None:
    return {"true": True, "false": False}.get(value) if isinstance(value, str) else None


def _values(kind: Kind, values: Mapping[str, object], currencies: Sequence[str]) -> Mapping[str, str]:
    match kind:
        case Kind.OPPORTUNITY:
            texts = {"title": answers.text(values.get("dealname")), "text": answers.text(values.get("description"))}
            return {**texts, **worth.shown(values.get("amount"), values.get("deal_currency_code"), currencies)}
        case Kind.CONTACT:
            return {"text": answers.text(values.get("message")), "phone": answers.text(values.get("phone"))}
        case Kind.TASK:
            return {"text": answers.text(values.get("hs_task_subject"))}
        case Kind.NOTE:
            return {"text": rich_text.read(answers.text(values.get("hs_note_body")))}


def matched(draft: ContactDraft, response: Response, property_: str, whatsapp: str | None) -> tuple[Seen, ...]:
    """The contacts that really have the draft's e-mail or number.  Raises UnreadableAnswer."""
    rows = _rows(response)
    same = (_seen(Kind.CONTACT, row, property_, ()) for row in rows if _is_same_person(draft, row, whatsapp))
    return tuple(one for one in same if one is not None and one.live)


def _is_same_person(draft: ContactDraft, row: Mapping[str, object], whatsapp: str | None) -> bool:
    values = _properties(row)
    phones = [values.get(name) for name in PHONES] + ([values.get(whatsapp)] if whatsapp else [])
    emails = [values.get("email"), *answers.text(values.get("hs_additional_emails")).split(";")]
    theirs, ours = answers.digits(answers.text(values.get(whatsapp or ""))), own_number(draft, whatsapp)
    return answers.is_same_person(draft, phones=phones, emails=emails) or bool(ours and ours == theirs)


def _rows(response: Response) -> tuple[Mapping[str, object], ...]:
    """All rows of a search or of a batch that was read.  Raises UnreadableAnswer where some may be missing."""
    body = answers.json_object(response)
    rows = None if body is None else answers.rows(body.get("results"))
    if body is None or rows is None or not answers.succeeded(response) or not _is_whole(body, len(rows)):
        raise UnreadableAnswer(f"status {response.status}")
    return rows


def _is_whole(body: Mapping[str, object], count: int) -> bool:
    """A search tells how many there are; a batch whether it is complete, and which of its ids nobody has."""
    if "total" in body:
        total = body.get("total")
        return isinstance(total, int) and total == count
    errors = answers.rows(body.get("errors", []))
    missing = errors is not None and all(each.get("category") == "OBJECT_NOT_FOUND" for each in errors)
    return missing and body.get("status") == "COMPLETE"


def listed(contact_id: str, response: Response, property_: str, currencies: Sequence[str]) -> tuple[Seen, ...]:
    """The deals of a contact: the search shows no associations, so that its filter is believed.

    Raises UnreadableAnswer.
    """
    seen = [_seen(Kind.OPPORTUNITY, row, property_, currencies) for row in _rows(response)]
    told = [one for one in seen if one is not None]
    if len(told) < len(seen):
        raise UnreadableAnswer("a deal without properties")
    return tuple(
        Seen(one.crm_id, one.reference, one.owner, one.live, contact_id, one.values, one.closed) for one in told
    )


def is_owner(owner: str, response: Response) -> bool | None:
    """Whether somebody may still own something; None: the answer does not tell."""
    if is_gone(response):
        return False
    body = answers.json_object(response)
    if body is None or not answers.succeeded(response) or answers.record_id(body.get("id")) != owner:
        return None
    return body.get("archived") is not True


def controlled(response: Response, property_: str) -> Unsure | None:
    """None if the token works, and the reference is defined for deals and unique."""
    if is_gone(response):
        return Unsure("reference_field_missing", scope="account")
    body = answers.json_object(response)
    if body is None or not answers.succeeded(response) or body.get("name") != property_:
        return answers.no_look(response)
    return None if body.get("hasUniqueValue") is True else Unsure("reference_field_not_unique", scope="account")
