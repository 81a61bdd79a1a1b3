"""What Salesforce's answers to queries show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from crm_clients import answers, worth
from crm_clients.abilities import Page
from crm_clients.base import Absent, ContactDraft, Found, Kind, Looked, Response, Seen, UnreadableAnswer, Unsure
from crm_clients.own_fields import own_number
from crm_clients.salesforce.drafts import PHONES
from crm_clients.salesforce.outcomes import code_of, error_of

SHOWN: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONTACT: ("Email", *PHONES, "Description", "MasterRecordId"),
    Kind.OPPORTUNITY: ("Name", "Description", "Amount", "IsClosed", "ContactId"),
    Kind.TASK: ("Subject", "WhatId", "IsClosed"),
    Kind.NOTE: ("Title", "Body", "ParentId"),
}
# Rows that a query asks for at most; a reference or an e-mail has a few.  `totalSize` counts no more than these.
ROWS = 200
_TITLE = re.compile(r"\[ref:([a-z0-9-]{1,64})\]")


def title(reference: str) -> str:
    """The title of a note, which is all that can be asked for: 70 characters of 80 at most."""
    return f"[ref:{reference}]"


@dataclass(frozen=True, slots=True)
class Reading:
    """What must be known of the org: the reference's field, its currencies, and where a WhatsApp number stands."""

    reference: str
    currencies: Sequence[str]
    whatsapp: str | None

    def fields(self, kind: Kind) -> tuple[str, ...]:
        """What a query asks for."""
        own = () if kind is Kind.NOTE else (self.reference,)
        currency = ("CurrencyIsoCode",) if kind is Kind.OPPORTUNITY and len(self.currencies) > 1 else ()
        whatsapp = (self.whatsapp,) if kind is Kind.CONTACT and self.whatsapp else ()
        return ("Id", "OwnerId", "IsDeleted", *own, *SHOWN[kind], *currency, *whatsapp)


def found(kind: Kind, reference: str, response: Response, reading: Reading) -> Looked:
    """The records under the reference: SOQL compares without regard to case, we with it."""
    listed = _listed(kind, response, reading)
    return _no_look(response) if listed is None else answers.under(reference, listed[0], complete=listed[1])


def was_read(kind: Kind, crm_id: str, response: Response, reading: Reading) -> Looked:
    """The record that was asked for; an id of 15 letters is the beginning of one of 18."""
    listed = _listed(kind, response, reading)
    if listed is None:
        return _no_look(response)
    seen, complete = listed
    same = [one for one in seen if one.crm_id == crm_id]
    if same:
        return Found(same[0])
    return Absent() if complete and not seen else _no_look(response)


def _no_look(response: Response) -> Unsure:
    """403 is a limit of calls, too."""
    if response.status == HTTPStatus.FORBIDDEN and code_of(error_of(response)) == "REQUEST_LIMIT_EXCEEDED":
        return Unsure("rate_limited", after=answers.retry_after(response), scope="account")
    return answers.no_look(response)


def _listed(kind: Kind, response: Response, reading: Reading) -> tuple[tuple[Seen, ...], bool] | None:
    """All rows of a query, and whether there are no more; None if it is none or a row cannot be judged."""
    body = answers.json_object(response)
    rows = None if body is None else answers.rows(body.get("records"))
    if body is None or rows is None or not answers.succeeded(response) or not isinstance(body.get("done"), bool):
        return None
    seen = [_seen(kind, row, reading) for row in rows]
    told = tuple(one for one in seen if one is not None)
    complete = body.get("done") is True and len(rows) < ROWS
    return (told, complete) if len(told) == len(rows) else None


def _seen(kind: Kind, row: Mapping[str, object], reading: Reading) -> Seen | None:
    """A record; None if it has no id, or does not show where its reference would be."""
    crm_id = answers.record_id(row.get("Id"))
    if crm_id is None or ("Title" if kind is Kind.NOTE else reading.reference) not in row:
        return None
    return Seen(
        crm_id,
        _reference(kind, row, reading.reference),
        owner=answers.record_id(row.get("OwnerId")),
        live=row.get("IsDeleted") is not True,
        contact_id=answers.record_id(row.get("ContactId")) if kind is Kind.OPPORTUNITY else None,
        values=_values(kind, row, reading.currencies),
        closed=_is(row.get("IsClosed")) if kind is Kind.OPPORTUNITY else None,
        merged_into=answers.record_id(row.get("MasterRecordId")),
    )


def _reference(kind: Kind, row: Mapping[str, object], field: str) -> str | None:
    if kind is not Kind.NOTE:
        return answers.record_id(row.get(field))
    named = _TITLE.fullmatch(answers.text(row.get("Title")))
    return None if named is None else named[1]


def _is(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _values(kind: Kind, row: Mapping[str, object], currencies: Sequence[str]) -> Mapping[str, str]:
    match kind:
        case Kind.CONTACT:
            return {"text": answers.text(row.get("Description")), "phone": answers.text(row.get("Phone"))}
        case Kind.TASK:
            return {"text": answers.text(row.get("Subject"))}
        case Kind.NOTE:
            return {"text": answers.text(row.get("Body"))}
        case Kind.OPPORTUNITY:
            texts = {"title": answers.text(row.get("Name")), "text": answers.text(row.get("Description"))}
            return {**texts, **worth.shown(row.get("Amount"), row.get("CurrencyIsoCode"), currencies)}


def matched(draft: ContactDraft, response: Response, reading: Reading) -> tuple[Seen, ...]:
    """The contacts that really have the draft's e-mail or number.  Raises UnreadableAnswer."""
    seen = _whole(Kind.CONTACT, response, reading)
    rows = answers.rows((answers.json_object(response) or {}).get("records")) or ()
    same = (one for one, row in zip(seen, rows, strict=True) if _is_same_person(draft, row, reading.whatsapp))
    return tuple(one for one in same if one.live)


def _is_same_person(draft: ContactDraft, row: Mapping[str, object], whatsapp: str | None) -> bool:
    theirs, ours = answers.digits(answers.text(row.get(whatsapp or ""))), own_number(draft, whatsapp)
    phones = [*(row.get(name) for name in PHONES), theirs]
    return answers.is_same_person(draft, phones=phones, emails=[row.get("Email")]) or bool(ours and ours == theirs)


def _whole(kind: Kind, response: Response, reading: Reading) -> tuple[Seen, ...]:
    """All rows.  Raises UnreadableAnswer where there are more, or one cannot be judged."""
    listed = _listed(kind, response, reading)
    if listed is None or not listed[1]:
        raise UnreadableAnswer(f"status {response.status}")
    return listed[0]


def listed(contact_id: str, response: Response, reading: Reading) -> tuple[Seen, ...]:
    """The opportunities whose primary contact it is.  Raises UnreadableAnswer."""
    return tuple(one for one in _whole(Kind.OPPORTUNITY, response, reading) if one.contact_id == contact_id)


def page(kind: Kind, response: Response, reading: Reading) -> Page:
    """One page of all records, after which another begins if it is full.  Raises UnreadableAnswer."""
    listed = _listed(kind, response, reading)
    if listed is None:
        raise UnreadableAnswer(f"status {response.status}")
    seen, complete = listed
    return Page(seen, None if complete or not seen else seen[-1].crm_id)


def is_active(response: Response) -> bool | None:
    """Whether the user that a query named is active; None: not told."""
    body = answers.json_object(response) or {}
    rows = answers.rows(body.get("records"))
    if rows is None or not answers.succeeded(response) or body.get("done") is not True:
        return None
    return _is(rows[0].get("IsActive")) if rows else False


def controlled(response: Response) -> Unsure | None:
    """None if the token works and opportunities have the reference, as far as the token sees."""
    body = answers.json_object(response) or {}
    if answers.succeeded(response) and answers.rows(body.get("records")) is not None:
        return None
    if response.status == HTTPStatus.BAD_REQUEST and code_of(error_of(response)) == "INVALID_FIELD":
        return Unsure("reference_field_missing", scope="account")
    return _no_look(response)
