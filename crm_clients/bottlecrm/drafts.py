"""Drafts as BottleCRM's API wants them.  Lengths and choices are those of its models, version 1.35.0."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Mapping
from datetime import UTC, datetime

from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft

LONGEST_NAME = 255  # opportunities, companies

# Each may be 255 long, but the activity log keeps both in one field of 255: more is a 500, and the contact is there.
LONGEST_FIRST_NAME = 100
LONGEST_LAST_NAME = 150

LONGEST_TASK_TITLE = 200
PRIORITIES = frozenset({"Low", "Medium", "High"})

# `common/utils.py`, CURRENCY_CODES: any other is refused.  The Peruvian sol is not among them.
CURRENCIES = frozenset(
    {"USD", "EUR", "GBP", "INR", "CAD", "AUD", "JPY", "CNY", "CHF", "SGD", "AED", "BRL", "MXN", "ZAR"}
)

# A last name is required, and a lead may have one name only.
NO_NAME = "-"

# The due time of a sentinel task: far enough to stand in nobody's list of the week.
NEVER_DUE = datetime(2099, 12, 31, tzinfo=UTC)

# Our names of guarded fields, and theirs.
GUARDED: Mapping[Kind, Mapping[str, str]] = {
    Kind.CONTACT: {"text": "description", "phone": "phone"},
    Kind.OPPORTUNITY: {"title": "name", "text": "description", "amount": "amount", "currency": "currency"},
    Kind.TASK: {},
    Kind.NOTE: {},
}


def body(draft: Draft, reference: str, reference_field: str, priority: str) -> Mapping[str, object]:
    """The JSON of a create, without the fields of which nothing is known."""
    if isinstance(draft, NoteDraft):
        return {"comment": f"{clean(draft.text)}\n\n[ref:{reference}]"}
    custom = _own(draft, custom=True) | {reference_field: reference}
    fields = _fields(draft, reference, priority)
    return {name: value for name, value in fields.items() if value} | {"custom_fields": custom}


def _fields(draft: ContactDraft | OpportunityDraft | TaskDraft, reference: str, priority: str) -> dict[str, object]:
    match draft:
        case ContactDraft():
            return _contact(draft)
        case OpportunityDraft():
            return _opportunity(draft, reference)
        case TaskDraft():
            return _task(draft, reference, priority)


def _contact(draft: ContactDraft) -> dict[str, object]:
    first, _, last = _line(draft.name).partition(" ")
    name = {"first_name": first[:LONGEST_FIRST_NAME] or NO_NAME, "last_name": last[:LONGEST_LAST_NAME] or NO_NAME}
    reach = {"phone": draft.phone, "email": draft.email, "organization": _line(draft.company or "")[:LONGEST_NAME]}
    return {**name, **reach, "assigned_to": _owners(draft.owner), **_own(draft, custom=False)}


def _opportunity(draft: OpportunityDraft, reference: str) -> dict[str, object]:
    place = {"contacts": [draft.contact_id] if draft.contact_id else [], "assigned_to": _owners(draft.owner)}
    stage = {"pipeline": draft.pipeline, "stage": draft.stage}
    what = {"name": titled(draft.title, reference, LONGEST_NAME), "description": clean(draft.text)}
    return {**what, **place, **stage, **_worth(draft), **_own(draft, custom=False)}


def _worth(draft: OpportunityDraft) -> dict[str, object]:
    """Amount and currency.

    An amount in a currency that BottleCRM lacks would become one in the company's own: it goes into the text.
    """
    if draft.amount is None:
        return {"currency": draft.currency if draft.currency in CURRENCIES else None}
    if draft.currency is None or draft.currency in CURRENCIES:
        # Two decimals are kept, and a third is refused.
        return {"amount": format(draft.amount, ".2f"), "currency": draft.currency}
    return {"description": f"{draft.currency} {draft.amount:f}\n\n{clean(draft.text)}"}


def _task(draft: TaskDraft, reference: str, priority: str) -> dict[str, object]:
    """A due time has a day only: the hour stands in the text.  The only type that a task has is its priority."""
    due = {"due_date": draft.due_at.date().isoformat(), "description": draft.due_at.isoformat(" ", "minutes")}
    kind = {"status": "New", "priority": draft.type if draft.type in PRIORITIES else priority}
    place = {"opportunity": draft.opportunity_id, "assigned_to": _owners(draft.owner)}
    return {"title": titled(draft.title, reference, LONGEST_TASK_TITLE), **kind, **due, **place}


def _owners(owner: str | None) -> list[str]:
    return [] if owner is None else [owner]


def _own(draft: Draft, *, custom: bool) -> dict[str, str]:
    """The account's own fields: `cf_KEY` is a custom one, as in BottleCRM's filters; `text` is a contact's notes."""
    fields = draft.fields if isinstance(draft, ContactDraft | OpportunityDraft) else ()
    if custom:
        return {name[3:]: clean(value) for name, value in fields if name.startswith("cf_")}
    native = {name: clean(value) for name, value in fields if not name.startswith("cf_")}
    return {("description" if name == "text" else name): value for name, value in native.items()}


def changes(kind: Kind, crm_id: str, asked: Mapping[str, str], currency: str | None) -> Mapping[str, str]:
    """The JSON of an update.  Raises ValueError for a field that is not guarded for this kind."""
    unknown = asked.keys() - GUARDED[kind].keys()
    if unknown:
        raise ValueError(f"not a guarded field of a {kind}: {', '.join(sorted(unknown))}")
    sent = {GUARDED[kind][name]: clean(value) for name, value in asked.items()}
    if "name" in sent:
        # The reference is not at hand here; a short form of the id keeps the name as unique.
        sent["name"] = titled(sent["name"], crm_id, LONGEST_NAME)
    if sent.get("currency", currency) not in {*CURRENCIES, None, ""}:
        sent = {name: value for name, value in sent.items() if name not in {"amount", "currency"}}
    return {name: value for name, value in sent.items() if value or name == "description"}


def short(reference: str) -> str:
    """Eight letters that stand for a reference in a title: 40 bits, so that no two of a company's leads share them."""
    return b32encode(hashlib.sha256(reference.encode()).digest()[:5]).decode().lower()


def titled(title: str, reference: str, longest: int) -> str:
    """A title that ends with the short form of its reference."""
    ending = f"[{short(reference)}]"
    return f"{_line(title)[: longest - len(ending) - 1].rstrip()} {ending}".lstrip()


def _line(value: str) -> str:
    return " ".join(clean(value).split())


def sentinel(kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
    """A record that says what it is; `parent_id` is the sentinel contact's or opportunity's."""
    title, parent = f"intake-sentinel-{kind}", parent_id or ""
    match kind:
        case Kind.CONTACT:
            return ContactDraft(title, fields=(("text", installation),))
        case Kind.OPPORTUNITY:
            return OpportunityDraft(title, installation, parent)
        case Kind.TASK:
            # The list of tasks shows titles only: the title is what is shown again as text.
            return TaskDraft(installation, parent, NEVER_DUE)
        case Kind.NOTE:
            return NoteDraft(installation, parent)
