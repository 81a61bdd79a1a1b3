"""What BottleCRM's answers to looks show."""

from __future__ import annotations

import re
from collections.abc import Mapping

from crm_clients import answers
from crm_clients.abilities import Page
from crm_clients.base import (
    Absent,
    ContactDraft,
    Found,
    Kind,
    Looked,
    Response,
    Seen,
    Several,
    UnreadableAnswer,
    Unsure,
)
from crm_clients.bottlecrm.drafts import short
from crm_clients.bottlecrm.outcomes import is_gone

# Where a list has its rows and how many there are in all, and where a single record stands.
LISTS: Mapping[Kind, tuple[str, str]] = {
    Kind.CONTACT: ("results", "count"),
    Kind.OPPORTUNITY: ("opportunities", "opportunities_count"),
    Kind.TASK: ("tasks", "tasks_count"),
}
SINGLE: Mapping[Kind, str] = {
    Kind.CONTACT: "contact_obj",
    Kind.OPPORTUNITY: "opportunity_obj",
    Kind.TASK: "task_obj",
}
# Rows of a page of all records.
PAGE = 100
MODELS = frozenset({"Contact", "Opportunity", "Task"})

# A shorter run of digits at the end of two numbers may be chance.
FEWEST_DIGITS = 8

_TITLE = re.compile(r"(?:^|\s)\[([a-z2-7]{8})\]\Z")
_MARKER = re.compile(r"(?<!\s)\s*\[ref:([a-z0-9-]{1,64})\]\Z")


def found(kind: Kind, reference: str, response: Response, reference_field: str) -> Looked:
    """The records under a reference; one that lives outranks those that do not, two that live are an incident."""
    listed = _listed(kind, reference, response, reference_field)
    if listed is None:
        return answers.no_look(response)
    seen, complete = listed
    ours = [one for one in seen if one.reference == reference]
    alive = [one for one in ours if one.live]
    if len(alive) > 1:
        return Several(tuple(one.crm_id for one in alive))
    if ours:
        return Found((alive or ours)[0])
    # A filter that is ignored lists everything, a page at a time (trap 6).
    return Absent() if complete else Unsure("more_than_one_page")


def _listed(
    kind: Kind, reference: str, response: Response, reference_field: str
) -> tuple[tuple[Seen, ...], bool] | None:
    """All rows of a list, and whether there are no more; None if it is no such list or a row cannot be judged."""
    body = answers.json_object(response)
    if body is None or not answers.succeeded(response):
        return None
    if kind is Kind.NOTE:
        rows, count = answers.rows(body.get("comments")), None
    else:
        rows, count = answers.rows(body.get(LISTS[kind][0])), body.get(LISTS[kind][1])
    if rows is None or not (kind is Kind.NOTE or (isinstance(count, int) and count >= len(rows))):
        return None
    seen = [_row(kind, reference, row, reference_field) for row in rows]
    told = tuple(one for one in seen if one is not None)
    return (told, count in {None, len(rows)}) if len(told) == len(rows) else None


def page(kind: Kind, response: Response, reference_field: str, *, after: str | None) -> Page:
    """One page of all contacts or opportunities.  Raises UnreadableAnswer."""
    listed = _listed(kind, "", response, reference_field)
    if listed is None:
        raise UnreadableAnswer(f"status {response.status}")
    count = (answers.json_object(response) or {}).get(LISTS[kind][1])
    seen, begun = listed[0], int(after or 0)
    more = isinstance(count, int) and bool(seen) and begun + len(seen) < count
    return Page(seen, str(begun + len(seen)) if more else None)


def _row(kind: Kind, reference: str, row: Mapping[str, object], reference_field: str) -> Seen | None:
    match kind:
        case Kind.TASK:
            return _task_row(reference, row)
        case Kind.NOTE:
            return _comment(row)
        case Kind.CONTACT | Kind.OPPORTUNITY:
            return _seen(kind, row, reference_field)


def _task_row(reference: str, row: Mapping[str, object]) -> Seen | None:
    """A row of the task list shows no custom fields: whose it is, the end of its title says.

    None where it does not: somebody changed the title, and what the filter says alone is not enough.
    """
    crm_id, title = answers.record_id(row.get("id")), answers.text(row.get("title"))
    marked = _TITLE.search(title)
    if crm_id is None or marked is None:
        return None
    is_ours = marked.group(1) == short(reference)
    return _shown(Kind.TASK, crm_id, reference if is_ours else None, row)


def _comment(row: Mapping[str, object]) -> Seen | None:
    """A comment has no address of its own to be read at: its id is its opportunity's and its own."""
    crm_id, parent = answers.record_id(row.get("id")), answers.record_id(row.get("object_id"))
    if crm_id is None or parent is None:
        return None
    written = answers.text(row.get("comment"))
    marker = _MARKER.search(written)
    said = written if marker is None else written[: marker.start()]
    return Seen(f"{parent}:{crm_id}", None if marker is None else marker.group(1), values={"text": said})


def _seen(kind: Kind, row: Mapping[str, object], reference_field: str) -> Seen | None:
    """A record with its custom fields; None if it has no id, or does not show them."""
    crm_id, custom = answers.record_id(row.get("id")), row.get("custom_fields")
    if crm_id is None or not isinstance(custom, dict):
        return None
    return _shown(kind, crm_id, answers.record_id(custom.get(reference_field)), row)


def _shown(kind: Kind, crm_id: str, reference: str | None, row: Mapping[str, object]) -> Seen:
    """Tasks are deleted or there; contacts and opportunities can be inactive, too."""
    return Seen(
        crm_id,
        reference,
        owner=_first_id(row.get("assigned_to")),
        live=row.get("is_active") is not False,
        contact_id=_first_id(row.get("contacts")) if kind is Kind.OPPORTUNITY else None,
        values=_values(kind, row),
        closed=_is_closed(row.get("stage_kind")) if kind is Kind.OPPORTUNITY else None,
    )


def _is_closed(stage_kind: object) -> bool | None:
    """BottleCRM names the kind of a deal's stage: open, won or lost; null where it is no stage of its pipeline."""
    return {"open": False, "won": True, "lost": True}.get(stage_kind) if isinstance(stage_kind, str) else None


def _first_id(value: object) -> str | None:
    listed = answers.rows(value) or ()
    return answers.record_id(listed[0].get("id")) if listed else None


def _values(kind: Kind, row: Mapping[str, object]) -> Mapping[str, str]:
    text = answers.text(row.get("description"))
    match kind:
        case Kind.OPPORTUNITY:
            worth = {"amount": answers.amount(row.get("amount")) or "", "currency": answers.text(row.get("currency"))}
            return {"title": _untitled(row.get("name")), "text": text} | worth
        case Kind.TASK:
            return {"text": _untitled(row.get("title"))}
        case Kind.CONTACT:
            return {"text": text, "phone": answers.text(row.get("phone"))}
        case Kind.NOTE:
            return {"text": text}


def _untitled(value: object) -> str:
    return _TITLE.sub("", answers.text(value))


def was_read(kind: Kind, crm_id: str, response: Response, reference_field: str) -> Looked:
    """The one record that was asked for."""
    if is_gone(kind, response):
        return Absent()
    body = answers.json_object(response)
    if body is None or not answers.succeeded(response):
        return answers.no_look(response)
    if kind is Kind.NOTE:
        return _note_read(crm_id, response, body)
    seen = _seen(kind, answers.mapping(body.get(SINGLE[kind])), reference_field)
    return answers.no_look(response) if seen is None or seen.crm_id != crm_id else Found(seen)


def _note_read(crm_id: str, response: Response, body: Mapping[str, object]) -> Looked:
    rows = answers.rows(body.get("comments"))
    if rows is None:
        return answers.no_look(response)
    seen = [one for row in rows if (one := _comment(row)) is not None]
    same = [one for one in seen if one.crm_id == crm_id]
    if same:
        return Found(same[0])
    return Absent() if len(seen) == len(rows) else answers.no_look(response)


def matched(draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
    """The contacts that really have the draft's phone or email.  Raises UnreadableAnswer."""
    body = answers.json_object(response)
    rows = None if body is None else answers.rows(body.get("duplicates"))
    if rows is None or not answers.succeeded(response):
        raise UnreadableAnswer(f"status {response.status}")
    same = [(answers.record_id(row.get("id")), row) for row in rows if _is_same_person(draft, row)]
    return tuple(Seen(crm_id, None) for crm_id, _ in same if crm_id is not None)


def _is_same_person(draft: ContactDraft, row: Mapping[str, object]) -> bool:
    phone, email = answers.text(row.get("phone")), answers.text(row.get("email"))
    return (draft.phone is not None and _is_same_phone(draft.phone, phone)) or bool(
        draft.email and email.casefold() == draft.email.casefold()
    )


def _is_same_phone(ours: str, theirs: str) -> bool:
    """Equal, or one is the other without its country; BottleCRM has compared them in E.164 before."""
    longer, shorter = sorted((_digits(ours), _digits(theirs).lstrip("0")), key=len, reverse=True)
    return len(shorter) >= FEWEST_DIGITS and longer.endswith(shorter)


def _digits(phone: str) -> str:
    return re.sub(r"[^0-9]", "", phone)


def controlled(response: Response, reference_field: str) -> Unsure | None:
    """None if the token works and the reference's custom field is defined for every kind that has one (trap 7)."""
    body = answers.json_object(response)
    rows = None if body is None else answers.rows(body.get("definitions"))
    if rows is None or not answers.succeeded(response):
        return answers.no_look(response)
    ours = [row for row in rows if row.get("key") == reference_field and row.get("is_active") is True]
    defined = {answers.text(row.get("target_model")) for row in ours}
    return None if defined >= MODELS else Unsure("reference_field_missing", scope="account")
