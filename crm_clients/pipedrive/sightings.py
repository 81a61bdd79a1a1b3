"""What Pipedrive's answers to looks show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from crm_clients import answers, rich_text
from crm_clients.abilities import Page
from crm_clients.base import Absent, ContactDraft, Found, Kind, Looked, Response, Seen, UnreadableAnswer, Unsure
from crm_clients.own_fields import own_number
from crm_clients.pipedrive.outcomes import is_done, is_gone, no_look

CLOSED = {"open": False, "won": True, "lost": True}


@dataclass(frozen=True, slots=True)
class Fields:
    """The keys of the custom fields that must be known."""

    person_reference: str
    deal_reference: str
    deal_text: str

    def reference_of(self, kind: Kind) -> str:
        return self.person_reference if kind is Kind.CONTACT else self.deal_reference


def found(kind: Kind, reference: str, response: Response, fields: Fields) -> Looked:
    """The record that bears the reference, in a search or among the deal's own."""
    rows = _rows(response)
    if rows is None:
        return no_look(response)
    if kind in {Kind.TASK, Kind.NOTE}:
        seen = [_seen(kind, row, fields) for row in rows]
    else:
        seen = [_hit(kind, reference, row) for row in rows]
    told = [one for one in seen if one is not None]
    if len(told) < len(seen):
        return no_look(response)
    return answers.under(reference, told, complete=_is_whole(response))


def _rows(response: Response) -> tuple[Mapping[str, object], ...] | None:
    """All rows of a list, or all items of a search; an empty list is null in v1."""
    body = answers.json_object(response)
    if body is None or not is_done(response) or "data" not in body:
        return None
    data = body.get("data")
    if isinstance(data, dict) and "items" in data:
        items = answers.rows(data.get("items"))
        return None if items is None else tuple(answers.mapping(each.get("item")) for each in items)
    return () if data is None else answers.rows(data)


def _is_whole(response: Response) -> bool:
    """v2 names the cursor of the next page, v1 says whether there is one."""
    more = answers.mapping((answers.json_object(response) or {}).get("additional_data"))
    pages = answers.mapping(more.get("pagination"))
    return not more.get("next_cursor") and pages.get("more_items_in_collection") is not True


def _hit(kind: Kind, reference: str, item: Mapping[str, object]) -> Seen | None:
    """An item of a search shows the values of custom fields without their keys; None if it shows none."""
    crm_id, values = answers.record_id(item.get("id")), item.get("custom_fields")
    if crm_id is None or not isinstance(values, list):
        return None
    return Seen(
        crm_id,
        reference if reference in values else None,
        owner=_id(item.get("owner")),
        contact_id=_id(item.get("person")) if kind is Kind.OPPORTUNITY else None,
        closed=_closed(item) if kind is Kind.OPPORTUNITY else None,
    )


def _id(value: object) -> str | None:
    """An id alone (v2) or inside the record that it belongs to."""
    return answers.record_id(answers.mapping(value).get("id")) if isinstance(value, dict) else answers.record_id(value)


def _closed(row: Mapping[str, object]) -> bool | None:
    return CLOSED.get(answers.text(row.get("status")))


def was_read(kind: Kind, crm_id: str, response: Response, fields: Fields) -> Looked:
    """The record that was asked for."""
    if is_gone(response):
        return Absent()
    body = answers.json_object(response) or {}
    seen = _seen(kind, answers.mapping(body.get("data")), fields) if is_done(response) else None
    return Found(seen) if seen is not None and seen.crm_id == crm_id else no_look(response)


def _seen(kind: Kind, row: Mapping[str, object], fields: Fields) -> Seen | None:
    """A record; None if it has no id, or does not show where its reference would be."""
    crm_id = answers.record_id(row.get("id"))
    custom = row.get("custom_fields")
    if crm_id is None or not (
        isinstance(custom, dict) if kind in {Kind.CONTACT, Kind.OPPORTUNITY} else _says(kind, row)
    ):
        return None
    return Seen(
        crm_id,
        _reference(kind, row, fields),
        owner=_id(row.get("user_id" if kind is Kind.NOTE else "owner_id")),
        live=row.get("is_deleted") is not True
        and row.get("is_archived") is not True
        and row.get("active_flag") is not False,
        contact_id=_id(row.get("person_id")) if kind is Kind.OPPORTUNITY else None,
        values=_values(kind, row, fields),
        closed=_closed(row) if kind is Kind.OPPORTUNITY else None,
    )


TEXT = {Kind.TASK: "note", Kind.NOTE: "content"}


def _says(kind: Kind, row: Mapping[str, object]) -> bool:
    return TEXT[kind] in row


def _said(kind: Kind, row: Mapping[str, object]) -> tuple[str, str | None]:
    return answers.unmarked(rich_text.read(answers.text(row.get(TEXT[kind]))))


def _reference(kind: Kind, row: Mapping[str, object], fields: Fields) -> str | None:
    if kind in TEXT:
        return _said(kind, row)[1]
    return answers.record_id(_custom(row, fields.reference_of(kind)))


def _custom(row: Mapping[str, object], key: str) -> object:
    """The value of a custom field, plain or with its type beside it."""
    value = answers.mapping(row.get("custom_fields")).get(key)
    return answers.mapping(value).get("value") if isinstance(value, dict) else value


def _values(kind: Kind, row: Mapping[str, object], fields: Fields) -> Mapping[str, str]:
    match kind:
        case Kind.CONTACT:
            return {"text": answers.text(row.get("name"))}
        case Kind.TASK:
            return {"text": answers.text(row.get("subject"))}
        case Kind.NOTE:
            return {"text": _said(kind, row)[0]}
        case Kind.OPPORTUNITY:
            worth = {"amount": answers.amount(row.get("value")) or "", "currency": answers.text(row.get("currency"))}
            text = answers.text(_custom(row, fields.deal_text))
            return {"title": answers.text(row.get("title")), "text": text, **worth}


def matched(draft: ContactDraft, response: Response, whatsapp: str | None) -> tuple[Seen, ...]:
    """The people who really have the draft's e-mail or number.  Raises UnreadableAnswer."""
    rows = _rows(response)
    if rows is None or not _is_whole(response):
        raise UnreadableAnswer(f"status {response.status}")
    same = [(answers.record_id(row.get("id")), row) for row in rows if _is_same_person(draft, row, whatsapp)]
    return tuple(Seen(crm_id, None, owner=_id(row.get("owner"))) for crm_id, row in same if crm_id is not None)


def _is_same_person(draft: ContactDraft, row: Mapping[str, object], whatsapp: str | None) -> bool:
    phones, emails, custom = (_list(row.get(name)) for name in ("phones", "emails", "custom_fields"))
    ours = own_number(draft, whatsapp)
    theirs = [answers.digits(answers.text(each)) for each in custom]
    return answers.is_same_person(draft, phones=phones, emails=emails) or bool(ours and ours in theirs)


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def listed(contact_id: str, response: Response, fields: Fields) -> tuple[Seen, ...]:
    """The deals of a person.  Raises UnreadableAnswer."""
    rows = _rows(response)
    seen = [] if rows is None else [_seen(Kind.OPPORTUNITY, row, fields) for row in rows]
    told = [one for one in seen if one is not None]
    if rows is None or len(told) < len(seen) or not _is_whole(response):
        raise UnreadableAnswer(f"status {response.status}")
    return tuple(one for one in told if one.contact_id == contact_id)


def page(kind: Kind, response: Response, fields: Fields) -> Page:
    """One page of all records.  Raises UnreadableAnswer."""
    rows = _rows(response)
    seen = [] if rows is None else [_seen(kind, row, fields) for row in rows]
    told = tuple(one for one in seen if one is not None)
    if rows is None or len(told) < len(seen):
        raise UnreadableAnswer(f"status {response.status}")
    return Page(told, _next(response))


def _next(response: Response) -> str | None:
    """Where the next page begins: v2 names a cursor, v1 a number."""
    more = answers.mapping((answers.json_object(response) or {}).get("additional_data"))
    start = answers.mapping(more.get("pagination")).get("next_start")
    if _is_whole(response):
        return None
    following = answers.record_id(more.get("next_cursor")) or answers.record_id(start)
    if following is None:
        raise UnreadableAnswer("a page that names no next one")
    return following


def is_active(owner: str, response: Response) -> bool | None:
    """Whether a user is active; None: not told."""
    if is_gone(response):
        return False
    user = answers.mapping((answers.json_object(response) or {}).get("data"))
    flag = user.get("active_flag")
    told = is_done(response) and answers.record_id(user.get("id")) == owner and isinstance(flag, bool)
    return flag is True if told else None


def controlled(response: Response, deal_reference: str) -> Unsure | None:
    """None if the token works and deals have the field."""
    if is_gone(response):
        return Unsure("reference_field_missing", scope="account")
    field = answers.mapping((answers.json_object(response) or {}).get("data"))
    return None if is_done(response) and field.get("field_code") == deal_reference else no_look(response)
