"""What Tryton's answers to looks show: a list of records, each with the fields that were asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from crm_clients import answers
from crm_clients.abilities import Page
from crm_clients.base import Absent, ContactDraft, Found, Kind, Looked, Response, Seen, UnreadableAnswer, Unsure
from crm_clients.tryton.drafts import Place

PAGE = 500  # records on a page of all

# The states that end an opportunity (trytond_sale_opportunity 8.2.0, `state`).
CLOSED = frozenset({"converted", "won", "lost", "cancelled"})

# An identifier without a type that may be a reference of ours.
_REFERENCE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")

FIELDS: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONTACT: (
        *("name", "code", "active", "identifiers.code", "identifiers.type"),
        *("contact_mechanisms.type", "contact_mechanisms.value", "contact_mechanisms.value_compact"),
    ),
    Kind.OPPORTUNITY: (
        *("reference", "description", "comment", "party", "employee", "state", "amount", "currency.code"),
    ),
    Kind.TASK: ("name", "comment"),
    Kind.NOTE: ("message", "resource"),
}

# Which party was kept where this one was replaced (trytond_party 8.2.0, `replaced_by`).
MERGED = "replaced_by"


def asked(kind: Kind) -> tuple[str, ...]:
    """What a look asks for; that a party was replaced is no news where the right to see it is missing."""
    return (*FIELDS[kind], MERGED) if kind is Kind.CONTACT else FIELDS[kind]


@dataclass(frozen=True, slots=True)
class Sight:
    """How a look at records of this kind is read.  `reference`: the one that is looked for, None: whatever is there."""

    kind: Kind
    place: Place
    reference: str | None = None


def found(sight: Sight, reference: str, response: Response) -> Looked:
    """What stands under a reference, which is compared on our side: an unknown parameter lists everything."""
    seen = _seen(sight, response)
    return answers.no_look(response) if seen is None else answers.under(reference, seen, complete=True)


def was_read(sight: Sight, crm_id: str, response: Response) -> Looked:
    """The one record that was asked for."""
    seen = _seen(sight, response)
    if seen is None:
        return answers.no_look(response)
    if not seen:
        return Absent()
    return Found(seen[0]) if [one.crm_id for one in seen] == [crm_id] else Unsure("unreadable")


def listed(sight: Sight, contact_id: str, response: Response) -> tuple[Seen, ...]:
    """All opportunities of one contact.  Raises UnreadableAnswer."""
    return tuple(one for one in _readable(sight, response) if one.contact_id == contact_id)


def page(sight: Sight, response: Response) -> Page:
    """One page of all records with a reference.  Raises UnreadableAnswer."""
    seen = _readable(sight, response)
    return Page(seen, seen[-1].crm_id if len(seen) >= PAGE else None)


def _readable(sight: Sight, response: Response) -> tuple[Seen, ...]:
    seen = _seen(sight, response)
    if seen is None:
        raise UnreadableAnswer(f"status {response.status}")
    return seen


def matched(sight: Sight, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
    """The contacts that really have the draft's phone or email.  Raises UnreadableAnswer."""
    rows = _rows(response)
    if rows is None:
        raise UnreadableAnswer(f"status {response.status}")
    same = [_row(sight, row) for row in rows if _is_same_person(draft, row)]
    return tuple(one for one in same if one is not None and one.live)


def _is_same_person(draft: ContactDraft, row: Mapping[str, object]) -> bool:
    reached = answers.rows(row.get("contact_mechanisms")) or ()
    emails = [each.get("value") for each in reached if each.get("type") == "email"]
    others = [each for each in reached if each.get("type") != "email"]
    phones = [each.get(name) for each in others for name in ("value_compact", "value")]
    return answers.is_same_person(draft, phones=phones, emails=emails)


def is_employee(owner: str, response: Response) -> bool | None:
    """Whether somebody may still own something; None: the answer does not tell."""
    rows = _rows(response)
    if rows == ():
        return False
    active = rows[0].get("active") if rows and answers.record_id(rows[0].get("id")) == owner else None
    return active if isinstance(active, bool) else None


def controlled(response: Response) -> Unsure | None:
    """None if the key works and the module is there: a list, empty as it should be."""
    return answers.no_look(response) if _rows(response) is None else None


# ---------------------------------------------------------------------------------------------------------------------


def _rows(response: Response) -> tuple[Mapping[str, object], ...] | None:
    return answers.json_rows(response) if response.status == 200 else None  # noqa: PLR2004 - a list is 200 or none


def _seen(sight: Sight, response: Response) -> tuple[Seen, ...] | None:
    """All rows of an answer; None if it is no such list or a row cannot be judged."""
    rows = _rows(response)
    seen = [_row(sight, row) for row in rows or ()]
    told = tuple(one for one in seen if one is not None)
    return told if rows is not None and len(told) == len(rows) else None


def _row(sight: Sight, row: Mapping[str, object]) -> Seen | None:
    """A record; None if it has no id or hides a field that we asked for, as Tryton does where the right is missing."""
    crm_id = answers.record_id(row.get("id"))
    if crm_id is None or not {name.partition(".")[0] for name in FIELDS[sight.kind]} <= row.keys():
        return None
    reference, values = _told(sight, row)
    return Seen(
        crm_id,
        reference,
        owner=answers.record_id(row.get("employee")),
        live=row.get("active") is not False,
        contact_id=answers.record_id(row.get("party")),
        values=values,
        closed=answers.text(row.get("state")) in CLOSED if sight.kind is Kind.OPPORTUNITY else None,
        merged_into=answers.record_id(row.get(MERGED)),
    )


def _told(sight: Sight, row: Mapping[str, object]) -> tuple[str | None, Mapping[str, str]]:
    """The reference, and the guarded fields."""
    match sight.kind:
        case Kind.CONTACT:
            return _of_contact(sight, row), {"text": answers.text(row.get("name"))}
        case Kind.OPPORTUNITY:
            return answers.record_id(row.get("reference")), _of_opportunity(row)
        case Kind.TASK:
            return answers.unmarked(answers.text(row.get("comment")))[1], {"text": answers.text(row.get("name"))}
        case Kind.NOTE:
            said, reference = answers.unmarked(answers.text(row.get("message")))
            return reference, {"text": said}


def _of_contact(sight: Sight, row: Mapping[str, object]) -> str | None:
    """The party's code, or the identifier that is looked for, or the first that may be a reference."""
    if sight.place == "code":
        return answers.record_id(row.get("code"))
    untyped = [each for each in answers.rows(row.get("identifiers")) or () if each.get("type") is None]
    codes = [answers.text(each.get("code")) for each in untyped]
    if sight.reference in codes:
        return sight.reference
    return next((code for code in codes if _REFERENCE.fullmatch(code)), None)


def _of_opportunity(row: Mapping[str, object]) -> Mapping[str, str]:
    worth = answers.mapping(row.get("amount")).get("decimal")
    return {
        "title": answers.text(row.get("description")),
        "text": answers.text(row.get("comment")),
        "amount": answers.amount(worth) or "",
        "currency": answers.text(answers.mapping(row.get("currency")).get("code")),
    }
