"""Drafts as Tryton's REST API wants them; a list of `["create", [...]]` makes records below the new one."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from crm_clients.answers import marked
from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft
from crm_clients.own_fields import own_fields

# Where a contact's reference stands: in an identifier without a type, which may repeat, or as the party's unique code.
Place = Literal["identifier", "code"]

# Names are not required, but a party without one is not to be recognised.
NO_NAME = "-"

GUARDED: Mapping[Kind, Mapping[str, str]] = {
    Kind.CONTACT: {},
    Kind.OPPORTUNITY: {"title": "description", "text": "comment", "amount": "amount", "currency": "currency"},
    Kind.TASK: {},
    Kind.NOTE: {},
}


def body(draft: Draft, reference: str, place: Place, currency: str | None) -> Mapping[str, object]:
    """The JSON of a create, without the fields of which nothing is known."""
    return {name: value for name, value in _fields(draft, reference, place, currency).items() if value}


def _fields(draft: Draft, reference: str, place: Place, currency: str | None) -> dict[str, object]:
    match draft:
        case ContactDraft():
            return _contact(draft, reference, place)
        case OpportunityDraft():
            return _opportunity(draft, reference, currency)
        case TaskDraft():
            return _task(draft, reference)
        case NoteDraft():
            return {"resource": link(draft.opportunity_id), "message": marked(draft.text, reference)}


def _contact(draft: ContactDraft, reference: str, place: Place) -> dict[str, object]:
    reach = [("phone", draft.phone), ("email", draft.email)]
    mechanisms = [{"type": kind, "value": value} for kind, value in reach if value]
    borne: dict[str, object] = {"code": reference}
    if place == "identifier":
        borne = {"identifiers": [["create", [{"code": reference}]]]}
    own: dict[str, object] = {name: value for name, value in own_fields(draft) if name != "text"}
    reached = [["create", mechanisms]] if mechanisms else None
    return {"name": _line(draft.name) or NO_NAME, "contact_mechanisms": reached, **own, **borne}


def _opportunity(draft: OpportunityDraft, reference: str, currency: str | None) -> dict[str, object]:
    place = {"party": number(draft.contact_id), "employee": number(draft.owner or ""), "state": draft.stage}
    own = dict(own_fields(draft))
    return {"description": _line(draft.title), **place, **own, **_worth(draft, currency), "reference": reference}


def _worth(draft: OpportunityDraft, currency: str | None) -> dict[str, object]:
    """The amount, in the company's currency; one in another stands in the text, since Tryton names them by numbers."""
    said = clean(draft.text)
    if draft.amount is None:
        return {"comment": said}
    if draft.currency in {None, currency}:
        # More decimals than the currency has are refused.
        return {"comment": said, "amount": format(draft.amount, ".2f")}
    return {"comment": f"{draft.currency} {draft.amount:f}\n\n{said}"}


def _task(draft: TaskDraft, reference: str) -> dict[str, object]:
    """Tryton's tasks know neither an opportunity nor an assignee nor a due day: all of it stands in the comment.

    A backslash parts the names of a tree of tasks, and is refused.
    """
    lines = [link(draft.opportunity_id), f"{draft.due_at:%Y-%m-%d %H:%M %Z}"]
    if draft.owner:
        lines.append(f"company.employee,{draft.owner}")
    name = _line(draft.title).replace("\\", "/") or NO_NAME
    return {"type": "task", "name": name, "comment": marked("\n".join(lines), reference)}


def link(opportunity_id: str) -> str:
    """An opportunity as Tryton writes a reference to it."""
    return f"sale.opportunity,{opportunity_id}"


def number(crm_id: str) -> object:
    """Ids are numbers; what is none is sent as it is, and refused."""
    return int(crm_id) if crm_id.isascii() and crm_id.isdigit() else crm_id


def changes(kind: Kind, asked: Mapping[str, str], currency: str | None) -> Mapping[str, str]:
    """The JSON of an update.  Raises ValueError for a field that is not guarded for this kind."""
    unknown = asked.keys() - GUARDED[kind].keys()
    if unknown:
        raise ValueError(f"not a guarded field of a {kind}: {', '.join(sorted(unknown))}")
    sent = {GUARDED[kind][name]: clean(value) for name, value in asked.items() if name != "currency"}
    if "description" in sent:
        sent["description"] = _line(sent["description"])
    worth = sent.pop("amount", "")
    if worth and asked.get("currency") in {None, "", currency}:
        sent["amount"] = format(Decimal(worth), ".2f")
    return sent


def _line(value: str) -> str:
    return " ".join(clean(value).split())
