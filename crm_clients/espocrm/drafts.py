"""Drafts as EspoCRM's API wants them.

Required are the last name of a contact, name, amount and close date of an opportunity, name and assignee of a task
(Crm/Resources/metadata/entityDefs of espocrm/espocrm 2cde9d9, 2026-07-02).  Lengths are those of its fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from decimal import Decimal

from crm_clients.answers import marked
from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft
from crm_clients.own_fields import own_fields
from crm_clients.sentinel import NEVER_DUE

LONGEST_PART = 100  # of a person's name
LONGEST_NAME = 255

# A last name is required, and a lead may have one name only.
NO_NAME = "-"

GUARDED: Mapping[Kind, Mapping[str, str]] = {
    Kind.CONTACT: {"text": "description"},
    Kind.OPPORTUNITY: {"title": "name", "text": "description", "amount": "amount", "currency": "amountCurrency"},
    Kind.TASK: {},
    Kind.NOTE: {},
}


Sent = str | float | list[str] | None


@dataclass(frozen=True, slots=True)
class Usual:
    """What a record says of which the lead says nothing.

    `stage` of an opportunity that names none; `close_days`: after so many days it may close; `assignee` of a task whose
    opportunity has no owner, None: EspoCRM refuses such a task, the sentinel too.
    """

    currencies: Sequence[str] = ()
    stage: str = "Prospecting"
    close_days: int = 30
    assignee: str | None = None


def body(draft: Draft, reference: str, usual: Usual) -> Mapping[str, object]:
    """The JSON of a create, without the reference's own field and without what is not known."""
    return {name: value for name, value in _fields(draft, reference, usual).items() if value not in (None, "")}


def _fields(draft: Draft, reference: str, usual: Usual) -> dict[str, Sent]:
    match draft:
        case ContactDraft():
            return _contact(draft)
        case OpportunityDraft():
            return _opportunity(draft, usual)
        case TaskDraft():
            return _task(draft, usual)
        case NoteDraft():
            place = {"parentType": "Opportunity", "parentId": draft.opportunity_id}
            return {"type": "Post", **place, "post": marked(draft.text, reference)}


def _contact(draft: ContactDraft) -> dict[str, Sent]:
    first, last = _parts(_line(draft.name))
    name = {"firstName": first[:LONGEST_PART], "lastName": last[:LONGEST_PART] or NO_NAME}
    reach = {"emailAddress": draft.email, "phoneNumber": draft.phone, "assignedUserId": draft.owner}
    own = {("description" if field == "text" else field): value for field, value in own_fields(draft)}
    return {**name, **reach, **own}


def _parts(name: str) -> tuple[str, str]:
    """First and last name; one name alone is the last."""
    first, _, last = name.partition(" ")
    return (first, last) if last else ("", first)


def _opportunity(draft: OpportunityDraft, usual: Usual) -> dict[str, Sent]:
    """With the contact as the one contact and as one of them; which of the two shows it, versions differ about."""
    span = timedelta(days=usual.close_days)
    closes = (draft.received_at or NEVER_DUE - span) + span
    what = {"name": _line(draft.title)[:LONGEST_NAME] or NO_NAME, "closeDate": closes.date().isoformat()}
    place = {"contactId": draft.contact_id, "assignedUserId": draft.owner, "stage": draft.stage or usual.stage}
    contacts: dict[str, Sent] = {"contactsIds": [draft.contact_id]} if draft.contact_id else {}
    return {**what, **place, **contacts, **_worth(draft, usual.currencies), **dict(own_fields(draft))}


def _worth(draft: OpportunityDraft, currencies: Sequence[str]) -> dict[str, Sent]:
    """An amount is required: where the lead has none it is 0.  One in a foreign currency stands in the text."""
    said = clean(draft.text)
    if draft.amount is None:
        return {"description": said, "amount": 0.0}
    if draft.currency is None or draft.currency in currencies:
        return {"description": said, "amount": float(draft.amount), "amountCurrency": draft.currency}
    return {"description": f"{draft.currency} {draft.amount:f}\n\n{said}", "amount": 0.0}


def _task(draft: TaskDraft, usual: Usual) -> dict[str, Sent]:
    """Times are in UTC ("API", docs/development/api.md of espocrm/documentation b73eb2d)."""
    due = f"{draft.due_at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    place = {"parentType": "Opportunity", "parentId": draft.opportunity_id}
    what = {"name": _line(draft.title)[:LONGEST_NAME] or NO_NAME, "dateEnd": due, "priority": draft.type}
    return {**what, **place, "assignedUserId": draft.owner or usual.assignee}


def changes(kind: Kind, asked: Mapping[str, str], currencies: Sequence[str]) -> Mapping[str, object]:
    """The JSON of an update.  Raises ValueError for a field that is not guarded for this kind."""
    unknown = asked.keys() - GUARDED[kind].keys()
    if unknown:
        raise ValueError(f"not a guarded field of a {kind}: {', '.join(sorted(unknown))}")
    sent: dict[str, object] = {}
    if "title" in asked:
        sent["name"] = _line(asked["title"])[:LONGEST_NAME] or NO_NAME
    if "text" in asked:
        sent["description"] = clean(asked["text"])
    currency = asked.get("currency") or None
    if asked.get("amount") and (currency is None or currency in currencies):
        sent["amount"] = float(Decimal(asked["amount"]))
        sent |= {} if currency is None else {"amountCurrency": currency}
    return sent


def _line(value: str) -> str:
    return " ".join(clean(value).split())
