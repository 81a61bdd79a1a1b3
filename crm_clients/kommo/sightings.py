"""What Kommo's answers to looks show.  An empty list is 204 without a body."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Absent, ContactDraft, Found, Kind, Looked, Response, Seen, UnreadableAnswer, Unsure
from crm_clients.kommo.drafts import Fields
from crm_clients.kommo.outcomes import PLURAL, is_problem, named

# `LeadModel::WON_STATUS_ID` and `LOST_STATUS_ID` of the vendor's own client; the same in every pipeline.
CLOSED = frozenset({142, 143})


def found(kind: Kind, reference: str, response: Response, fields: Fields) -> Looked:
    """What stands under a reference, which is compared on our side."""
    read = _listed(kind, response, fields)
    return answers.no_look(response) if read is None else answers.under(reference, read[0], complete=read[1])


def was_read(kind: Kind, crm_id: str, response: Response, fields: Fields) -> Looked:
    """The one record that was asked for; 204 (or Kommo's own 404) where there is none."""
    if _is_empty(response) or _is_not_found(response):
        return Absent()
    body = answers.json_object(response)
    seen = None if body is None or response.status != HTTPStatus.OK else _seen(kind, body, fields)
    return Found(seen) if seen is not None and seen.crm_id == crm_id else answers.no_look(response)


def listed(contact_id: str, response: Response, fields: Fields) -> tuple[Seen, ...]:
    """All leads of one contact.  Raises UnreadableAnswer."""
    read = _listed(Kind.OPPORTUNITY, response, fields)
    if read is None or not read[1]:
        raise UnreadableAnswer(f"status {response.status}")
    return tuple(one for one in read[0] if one.contact_id == contact_id)


def matched(draft: ContactDraft, response: Response, fields: Fields) -> tuple[Seen, ...]:
    """The contacts that really have the draft's phone or email.  Raises UnreadableAnswer."""
    rows = _rows(Kind.CONTACT, response)
    if rows is None:
        raise UnreadableAnswer(f"status {response.status}")
    same = [_seen(Kind.CONTACT, row, fields) for row in rows if _is_same_person(draft, row)]
    return tuple(one for one in same if one is not None and one.live)


def _is_same_person(draft: ContactDraft, row: Mapping[str, object]) -> bool:
    return answers.is_same_person(draft, phones=_values(row, "PHONE"), emails=_values(row, "EMAIL"))


def is_user(owner: str, response: Response) -> bool | None:
    """Whether somebody may still own something; None: the answer does not tell."""
    if _is_empty(response) or _is_not_found(response):
        return False
    body = answers.json_object(response) or {}
    active = (
        answers.mapping(body.get("rights")).get("is_active") if answers.record_id(body.get("id")) == owner else None
    )
    return active if response.status == HTTPStatus.OK and isinstance(active, bool) else None


def controlled(response: Response, field: int) -> Unsure | None:
    """None if the token works and the reference's field of leads is there."""
    body = answers.json_object(response) or {}
    if response.status == HTTPStatus.OK and body.get("id") == field:
        return None
    if _is_empty(response) or _is_not_found(response):
        return Unsure("reference_field_missing", scope="account")
    return answers.no_look(response)


# ---------------------------------------------------------------------------------------------------------------------


def _is_empty(response: Response) -> bool:
    return response.status == HTTPStatus.NO_CONTENT and not response.body


def _is_not_found(response: Response) -> bool:
    return response.status == HTTPStatus.NOT_FOUND and is_problem(response, answers.json_object(response) or {})


def _rows(kind: Kind, response: Response) -> tuple[Mapping[str, object], ...] | None:
    if _is_empty(response):
        return ()
    body = answers.json_object(response) or {}
    rows = answers.rows(answers.mapping(body.get("_embedded")).get(PLURAL[kind]))
    return rows if response.status == HTTPStatus.OK else None


def _listed(kind: Kind, response: Response, fields: Fields) -> tuple[tuple[Seen, ...], bool] | None:
    """All rows of a list, and whether there are no more; None if it is no such list or a row cannot be judged."""
    rows = _rows(kind, response)
    seen = [_seen(kind, row, fields) for row in rows or ()]
    kept = tuple(one for one in seen if one is not None)
    if rows is None or len(kept) != len(rows):
        return None
    links = answers.mapping((answers.json_object(response) or {}).get("_links"))
    return kept, "next" not in links


def _seen(kind: Kind, row: Mapping[str, object], fields: Fields) -> Seen | None:
    """A record; None if it has no id, or hides its custom fields."""
    crm_id = named(kind, row)
    with_fields = kind in {Kind.CONTACT, Kind.OPPORTUNITY}
    if crm_id is None or (with_fields and "custom_fields_values" not in row):
        return None
    values, reference = _told(kind, row, fields)
    return Seen(
        crm_id,
        reference,
        owner=answers.record_id(row.get("responsible_user_id")),
        live=row.get("is_deleted") is not True,
        contact_id=_first_contact(row) if kind is Kind.OPPORTUNITY else None,
        values=values,
        closed=_is_closed(row.get("status_id")) if kind is Kind.OPPORTUNITY else None,
    )


def _is_closed(status: object) -> bool | None:
    return status in CLOSED if isinstance(status, int) else None


def _first_contact(row: Mapping[str, object]) -> str | None:
    """Contacts are shown with `with=contacts` only; the main one before the others."""
    contacts = answers.rows(answers.mapping(row.get("_embedded")).get("contacts")) or ()
    main = [each for each in contacts if each.get("is_main") is True] or list(contacts)
    return answers.record_id(main[0].get("id")) if main else None


def _told(kind: Kind, row: Mapping[str, object], fields: Fields) -> tuple[Mapping[str, str], str | None]:
    """The guarded fields, and the reference."""
    match kind:
        case Kind.CONTACT:
            return {"text": answers.text(row.get("name"))}, _first(row, fields.contact)
        case Kind.OPPORTUNITY:
            # Without an amount it is 0, as nobody would type it.
            price = answers.amount(row.get("price"))
            worth = {"amount": "" if price in {None, "0"} else price or "", "currency": fields.currency or ""}
            said = {"title": answers.text(row.get("name")), "text": _first(row, fields.text) or ""}
            return said | worth, _first(row, fields.lead)
        case Kind.TASK:
            text, reference = answers.unmarked(answers.text(row.get("text")))
            return {"text": text}, reference
        case Kind.NOTE:
            text, reference = answers.unmarked(answers.text(answers.mapping(row.get("params")).get("text")))
            return {"text": text}, reference


def _first(row: Mapping[str, object], field: int) -> str | None:
    return next((answers.text(value) for value in _values(row, field)), None) or None


def _values(row: Mapping[str, object], field: int | str) -> list[object]:
    """The values of a custom field, by its number or its code."""
    name = "field_id" if isinstance(field, int) else "field_code"
    of_field = [each for each in answers.rows(row.get("custom_fields_values")) or () if each.get(name) == field]
    return [value.get("value") for each in of_field for value in answers.rows(each.get("values")) or ()]
