"""What Zoho's answers to looks show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crm_clients import answers, worth
from crm_clients.base import Absent, ContactDraft, Found, Kind, Looked, Response, Seen, UnreadableAnswer, Unsure
from crm_clients.own_fields import own_number
from crm_clients.zoho.outcomes import code_of, is_gone

# The fields that an answer must show.
SHOWN: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONTACT: ("Owner", "Email", "Secondary_Email", "Phone", "Mobile", "Description"),
    Kind.OPPORTUNITY: ("Owner", "Deal_Name", "Description", "Amount", "Currency", "Stage", "Contact_Name"),
    Kind.TASK: ("Owner", "Subject", "Status", "What_Id"),
}
NOTE = ("Owner", "Note_Content", "Parent_Id")
SCOPE = "OAUTH_SCOPE_MISMATCH"


@dataclass(frozen=True, slots=True)
class Reading:
    """What must be known of the account: the reference's field, its currencies, and the stages that close a deal."""

    reference: str
    currencies: Sequence[str]
    closed: frozenset[str]


def found(kind: Kind, reference: str, response: Response, reading: Reading) -> Looked:
    """The record that bears the reference; of notes, the one among the deal's whose text ends with it."""
    if is_gone(response):
        return Absent()
    listed = _listed(kind, response, reading)
    if listed is None:
        return _no_look(response)
    seen, complete = listed
    return answers.under(reference, seen, complete=complete)


def was_read(kind: Kind, crm_id: str, response: Response, reading: Reading) -> Looked:
    """The record that was asked for."""
    if is_gone(response):
        return Absent()
    seen, _ = _listed(kind, response, reading) or ((), True)
    same = [one for one in seen if one.crm_id == crm_id]
    return Found(same[0]) if len(seen) == 1 and same else _no_look(response)


def _no_look(response: Response) -> Unsure:
    """A token without the right scope is about the account, whatever the status says."""
    if code_of(response) in {SCOPE, "INVALID_TOKEN", "AUTHENTICATION_FAILURE"}:
        return Unsure("bad_credential", scope="account")
    return answers.no_look(response)


def _listed(kind: Kind, response: Response, reading: Reading) -> tuple[tuple[Seen, ...], bool] | None:
    """All rows of an answer, and whether there are no more; None if it is no such answer or a row cannot be judged."""
    body = answers.json_object(response)
    rows = None if body is None else answers.rows(body.get("data"))
    if body is None or not rows or not answers.succeeded(response):
        return None
    seen = [_seen(kind, row, reading) for row in rows]
    told = tuple(one for one in seen if one is not None)
    more = answers.mapping(body.get("info")).get("more_records") is True
    return (told, not more) if len(told) == len(rows) else None


def _seen(kind: Kind, row: Mapping[str, object], reading: Reading) -> Seen | None:
    """A record; None if it has no id, or does not show its reference: an outcome in `data` has neither."""
    crm_id = answers.record_id(row.get("id"))
    if crm_id is None or (("Note_Content" if kind is Kind.NOTE else reading.reference) not in row):
        return None
    said, marker = answers.unmarked(answers.text(row.get("Note_Content")))
    return Seen(
        crm_id,
        marker if kind is Kind.NOTE else answers.record_id(row.get(reading.reference)),
        owner=_id(row.get("Owner")),
        contact_id=_id(row.get("Contact_Name")) if kind is Kind.OPPORTUNITY else None,
        values={"text": said} if kind is Kind.NOTE else _values(kind, row, reading.currencies),
        closed=_is_closed(row, reading.closed) if kind is Kind.OPPORTUNITY else None,
    )


def _id(lookup: object) -> str | None:
    return answers.record_id(answers.mapping(lookup).get("id"))


def _is_closed(row: Mapping[str, object], closed: frozenset[str]) -> bool | None:
    stage = answers.text(row.get("Stage"))
    return stage in closed if closed and stage else None


def _values(kind: Kind, row: Mapping[str, object], currencies: Sequence[str]) -> Mapping[str, str]:
    if kind is Kind.TASK:
        return {"text": answers.text(row.get("Subject"))}
    text = {"text": answers.text(row.get("Description"))}
    if kind is Kind.CONTACT:
        return text | {"phone": answers.text(row.get("Phone"))}
    title = {"title": answers.text(row.get("Deal_Name"))}
    return {**title, **text, **worth.shown(row.get("Amount"), row.get("Currency"), currencies)}


def matched(draft: ContactDraft, response: Response, reading: Reading, whatsapp: str | None) -> tuple[Seen, ...]:
    """The contacts that really have the draft's e-mail or number.  Raises UnreadableAnswer."""
    if is_gone(response):
        return ()
    body = answers.json_object(response) or {}
    seen = _whole(Kind.CONTACT, response, reading)
    rows = answers.rows(body.get("data")) or ()
    return tuple(one for one, row in zip(seen, rows, strict=True) if _is_same_person(draft, row, whatsapp))


def _is_same_person(draft: ContactDraft, row: Mapping[str, object], whatsapp: str | None) -> bool:
    phones = [row.get("Phone"), row.get("Mobile")]
    theirs, ours = answers.digits(answers.text(row.get(whatsapp or ""))), own_number(draft, whatsapp)
    emails = [row.get("Email"), row.get("Secondary_Email")]
    return answers.is_same_person(draft, phones=[*phones, theirs], emails=emails) or bool(ours and ours == theirs)


def _whole(kind: Kind, response: Response, reading: Reading) -> tuple[Seen, ...]:
    """All rows.  Raises UnreadableAnswer where there are more, or one cannot be judged."""
    listed = _listed(kind, response, reading)
    if listed is None or not listed[1]:
        raise UnreadableAnswer(f"status {response.status}")
    return listed[0]


def listed(contact_id: str, response: Response, reading: Reading) -> tuple[Seen, ...]:
    """The deals of a contact, those of which it only has a role left out.  Raises UnreadableAnswer."""
    if is_gone(response):
        return ()
    return tuple(one for one in _whole(Kind.OPPORTUNITY, response, reading) if one.contact_id == contact_id)


def is_active(owner: str, response: Response) -> bool | None:
    """Whether a user is active (zoho.com/crm/developer/docs/api/v8, "Get Users": `status`); None: not told."""
    if is_gone(response):
        return False
    rows = answers.rows((answers.json_object(response) or {}).get("users")) or ()
    status = [answers.text(row.get("status")) for row in rows if answers.record_id(row.get("id")) == owner]
    return status[0] == "active" if answers.succeeded(response) and status and status[0] else None


def controlled(response: Response, reference: str) -> Unsure | None:
    """None if the token works, and deals have the reference as an external field (`crm-oas`, v8.0 `fields.json`)."""
    body = answers.json_object(response)
    rows = None if body is None else answers.rows(body.get("fields"))
    if rows is None or not answers.succeeded(response):
        return _no_look(response)
    ours = [row for row in rows if row.get("api_name") == reference]
    if not ours:
        return Unsure("reference_field_missing", scope="account")
    return None if answers.mapping(ours[0].get("external")) else Unsure("reference_field_not_external", scope="account")
