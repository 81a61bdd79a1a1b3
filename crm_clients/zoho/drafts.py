"""Drafts as rows of Zoho's modules.

Names and lengths are those of a new account's standard layouts ("Fields Metadata" of Zoho's API); a layout that wants
more refuses the record as `MANDATORY_NOT_FOUND`, and says what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crm_clients import numbers, worth
from crm_clients.answers import marked
from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft
from crm_clients.own_fields import own_fields, own_number

# Characters.  From memory of the standard layouts; a longer value is refused as INVALID_DATA with its `maximum_length`.
LONGEST_FIRST_NAME = 40
LONGEST_LAST_NAME = 80
LONGEST_DEAL_NAME = 120
LONGEST_SUBJECT = 255
LONGEST_TEXT = 32_000
LONGEST_PHONE = 30

# A contact must have a last name, a deal and a task a title; a lead may have none of them.
NOTHING = "-"

GUARDED: Mapping[Kind, Mapping[str, str]] = {
    Kind.CONTACT: {"text": "Description", "phone": "Phone"},
    Kind.OPPORTUNITY: {"title": "Deal_Name", "text": "Description", "amount": "Amount", "currency": "Currency"},
    Kind.TASK: {},
    Kind.NOTE: {},
}
# A search may have ten conditions; two fields hold telephones, and a third a WhatsApp number.
MOST_VARIANTS = 4


def row(draft: Draft, currencies: Sequence[str], pipeline: str | None, stage: str) -> Mapping[str, object]:
    """The fields of a new record, without those of which nothing is known; a note has its own function."""
    fields: dict[str, object]
    match draft:
        case ContactDraft():
            fields = _contact(draft)
        case OpportunityDraft():
            fields = _deal(draft, currencies, pipeline, stage)
        case TaskDraft():
            fields = _task(draft)
        case NoteDraft():
            fields = {}
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _contact(draft: ContactDraft) -> dict[str, object]:
    """A contact's company would be a record of its own: it stands in the opportunity's text alone."""
    first, _, last = _line(draft.name).rpartition(" ")
    name = {"First_Name": first[:LONGEST_FIRST_NAME], "Last_Name": last[:LONGEST_LAST_NAME] or NOTHING}
    reach = {"Phone": (draft.phone or "")[:LONGEST_PHONE], "Email": draft.email, "Owner": _lookup(draft.owner)}
    return {**name, **reach, **_own(draft)}


def _deal(draft: OpportunityDraft, currencies: Sequence[str], pipeline: str | None, stage: str) -> dict[str, object]:
    what = {"Deal_Name": _line(draft.title)[:LONGEST_DEAL_NAME] or NOTHING, "Description": _text(draft.text)}
    place = {"Pipeline": draft.pipeline or pipeline, "Stage": draft.stage or stage}
    links = {"Contact_Name": _lookup(draft.contact_id), "Owner": _lookup(draft.owner)}
    return {**what, **place, **links, **_worth(draft, currencies), **_own(draft)}


def _worth(draft: OpportunityDraft, currencies: Sequence[str]) -> dict[str, object]:
    if draft.amount is None:
        return {}
    if not worth.is_kept(draft, currencies):
        return {"Description": _text(worth.in_text(draft))}
    return {"Amount": float(draft.amount), "Currency": worth.code(draft.currency, currencies)}


def _task(draft: TaskDraft) -> dict[str, object]:
    """A due date has a day only: the hour stands in the text.  `$se_module` says whose id `What_Id` is."""
    due = {"Due_Date": draft.due_at.date().isoformat(), "Description": draft.due_at.isoformat(" ", "minutes")}
    what = {"Subject": _line(draft.title)[:LONGEST_SUBJECT] or NOTHING, "Priority": draft.type}
    links = {"What_Id": _lookup(draft.opportunity_id), "$se_module": "Deals", "Owner": _lookup(draft.owner)}
    return {**what, **due, **links}


def note(draft: NoteDraft, reference: str) -> Mapping[str, object]:
    """A note of the deal in whose address it is created."""
    room = LONGEST_TEXT - len(marked("", reference))
    return {"Note_Content": marked(clean(draft.text)[:room], reference)}


def _lookup(crm_id: str | None) -> Mapping[str, str] | None:
    return {"id": crm_id} if crm_id else None


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
            return _line(value)[:LONGEST_DEAL_NAME] or NOTHING
        case _:
            return _text(value) or None


def telephones(draft: ContactDraft, whatsapp: str | None) -> str:
    """The criteria of a search for a telephone, however it was typed; "" where there is none to look for."""
    typed = numbers.variants(draft.phone)[:MOST_VARIANTS] if draft.phone else ()
    wanted = own_number(draft, whatsapp)
    named = [(field, value) for field in ("Phone", "Mobile") for value in typed]
    named += [(whatsapp, wanted)] if whatsapp and wanted else []
    return f"({'or'.join(f'({field}:equals:{_escaped(value)})' for field, value in named)})" if named else ""


def _escaped(value: str) -> str:
    """Parentheses, commas and backslashes are part of the criteria's own language ("Search Records")."""
    return "".join(f"\\{letter}" if letter in "(),\\" else letter for letter in value)


def _line(value: str) -> str:
    return " ".join(clean(value).split())


def _text(value: str) -> str:
    return clean(value)[:LONGEST_TEXT]
