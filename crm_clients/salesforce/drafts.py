"""Drafts as Salesforce's objects.  Lengths are those of its field reference; a longer value is refused since API 15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from crm_clients import numbers, worth
from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft
from crm_clients.own_fields import own_fields, own_number
from crm_clients.sentinel import NEVER_DUE

OBJECTS: Mapping[Kind, str] = {
    Kind.CONTACT: "Contact",
    Kind.OPPORTUNITY: "Opportunity",
    Kind.TASK: "Task",
    Kind.NOTE: "Note",
}

# Characters.
LONGEST_FIRST_NAME = 40
LONGEST_LAST_NAME = 80
LONGEST_PHONE = 40
LONGEST_NAME = 120
LONGEST_SUBJECT = 255
LONGEST_TEXT = 32_000

# A contact must have a last name, an opportunity a name; a lead may have neither.
NOTHING = "-"

GUARDED: Mapping[Kind, Mapping[str, str]] = {
    Kind.CONTACT: {"text": "Description", "phone": "Phone"},
    Kind.OPPORTUNITY: {"title": "Name", "text": "Description", "amount": "Amount", "currency": "CurrencyIsoCode"},
    Kind.TASK: {},
    Kind.NOTE: {},
}
# The fields of a contact that hold telephones.
PHONES = ("Phone", "MobilePhone", "HomePhone", "OtherPhone")


def fields(draft: Draft, currencies: Sequence[str], *, stage: str, close_days: int) -> Mapping[str, object]:
    """The fields of a new record, without those of which nothing is known."""
    named: dict[str, object]
    match draft:
        case ContactDraft():
            named = _contact(draft)
        case OpportunityDraft():
            closes = (draft.received_at or NEVER_DUE - timedelta(days=close_days)) + timedelta(days=close_days)
            named = {**_opportunity(draft, currencies), "CloseDate": closes.date().isoformat()}
            named["StageName"] = draft.stage or stage
        case TaskDraft():
            named = _task(draft)
        case NoteDraft():
            named = {"ParentId": draft.opportunity_id, "Body": _text(draft.text)}
    return {name: value for name, value in named.items() if value not in (None, "")}


def _contact(draft: ContactDraft) -> dict[str, object]:
    """A contact's company would be a record of its own: it stands in the opportunity's text alone."""
    first, _, last = _line(draft.name).rpartition(" ")
    name = {"FirstName": first[:LONGEST_FIRST_NAME], "LastName": last[:LONGEST_LAST_NAME] or NOTHING}
    reach = {"Phone": (draft.phone or "")[:LONGEST_PHONE], "Email": draft.email, "OwnerId": draft.owner}
    return {**name, **reach, **_own(draft)}


def _opportunity(draft: OpportunityDraft, currencies: Sequence[str]) -> dict[str, object]:
    """What other CRMs call a pipeline is a record type here, by its id."""
    what = {"Name": _line(draft.title)[:LONGEST_NAME] or NOTHING, "Description": _text(draft.text)}
    links = {"ContactId": draft.contact_id, "OwnerId": draft.owner, "RecordTypeId": draft.pipeline}
    return {**what, **links, **_worth(draft, currencies), **_own(draft)}


def _worth(draft: OpportunityDraft, currencies: Sequence[str]) -> dict[str, object]:
    if draft.amount is None:
        return {}
    if not worth.is_kept(draft, currencies):
        return {"Description": _text(worth.in_text(draft))}
    return {"Amount": float(draft.amount), "CurrencyIsoCode": worth.code(draft.currency, currencies)}


def _task(draft: TaskDraft) -> dict[str, object]:
    """A due date has a day only: the hour stands in the text."""
    due = {"ActivityDate": draft.due_at.date().isoformat(), "Description": draft.due_at.isoformat(" ", "minutes")}
    what = {"Subject": _line(draft.title)[:LONGEST_SUBJECT] or NOTHING, "Type": draft.type}
    return {**what, **due, "WhatId": draft.opportunity_id, "OwnerId": draft.owner}


def _own(draft: ContactDraft | OpportunityDraft) -> dict[str, object]:
    return {("Description" if name == "text" else name): value for name, value in own_fields(draft)}


def changes(kind: Kind, asked: Mapping[str, str], currencies: Sequence[str]) -> Mapping[str, object]:
    """The fields of an update; null clears one.  Raises ValueError for a field that is not guarded."""
    kept = worth.changed(kind, asked, GUARDED[kind], currencies)
    return {GUARDED[kind][name]: _changed(name, value) for name, value in kept.items()}


def _changed(name: str, value: str) -> object:
    match name:
        case "amount":
            return float(value) if value else None
        case "title":
            return _line(value)[:LONGEST_NAME] or NOTHING
        case _:
            return _text(value) or None


def telephones(draft: ContactDraft, whatsapp: str | None) -> str:
    """The condition under which a contact may have the draft's number; "" where there is none to look for."""
    typed = ", ".join(quoted(value) for value in numbers.variants(draft.phone)) if draft.phone else ""
    wanted = own_number(draft, whatsapp)
    conditions = [f"{field} IN ({typed})" for field in PHONES] if typed else []
    conditions += [f"{whatsapp} = {quoted(wanted)}"] if wanted else []
    return f"({' OR '.join(conditions)})" if conditions else ""


def quoted(value: str) -> str:
    """A string of SOQL, in which a quote and a backslash are escaped ("Quoted String Escape Sequences")."""
    escaped = clean(value).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def _line(value: str) -> str:
    return " ".join(clean(value).split())


def _text(value: str) -> str:
    return clean(value)[:LONGEST_TEXT]
