"""Drafts as Pipedrive's API wants them (`pipedrive/client-nodejs`, v32.2.1: `add-person-request` and so on)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

from crm_clients import rich_text
from crm_clients.answers import marked
from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft
from crm_clients.own_fields import own_fields
from crm_clients.pipedrive.sightings import Fields
from crm_clients.sentinel import sentinel as usual

# Characters; Pipedrive publishes no lengths.
LONGEST_LINE = 255
LONGEST_TEXT = 60_000

# A person must have a name, a deal a title; a lead may have neither.
NOTHING = "-"

GUARDED = frozenset({"title", "text", "amount", "currency"})


def body(draft: Draft, reference: str, fields: Fields) -> Mapping[str, object]:
    """The JSON of a create, without the fields of which nothing is known."""
    named: dict[str, object]
    match draft:
        case ContactDraft():
            named = _person(draft, reference, fields)
        case OpportunityDraft():
            named = _deal(draft, reference, fields)
        case TaskDraft():
            named = _activity(draft, reference)
        case NoteDraft():
            named = {"content": _marked(clean(draft.text), reference), "deal_id": _number(draft.opportunity_id)}
    return {name: value for name, value in named.items() if value not in (None, "", [])}


def _person(draft: ContactDraft, reference: str, fields: Fields) -> dict[str, object]:
    """A person's company would be a record of its own: it stands in the deal's text alone."""
    reach = {"phones": _channel(draft.phone), "emails": _channel(draft.email), "owner_id": _number(draft.owner)}
    custom = dict(own_fields(draft)) | {fields.person_reference: reference}
    return {"name": _line(draft.name) or NOTHING, **reach, "custom_fields": custom}


def _channel(value: str | None) -> list[Mapping[str, object]]:
    return [{"value": value, "primary": True, "label": "work"}] if value else []


def _deal(draft: OpportunityDraft, reference: str, fields: Fields) -> dict[str, object]:
    links = {"person_id": _number(draft.contact_id), "owner_id": _number(draft.owner)}
    place = {"pipeline_id": _number(draft.pipeline), "stage_id": _number(draft.stage)}
    worth = {} if draft.amount is None else {"value": float(draft.amount), "currency": draft.currency}
    custom = dict(own_fields(draft)) | {fields.deal_text: _text(draft.text), fields.deal_reference: reference}
    kept = {name: value for name, value in custom.items() if value}
    return {"title": _line(draft.title) or NOTHING, **links, **place, **worth, "custom_fields": kept}


def _activity(draft: TaskDraft, reference: str) -> dict[str, object]:
    """Day and hour are in UTC (developers.pipedrive.com, "Activities": "in UTC").  `type` is the key of a type."""
    due = draft.due_at.astimezone(UTC)
    when = {"due_date": due.date().isoformat(), "due_time": f"{due:%H:%M}"}
    links = {"deal_id": _number(draft.opportunity_id), "owner_id": _number(draft.owner)}
    return {
        "subject": _line(draft.title) or NOTHING,
        "type": draft.type,
        **when,
        **links,
        "note": _marked("", reference),
    }


def _marked(said: str, reference: str) -> str:
    """HTML whose last line is the reference; what does not fit is cut from the text, never from the reference."""
    return rich_text.written(said, LONGEST_TEXT) + rich_text.written(marked("", reference), LONGEST_TEXT)


def _number(crm_id: str | None) -> int | str | None:
    """Ids are numbers; what is none is sent as it is, so that Pipedrive names it in its refusal."""
    return int(crm_id) if crm_id and crm_id.isascii() and crm_id.isdigit() else crm_id


def changes(kind: Kind, asked: Mapping[str, str], fields: Fields) -> Mapping[str, object]:
    """The JSON of an update; null clears a field.  Raises ValueError for a field that is not guarded."""
    unknown = asked.keys() - (GUARDED if kind is Kind.OPPORTUNITY else frozenset())
    if unknown:
        raise ValueError(f"not a guarded field of a {kind}: {', '.join(sorted(unknown))}")
    sent: dict[str, object] = {}
    if "title" in asked:
        sent["title"] = _line(asked["title"]) or NOTHING
    if "text" in asked:
        sent["custom_fields"] = {fields.deal_text: _text(asked["text"]) or None}
    if asked.get("amount"):
        sent["value"] = float(asked["amount"])
    if asked.get("currency"):
        sent["currency"] = asked["currency"]
    return sent


def _line(value: str) -> str:
    return " ".join(clean(value).split())[:LONGEST_LINE]


def _text(value: str) -> str:
    return clean(value)[:LONGEST_TEXT]


def sentinel(kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
    """A person has no text: the installation stands in the name."""
    if kind is Kind.CONTACT:
        return ContactDraft(f"intake-sentinel-{kind} {installation}")
    return usual(kind, installation, parent_id=parent_id)
