"""Drafts as HubSpot's properties: every value is a string (its OpenAPI files, `SimplePublicObjectInputForCreate`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from crm_clients import numbers, rich_text, worth
from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft
from crm_clients.own_fields import own_fields, own_number

# Characters.  The body of a note may have as many (developers.hubspot.com/docs/api/crm/notes, 2026-11-29); that other
# properties take as much is inferred.
LONGEST_TEXT = 65_536
LONGEST_LINE = 255

# Associations that HubSpot defines, from the first to the second: deal to contact (pipedream.com/apps/hubspot, "Create
# Association", and others); task to deal and note to deal, used by public programs.  All read on 2026-11-29.
DEAL_TO_CONTACT = 3
TASK_TO_DEAL = 216
NOTE_TO_DEAL = 214

# A note must say when it was written (docs "Notes", `hs_timestamp`), and a client has no clock: one of which nobody
# knows it stands at the end of the record's timeline.
LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)

GUARDED: Mapping[Kind, Mapping[str, str]] = {
    Kind.CONTACT: {"text": "message", "phone": "phone"},
    Kind.OPPORTUNITY: {
        "title": "dealname",
        "text": "description",
        "amount": "amount",
        "currency": "deal_currency_code",
    },
    Kind.TASK: {},
    Kind.NOTE: {},
}


def properties(draft: Draft, currencies: Sequence[str]) -> Mapping[str, str]:
    """The properties of a new record, without those of which nothing is known."""
    named: dict[str, str | None]
    match draft:
        case ContactDraft():
            named = _contact(draft)
        case OpportunityDraft():
            named = _deal(draft, currencies)
        case TaskDraft():
            named = _task(draft)
        case NoteDraft():
            named = _note(draft)
    return {name: value for name, value in named.items() if value}


def _contact(draft: ContactDraft) -> dict[str, str | None]:
    first, _, last = _line(draft.name).partition(" ")
    reach = {"phone": draft.phone, "email": draft.email, "company": _line(draft.company or "")}
    return {"firstname": first, "lastname": last, **reach, "hubspot_owner_id": draft.owner, **_own(draft)}


def _deal(draft: OpportunityDraft, currencies: Sequence[str]) -> dict[str, str | None]:
    what = {"dealname": _line(draft.title), "description": _text(draft.text)}
    place = {"pipeline": draft.pipeline, "dealstage": draft.stage, "hubspot_owner_id": draft.owner}
    return {**what, **place, **_worth(draft, currencies), **_own(draft)}


def _worth(draft: OpportunityDraft, currencies: Sequence[str]) -> dict[str, str | None]:
    if draft.amount is None:
        return {}
    if not worth.is_kept(draft, currencies):
        return {"description": _text(worth.in_text(draft))}
    return {"amount": format(draft.amount, "f"), "deal_currency_code": worth.code(draft.currency, currencies)}


def _task(draft: TaskDraft) -> dict[str, str | None]:
    """`hs_timestamp` is when it is due.  `type` is HubSpot's word: TODO, CALL or EMAIL."""
    what = {"hs_task_subject": _line(draft.title), "hs_task_type": draft.type, "hs_task_status": "NOT_STARTED"}
    return {**what, "hs_timestamp": _millis(draft.due_at), "hubspot_owner_id": draft.owner}


def _note(draft: NoteDraft) -> dict[str, str | None]:
    body = rich_text.written(clean(draft.text), LONGEST_TEXT)
    return {"hs_note_body": body, "hs_timestamp": _millis(draft.said_at or LONG_AGO)}


def _own(draft: ContactDraft | OpportunityDraft) -> dict[str, str]:
    return {("message" if name == "text" else name): _text(value) for name, value in own_fields(draft)}


def associations(draft: Draft) -> list[Mapping[str, object]]:
    """The link to the parent, which the create carries; the list must be there, even empty."""
    match draft:
        case OpportunityDraft():
            return _link(draft.contact_id, DEAL_TO_CONTACT)
        case TaskDraft():
            return _link(draft.opportunity_id, TASK_TO_DEAL)
        case NoteDraft():
            return _link(draft.opportunity_id, NOTE_TO_DEAL)
        case ContactDraft():
            return []


def _link(crm_id: str, type_id: int) -> list[Mapping[str, object]]:
    how = {"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": type_id}
    return [{"to": {"id": crm_id}, "types": [how]}] if crm_id else []


def changes(kind: Kind, asked: Mapping[str, str], currencies: Sequence[str]) -> Mapping[str, str]:
    """The properties of an update; an empty one clears.  Raises ValueError for a field that is not guarded."""
    kept = worth.changed(kind, asked, GUARDED[kind], currencies)
    return {GUARDED[kind][name]: (_text(value) if name == "text" else _line(value)) for name, value in kept.items()}


def by_email(draft: ContactDraft, shown: list[str]) -> Mapping[str, object]:
    """A batch of one: read the contact that has this e-mail."""
    inputs = [{"id": draft.email}]
    return {"idProperty": "email", "inputs": inputs, "properties": shown, "propertiesWithHistory": []}


def telephones(draft: ContactDraft, whatsapp: str | None) -> tuple[tuple[str, str], ...]:
    """Where the number may stand: HubSpot calculates two without the country's digits, the others hold what was typed.

    A search may have five groups (developers.hubspot.com/changelog, "Expanded filtering capabilities", 2026-11-29).
    """
    wanted = own_number(draft, whatsapp)
    whatsapps = ((whatsapp, wanted),) if whatsapp and wanted else ()
    if not draft.phone:
        return whatsapps
    local = numbers.national(draft.phone)
    calculated = ("hs_searchable_calculated_phone_number", local), ("hs_searchable_calculated_mobile_number", local)
    return (*calculated, ("phone", draft.phone), ("mobilephone", draft.phone), *whatsapps)


def search(groups: Sequence[tuple[str, str]], shown: list[str], limit: int) -> Mapping[str, object]:
    """Records for which one of the properties has its value.  All keys must be there, says the OpenAPI file."""
    filters = [{"filters": [{"propertyName": name, "operator": "EQ", "value": value}]} for name, value in groups]
    return {"filterGroups": filters, "properties": shown, "limit": limit, "after": "0", "sorts": []}


def _millis(when: datetime) -> str:
    return str(int(when.timestamp() * 1000))


def _line(value: str) -> str:
    return " ".join(clean(value).split())[:LONGEST_LINE]


def _text(value: str) -> str:
    return clean(value)[:LONGEST_TEXT]
