"""Drafts as Bitrix24's methods want them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from crm_clients.answers import marked
from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft
from crm_clients.own_fields import own_fields

# Types of CRM objects ("crm.item.add", `entityTypeId`).
ENTITY_TYPES: Mapping[Kind, int] = {Kind.CONTACT: 3, Kind.OPPORTUNITY: 2}

# Says, beside the reference, from which outside system a record is.
ORIGINATOR = "intake"

LONGEST_TITLE = 255
NO_NAME = "-"

GUARDED: Mapping[Kind, Mapping[str, str]] = {
    Kind.CONTACT: {"text": "comments"},
    Kind.OPPORTUNITY: {"title": "title", "text": "comments", "amount": "opportunity", "currency": "currencyId"},
    Kind.TASK: {},
    Kind.NOTE: {},
}


def body(draft: Draft, reference: str, currencies: Sequence[str], user: int) -> Mapping[str, object]:
    """The JSON of a create.  `user` makes tasks, and gets those of deals without an owner."""
    match draft:
        case ContactDraft():
            return _item(Kind.CONTACT, _contact(draft, reference))
        case OpportunityDraft():
            return _item(Kind.OPPORTUNITY, _deal(draft, reference, currencies))
        case TaskDraft():
            return {"fields": _task(draft, reference, user)}
        case NoteDraft():
            place: dict[str, object] = {"ENTITY_ID": number(draft.opportunity_id), "ENTITY_TYPE": "deal"}
            return {"fields": {**place, "COMMENT": marked(draft.text, reference)}}


def _item(kind: Kind, fields: Mapping[str, object]) -> Mapping[str, object]:
    known = {name: each for name, each in fields.items() if each not in (None, "", [])}
    return {"entityTypeId": ENTITY_TYPES[kind], "fields": known}


def _contact(draft: ContactDraft, reference: str) -> dict[str, object]:
    first, _, last = _line(draft.name).partition(" ")
    reach = [("PHONE", draft.phone), ("EMAIL", draft.email)]
    fm = [{"typeId": kind, "valueType": "WORK", "value": value} for kind, value in reach if value]
    own = {("comments" if name == "text" else name): value for name, value in own_fields(draft)}
    who: dict[str, object] = {"name": first or NO_NAME, "lastName": last, "assignedById": number(draft.owner or "")}
    return {**who, "fm": fm, **own, **_origin(reference)}


def _deal(draft: OpportunityDraft, reference: str, currencies: Sequence[str]) -> dict[str, object]:
    what: dict[str, object] = {"title": _line(draft.title)[:LONGEST_TITLE] or NO_NAME}
    contacts = [number(draft.contact_id)] if draft.contact_id else []
    place: dict[str, object] = {"contactIds": contacts, "assignedById": number(draft.owner or "")}
    stage: dict[str, object] = {"categoryId": number(draft.pipeline or ""), "stageId": draft.stage}
    return {**what, **place, **stage, **_worth(draft, currencies), **dict(own_fields(draft)), **_origin(reference)}


def _origin(reference: str) -> dict[str, object]:
    return {"originatorId": ORIGINATOR, "originId": reference}


def _worth(draft: OpportunityDraft, currencies: Sequence[str]) -> dict[str, object]:
    """An amount in a currency that the CRM does not have stands in the text."""
    said = clean(draft.text)
    if draft.amount is None:
        return {"comments": said}
    if draft.currency is None or draft.currency in currencies:
        return {"comments": said, "opportunity": float(draft.amount), "currencyId": draft.currency}
    return {"comments": f"{draft.currency} {draft.amount:f}\n\n{said}"}


def _task(draft: TaskDraft, reference: str, user: int) -> dict[str, object]:
    """`xmlId` is not among the filters, so that the description says the reference, too."""
    title = _line(draft.title)[:LONGEST_TITLE] or NO_NAME
    who: dict[str, object] = {"creatorId": user, "responsibleId": number(draft.owner or "") or user}
    place: dict[str, object] = {"crmItemIds": [f"D_{draft.opportunity_id}"], "deadline": draft.due_at.isoformat()}
    return {"title": title, **who, **place, "xmlId": reference, "description": marked("", reference).strip()}


def number(crm_id: str) -> object:
    """Ids are numbers; what is none is sent as it is, and refused.  None for ""."""
    if not crm_id:
        return None
    return int(crm_id) if crm_id.isascii() and crm_id.isdigit() else crm_id


def changes(kind: Kind, asked: Mapping[str, str], currencies: Sequence[str]) -> Mapping[str, object]:
    """The fields of an update.  Raises ValueError for one that is not guarded for this kind."""
    unknown = asked.keys() - GUARDED[kind].keys()
    if unknown:
        raise ValueError(f"not a guarded field of a {kind}: {', '.join(sorted(unknown))}")
    sent: dict[str, object] = {}
    if "title" in asked:
        sent["title"] = _line(asked["title"])[:LONGEST_TITLE] or NO_NAME
    if "text" in asked:
        sent["comments"] = clean(asked["text"])
    currency = asked.get("currency") or None
    if asked.get("amount") and (currency is None or currency in currencies):
        sent["opportunity"] = float(Decimal(asked["amount"]))
        sent |= {} if currency is None else {"currencyId": currency}
    return sent


def _line(value: str) -> str:
    return " ".join(clean(value).split())
