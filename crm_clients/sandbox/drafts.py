"""Drafts as the sandbox's API wants them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft

# The due time of a sentinel task: far enough to stand in nobody's list of the week.
NEVER_DUE = datetime(2099, 12, 31, tzinfo=UTC)


def body(draft: Draft, reference: str, *, marks: bool) -> Mapping[str, object]:
    """The fields of a create.  `marks`: the reference goes into the text, as `[ref:…]`, for want of a field."""
    fields = _fields(draft)
    if not marks:
        return fields | {"reference": reference}
    text = fields.get("text")
    return fields | {"text": f"{text}\n[ref:{reference}]" if text else f"[ref:{reference}]"}


def _fields(draft: Draft) -> dict[str, object]:
    return {name: value for name, value in _all(draft).items() if value is not None}


def _all(draft: Draft) -> dict[str, object]:
    match draft:
        case ContactDraft():
            return _contact(draft)
        case OpportunityDraft():
            return _opportunity(draft)
        case TaskDraft():
            return _task(draft)
        case NoteDraft():
            return {"text": draft.text, "opportunity_id": draft.opportunity_id}


def _contact(draft: ContactDraft) -> dict[str, object]:
    named: dict[str, object] = {"name": draft.name, "phone": draft.phone, "email": draft.email}
    return named | {"company": draft.company, "owner_id": draft.owner} | _own(draft.fields)


def _opportunity(draft: OpportunityDraft) -> dict[str, object]:
    said: dict[str, object] = {"title": draft.title, "text": draft.text, "contact_id": draft.contact_id}
    worth: dict[str, object] = {"amount": _number(draft.amount), "currency": draft.currency}
    place: dict[str, object] = {"pipeline": draft.pipeline, "stage": draft.stage, "owner_id": draft.owner}
    return said | worth | place | _own(draft.fields)


def _task(draft: TaskDraft) -> dict[str, object]:
    what: dict[str, object] = {"title": draft.title, "opportunity_id": draft.opportunity_id}
    return what | {"due_at": draft.due_at.isoformat(), "owner_id": draft.owner, "type": draft.type}


def _own(fields: tuple[tuple[str, str], ...]) -> dict[str, object]:
    """Fields of the account's own; `text` is one that every kind has."""
    own = {name: value for name, value in fields if name != "text"}
    text = next((value for name, value in fields if name == "text"), None)
    return ({"fields": own} if own else {}) | ({} if text is None else {"text": text})


def _number(amount: Decimal | None) -> str | None:
    return None if amount is None else format(amount, "f")


def sentinel(kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
    """A record that says what it is; `parent_id` is the sentinel contact's or opportunity's."""
    title, parent = f"intake-sentinel-{kind}", parent_id or ""
    match kind:
        case Kind.CONTACT:
            return ContactDraft(title, fields=(("text", installation),))
        case Kind.OPPORTUNITY:
            return OpportunityDraft(title, installation, parent)
        case Kind.TASK:
            # A task's draft has no text of its own: its title is what is shown again as text.
            return TaskDraft(installation, parent, NEVER_DUE)
        case Kind.NOTE:
            return NoteDraft(installation, parent)
