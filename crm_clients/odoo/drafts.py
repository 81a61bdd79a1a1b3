"""Drafts as rows for Odoo's own import (`load`), which makes a record and its external id in one transaction.

Every cell of such a row is a text; a column `field/.id` names another record by its number, `field/id` by its
external id, `field` by its name (`odoo/addons/base/models/ir_fields.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

from crm_clients import rich_text
from crm_clients.answers import marked
from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft
from crm_clients.own_fields import own_fields

MODELS: Mapping[Kind, str] = {
    Kind.CONTACT: "res.partner",
    Kind.OPPORTUNITY: "crm.lead",
    Kind.TASK: "mail.activity",
    Kind.NOTE: "mail.message",
}

# Names are required, and a lead may have none.
NO_NAME = "-"

# Odoo knows no longest text; this one is far beyond what a lead says.
LONGEST_TEXT = 200_000

# `planned_revenue` before 13.0, and plain text before 15.0.
FIRST_WITH_EXPECTED_REVENUE = 13
FIRST_WITH_HTML = 15

# A type in one word is one of those that Odoo comes with.
ACTIVITY = "mail.mail_activity_data_{}"
DEFAULT_ACTIVITY = "todo"


def revenue_field(version: int) -> str:
    """What a lead's amount is called."""
    return "expected_revenue" if version >= FIRST_WITH_EXPECTED_REVENUE else "planned_revenue"


def row(draft: Draft, reference: str, version: int, currency: str | None) -> dict[str, str]:
    """Column and cell of everything that is known; only a note's has its reference."""
    return {column: cell for column, cell in _cells(draft, reference, version, currency).items() if cell}


def _cells(draft: Draft, reference: str, version: int, currency: str | None) -> dict[str, str]:
    match draft:
        case ContactDraft():
            return _contact(draft, version)
        case OpportunityDraft():
            return _opportunity(draft, version, currency)
        case TaskDraft():
            return _task(draft)
        case NoteDraft():
            return _note(draft, reference)


def _contact(draft: ContactDraft, version: int) -> dict[str, str]:
    reach = {"phone": draft.phone or "", "email": clean(draft.email), "company_name": _line(draft.company or "")}
    own = {("comment" if name == "text" else name): value for name, value in own_fields(draft)}
    if "comment" in own:
        own["comment"] = long(own["comment"], version)
    return {"name": _line(draft.name) or NO_NAME, **reach, **_link("user_id", draft.owner), **own}


def _opportunity(draft: OpportunityDraft, version: int, currency: str | None) -> dict[str, str]:
    what = {"name": _line(draft.title) or NO_NAME, "type": "opportunity"}
    place = {**_link("partner_id", draft.contact_id), **_link("user_id", draft.owner)}
    stage = {**_link("team_id", draft.pipeline), **_link("stage_id", draft.stage)}
    return {**what, **place, **stage, **_worth(draft, version, currency), **dict(own_fields(draft))}


def _worth(draft: OpportunityDraft, version: int, currency: str | None) -> dict[str, str]:
    """A lead's amount is in its company's currency, always: one in another stands in the text."""
    said = clean(draft.text)
    if draft.amount is None:
        return {"description": long(said, version)}
    if draft.currency in {None, currency}:
        return {"description": long(said, version), revenue_field(version): format(draft.amount, "f")}
    return {"description": long(f"{draft.currency} {draft.amount:f}\n\n{said}", version)}


def _task(draft: TaskDraft) -> dict[str, str]:
    """An activity has a day only: the hour stands in its note."""
    kind = draft.type or DEFAULT_ACTIVITY
    kind = ACTIVITY.format(kind) if kind.isalpha() else kind
    due = {"date_deadline": draft.due_at.date().isoformat(), "note": draft.due_at.isoformat(" ", "minutes")}
    place = {"res_model_id/id": "crm.model_crm_lead", "res_id": draft.opportunity_id}
    return {"summary": _line(draft.title) or NO_NAME, **_link("activity_type_id", kind), **due, **place,
            **_link("user_id", draft.owner)}  # fmt: skip


def _note(draft: NoteDraft, reference: str) -> dict[str, str]:
    """An internal note: followers are not written to."""
    place = {"model": "crm.lead", "res_id": draft.opportunity_id}
    kind = {"message_type": "comment", "subtype_id/id": "mail.mt_note"}
    said_at = {} if draft.said_at is None else {"date": f"{draft.said_at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"}
    return {"body": _html(marked(draft.text, reference)), **place, **kind, **said_at}


def _link(field: str, value: str | None) -> dict[str, str]:
    """Another record, by its number, its external id or its name."""
    if not value:
        return {}
    if value.isdigit():
        return {f"{field}/.id": value}
    return {f"{field}/id": value} if "." in value and " " not in value else {field: value}


def long(text: str, version: int) -> str:
    """A long text as this version keeps it."""
    return _html(text) if version >= FIRST_WITH_HTML else text


def _html(text: str) -> str:
    return f"<p>{rich_text.written(text, LONGEST_TEXT)}</p>" if text else ""


def changes(kind: Kind, asked: Mapping[str, str], version: int, currency: str | None) -> dict[str, object]:
    """The values of a `write`.  Raises ValueError for a field that is not guarded for this kind."""
    known = {Kind.CONTACT: {"text", "phone"}, Kind.OPPORTUNITY: {"title", "text", "amount", "currency"}}.get(
        kind, set()
    )
    if unknown := asked.keys() - known:
        raise ValueError(f"not a guarded field of a {kind}: {', '.join(sorted(unknown))}")
    sent: dict[str, object] = {}
    if "title" in asked:
        sent["name"] = _line(asked["title"]) or NO_NAME
    if "text" in asked:
        sent["comment" if kind is Kind.CONTACT else "description"] = long(clean(asked["text"]), version)
    if "phone" in asked:
        sent["phone"] = asked["phone"]
    if asked.get("amount") and asked.get("currency") in {None, "", currency}:
        sent[revenue_field(version)] = float(asked["amount"])
    return sent


def _line(value: str) -> str:
    return " ".join(clean(value).split())
