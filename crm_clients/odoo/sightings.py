"""What Odoo's answers to looks show.  Odoo writes `false` for whatever is empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus

from crm_clients import answers, rich_text
from crm_clients.abilities import Page
from crm_clients.base import Absent, ContactDraft, Found, Kind, Looked, Response, Seen, UnreadableAnswer, Unsure
from crm_clients.odoo.drafts import revenue_field
from crm_clients.odoo.outcomes import no_look
from crm_clients.odoo.wire import Raised, Value, Wire

PAGE = 500  # the most rows that a look asks for
CERTAIN = 100  # per cent: a lead of this probability is won, one of 0 that is archived is lost

# `phone_sanitized` is E.164, made by Odoo from what people typed (phone_validation, which crm needs since 13.0).
FIRST_WITH_SANITIZED = 13

UNKNOWN_FIELD = "Invalid field"  # of a filter or a row (seen on 17.0, 2026-11-29)


@dataclass(frozen=True, slots=True)
class Sight:
    """How a look at records of this kind is read."""

    wire: Wire
    kind: Kind
    reference_field: str
    currency: str | None


def fields(kind: Kind, version: int, reference_field: str) -> list[str]:
    """What a look at records of this kind asks for."""
    match kind:
        case Kind.CONTACT:
            sanitized = ["phone_sanitized"] if version >= FIRST_WITH_SANITIZED else []
            return [reference_field, "name", "email", "phone", "user_id", "active", "comment", *sanitized]
        case Kind.OPPORTUNITY:
            known = [reference_field, "name", "description", "user_id", "partner_id", "active", "probability"]
            return [*known, revenue_field(version)]
        case Kind.TASK:
            return [reference_field, "summary", "user_id", "res_id"]
        case Kind.NOTE:
            return ["body", "res_id"]


def found(sight: Sight, reference: str, response: Response) -> Looked:
    """What stands under a reference, which is compared on our side."""
    seen = _seen(sight, response)
    if seen is None:
        return no_look(sight.wire.read(response), response)
    return answers.under(reference, seen, complete=len(seen) < PAGE)


def was_read(sight: Sight, crm_id: str, response: Response) -> Looked:
    """The one record that was asked for; archived ones are asked for too."""
    seen = _seen(sight, response)
    if seen is None:
        return no_look(sight.wire.read(response), response)
    if not seen:
        return Absent()
    return Found(seen[0]) if [one.crm_id for one in seen] == [crm_id] else Unsure("unreadable")


def listed(sight: Sight, contact_id: str, response: Response) -> tuple[Seen, ...]:
    """All opportunities of one contact.  Raises UnreadableAnswer."""
    seen = _seen(sight, response)
    if seen is None or len(seen) >= PAGE:
        raise UnreadableAnswer(f"status {response.status}")
    return tuple(one for one in seen if one.contact_id == contact_id)


def page(sight: Sight, response: Response) -> Page:
    """One page of all records with a reference.  Raises UnreadableAnswer."""
    seen = _seen(sight, response)
    if seen is None:
        raise UnreadableAnswer(f"status {response.status}")
    return Page(seen, seen[-1].crm_id if len(seen) >= PAGE else None)


def matched(sight: Sight, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
    """The contacts that really have the draft's phone or email.  Raises UnreadableAnswer."""
    rows = _rows(sight, response)
    if rows is None:
        raise UnreadableAnswer(f"status {response.status}")
    same = [_row(sight, row) for row in rows if _is_same_person(draft, row)]
    return tuple(one for one in same if one is not None and one.live)


def _is_same_person(draft: ContactDraft, row: Mapping[str, object]) -> bool:
    phones = (row.get("phone_sanitized"), row.get("phone"))
    return answers.is_same_person(draft, phones=phones, emails=(row.get("email"),))


def is_user(wire: Wire, owner: str, response: Response) -> bool | None:
    """Whether somebody may still own something; None: the answer does not tell."""
    told = wire.read(response)
    rows = answers.rows(told.value) if isinstance(told, Value) else None
    if rows == ():
        return False
    active = rows[0].get("active") if rows and answers.record_id(rows[0].get("id")) == owner else None
    return active if isinstance(active, bool) else None


def controlled(wire: Wire, response: Response) -> Unsure | None:
    """None if the key works, the CRM app is installed, and the custom field is there for all three models.

    An unknown field is `builtins.ValueError`, which JSON-2 answers with 500: this one call alone reads such an answer.
    """
    if isinstance(told := wire.read(response), Value):
        return None if answers.rows(told.value) is not None else answers.no_look(response)
    of_500 = wire.read(Response(HTTPStatus.BAD_REQUEST, {}, response.body))
    raised = told or (of_500 if response.status == HTTPStatus.INTERNAL_SERVER_ERROR else None)
    if isinstance(raised, Raised) and UNKNOWN_FIELD in raised.message:
        return Unsure("reference_field_missing", scope="account")
    return no_look(told, response)


# ---------------------------------------------------------------------------------------------------------------------


def _rows(sight: Sight, response: Response) -> tuple[Mapping[str, object], ...] | None:
    told = sight.wire.read(response)
    return answers.rows(told.value) if isinstance(told, Value) else None


def _seen(sight: Sight, response: Response) -> tuple[Seen, ...] | None:
    """All rows of an answer; None if it is no such list or a row cannot be judged."""
    rows = _rows(sight, response)
    seen = [_row(sight, row) for row in rows or ()]
    told = tuple(one for one in seen if one is not None)
    return told if rows is not None and len(told) == len(rows) else None


def _row(sight: Sight, row: Mapping[str, object]) -> Seen | None:
    """A record; None if it has no id, or does not show the field of its reference."""
    crm_id = answers.record_id(row.get("id"))
    if crm_id is None or (sight.kind is not Kind.NOTE and sight.reference_field not in row):
        return None
    values, reference = _values(sight, row)
    closed = _is_closed(row) if sight.kind is Kind.OPPORTUNITY else None
    return Seen(
        crm_id,
        reference,
        owner=_linked(row.get("user_id")),
        live=row.get("active") is not False or closed is True,
        contact_id=_linked(row.get("partner_id")),
        values=values,
        closed=closed,
    )


def _is_closed(row: Mapping[str, object]) -> bool | None:
    """A lost lead is archived with a probability of 0; one that is archived with another one is put aside."""
    probability = row.get("probability")
    if isinstance(probability, bool) or not isinstance(probability, int | Decimal):
        return None
    return probability == CERTAIN or (probability == 0 and row.get("active") is False)


def _linked(value: object) -> str | None:
    """A link is `[number, name]`, or `false`."""
    return answers.record_id(value[0]) if isinstance(value, list) and value else None


def _values(sight: Sight, row: Mapping[str, object]) -> tuple[Mapping[str, str], str | None]:
    """The guarded fields, and the reference."""
    reference = answers.record_id(row.get(sight.reference_field))
    match sight.kind:
        case Kind.OPPORTUNITY:
            # Without an amount it is 0, as nobody would type it.
            worth = answers.amount(row.get(revenue_field(sight.wire.version)))
            told = {"amount": "" if worth in {None, "0"} else worth or "", "currency": sight.currency or ""}
            return {"title": answers.text(row.get("name")), "text": _plain(row.get("description"))} | told, reference
        case Kind.CONTACT:
            return {"text": _plain(row.get("comment")), "phone": answers.text(row.get("phone"))}, reference
        case Kind.TASK:
            return {"text": answers.text(row.get("summary"))}, reference
        case Kind.NOTE:
            said, marker = answers.unmarked(_plain(row.get("body")))
            return {"text": said}, marker


def _plain(value: object) -> str:
    return rich_text.read(answers.text(value))
