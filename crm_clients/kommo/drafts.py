"""Drafts as Kommo's API wants them: a list of one record, with custom fields by their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from crm_clients.answers import marked
from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft
from crm_clients.own_fields import own_fields

LONGEST_NAME = 255  # nobody publishes one [INF]
NO_NAME = "-"

GUARDED: Mapping[Kind, frozenset[str]] = {
    Kind.CONTACT: frozenset(),
    Kind.OPPORTUNITY: frozenset({"title", "text", "amount", "currency"}),
    Kind.TASK: frozenset(),
    Kind.NOTE: frozenset(),
}


@dataclass(frozen=True, slots=True)
class Fields:
    """Numbers of custom fields, and the account's currency (None: not told).

    `contact` and `lead` keep the reference, `text` is a long text of leads, which have none of their own.
    """

    contact: int
    lead: int
    text: int
    currency: str | None = None


def body(draft: Draft, reference: str, fields: Fields) -> list[Mapping[str, object]]:
    """The JSON of a create, without what is not known."""
    return [{name: value for name, value in _made(draft, reference, fields).items() if value is not None}]


def _made(draft: Draft, reference: str, fields: Fields) -> dict[str, object]:
    match draft:
        case ContactDraft():
            return _contact(draft, reference, fields)
        case OpportunityDraft():
            return _lead(draft, reference, fields)
        case TaskDraft():
            return _task(draft, reference)
        case NoteDraft():
            return {"note_type": "common", "params": {"text": marked(draft.text, reference)}}


def _contact(draft: ContactDraft, reference: str, fields: Fields) -> dict[str, object]:
    reach = [("PHONE", draft.phone), ("EMAIL", draft.email)]
    values = [{"field_code": code, "values": [{"value": value, "enum_code": "WORK"}]} for code, value in reach if value]
    custom = [*values, *_own(draft), _custom(fields.contact, reference)]
    name = _line(draft.name)[:LONGEST_NAME] or NO_NAME
    return {"name": name, "responsible_user_id": number(draft.owner), "custom_fields_values": custom}


def _lead(draft: OpportunityDraft, reference: str, fields: Fields) -> dict[str, object]:
    text, price = _worth(draft, fields.currency)
    said = [_custom(fields.text, text)] if text else []
    custom = [*_own(draft), *said, _custom(fields.lead, reference)]
    place = {"pipeline_id": number(draft.pipeline), "status_id": number(draft.stage)}
    contacts = {"contacts": [{"id": number(draft.contact_id)}]} if draft.contact_id else None
    what = {"name": _line(draft.title)[:LONGEST_NAME] or NO_NAME, "price": price}
    owner = {"responsible_user_id": number(draft.owner)}
    return {**what, **place, **owner, "custom_fields_values": custom, "_embedded": contacts}


def _worth(draft: OpportunityDraft, currency: str | None) -> tuple[str, int | None]:
    """Text and price.  A price is a whole number in the account's currency: a foreign one stands in the text."""
    said = clean(draft.text)
    if draft.amount is None:
        return said, None
    if draft.currency not in {None, currency}:
        return f"{draft.currency} {draft.amount:f}\n\n{said}", None
    return said, whole(draft.amount)


def whole(amount: Decimal) -> int:
    """Rounded as people round."""
    return int(amount.quantize(Decimal(1), ROUND_HALF_UP))


def _task(draft: TaskDraft, reference: str) -> dict[str, object]:
    """A task has one text, which ends with the reference."""
    place = {"entity_type": "leads", "entity_id": number(draft.opportunity_id)}
    what = {"text": marked(_line(draft.title), reference), "complete_till": int(draft.due_at.timestamp())}
    kind = number(draft.type) if (draft.type or "").isdigit() else None
    return {**what, **place, "task_type_id": kind, "responsible_user_id": number(draft.owner)}


def _own(draft: ContactDraft | OpportunityDraft) -> list[Mapping[str, object]]:
    """The account's own fields, by number or by code."""
    own = [(name, value) for name, value in own_fields(draft) if name != "text"]
    return [_custom(int(name) if name.isdigit() else name, value) for name, value in own]


def _custom(field: int | str, value: str) -> Mapping[str, object]:
    return {"field_id" if isinstance(field, int) else "field_code": field, "values": [{"value": value}]}


def number(crm_id: str | None) -> object:
    """Ids are numbers; what is none is sent as it is, and refused."""
    if not crm_id:
        return None
    return int(crm_id) if crm_id.isascii() and crm_id.isdigit() else crm_id


def changes(kind: Kind, asked: Mapping[str, str], fields: Fields) -> Mapping[str, object]:
    """The JSON of an update.  Raises ValueError for a field that is not guarded for this kind."""
    unknown = asked.keys() - GUARDED[kind]
    if unknown:
        raise ValueError(f"not a guarded field of a {kind}: {', '.join(sorted(unknown))}")
    sent: dict[str, object] = {}
    if "title" in asked:
        sent["name"] = _line(asked["title"])[:LONGEST_NAME] or NO_NAME
    if "text" in asked:
        sent["custom_fields_values"] = [_custom(fields.text, clean(asked["text"]))]
    if asked.get("amount") and asked.get("currency") in {None, "", fields.currency}:
        sent["price"] = whole(Decimal(asked["amount"]))
    return sent


def _line(value: str) -> str:
    return " ".join(clean(value).split())
