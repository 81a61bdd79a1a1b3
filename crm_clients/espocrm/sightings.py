"""What EspoCRM's answers to looks show."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from http import HTTPStatus

from crm_clients import answers
from crm_clients.abilities import Page
from crm_clients.base import Absent, ContactDraft, Found, Kind, Looked, Response, Seen, UnreadableAnswer, Unsure
from crm_clients.espocrm.outcomes import is_gone, reason

PAGE = 200  # the most rows that EspoCRM gives at once by default (`recordListMaxSizeLimit`)
LAST_PAGE = -2  # a total that says: not counted, and no more than these [INF]; -1 says that there are more

FIELDS: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONTACT: ("name", "emailAddress", "phoneNumber", "assignedUserId", "description"),
    Kind.OPPORTUNITY: (*("name", "description", "assignedUserId", "contactId", "stage", "amount", "amountCurrency"),),
    Kind.TASK: ("name", "assignedUserId", "parentId"),
    Kind.NOTE: ("post", "parentId"),
}


@dataclass(frozen=True, slots=True)
class Sight:
    """How a look at records of this kind is read.  `closed`: the stages that end an opportunity."""

    kind: Kind
    reference_field: str
    closed: Set[str]


def found(sight: Sight, reference: str, response: Response) -> Looked:
    """What stands under a reference, which is compared on our side."""
    listed = _listed(sight, response)
    if listed is None:
        return no_look(response)
    return answers.under(reference, listed[0], complete=listed[1])


def no_look(response: Response) -> Unsure:
    """An answer that tells nothing about a record; a filter by a field that is not defined is the account's matter."""
    if response.status == HTTPStatus.BAD_REQUEST and reason(response).startswith("Not existing attribute"):
        return Unsure("reference_field_missing", scope="account")
    return answers.no_look(response)


def was_read(sight: Sight, crm_id: str, response: Response) -> Looked:
    """The one record that was asked for."""
    if is_gone(response):
        return Absent()
    body = answers.json_object(response)
    seen = _row(sight, body) if body is not None and response.status == HTTPStatus.OK else None
    return Found(seen) if seen is not None and seen.crm_id == crm_id else no_look(response)


def listed(sight: Sight, contact_id: str, response: Response) -> tuple[Seen, ...]:
    """All opportunities of one contact.  Raises UnreadableAnswer."""
    read = _listed(sight, response)
    if read is None or not read[1]:
        raise UnreadableAnswer(f"status {response.status}")
    return tuple(one for one in read[0] if one.contact_id == contact_id)


def page(sight: Sight, response: Response, *, after: str | None) -> Page:
    """One page of all records with a reference.  Raises UnreadableAnswer."""
    read = _listed(sight, response)
    if read is None:
        raise UnreadableAnswer(f"status {response.status}")
    begun = int(after or 0)
    return Page(read[0], str(begun + len(read[0])) if len(read[0]) >= PAGE else None)


def matched(sight: Sight, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
    """The contacts whose main phone or email really is the draft's.  Raises UnreadableAnswer."""
    rows = answers.rows((answers.json_object(response) or {}).get("list"))
    if rows is None or response.status != HTTPStatus.OK:
        raise UnreadableAnswer(f"status {response.status}")
    same = [_row(sight, row) for row in rows if _is_same_person(draft, row)]
    return tuple(one for one in same if one is not None)


def _is_same_person(draft: ContactDraft, row: Mapping[str, object]) -> bool:
    return answers.is_same_person(draft, phones=(row.get("phoneNumber"),), emails=(row.get("emailAddress"),))


def is_user(owner: str, response: Response) -> bool | None:
    """Whether somebody may still own something; None: the answer does not tell."""
    if is_gone(response):
        return False
    body = answers.json_object(response) or {}
    active = body.get("isActive") if answers.record_id(body.get("id")) == owner else None
    return active if response.status == HTTPStatus.OK and isinstance(active, bool) else None


def controlled(response: Response) -> Unsure | None:
    """None if the key works and the reference's field is defined for opportunities."""
    body = answers.json_object(response) or {}
    if response.status == HTTPStatus.OK and answers.rows(body.get("list")) is not None:
        return None
    return no_look(response)


# ---------------------------------------------------------------------------------------------------------------------


def _listed(sight: Sight, response: Response) -> tuple[tuple[Seen, ...], bool] | None:
    """All rows of a list, and whether there are no more; None if it is no such list or a row cannot be judged."""
    body = answers.json_object(response) or {}
    rows, total = answers.rows(body.get("list")), body.get("total")
    if response.status != HTTPStatus.OK or rows is None or not isinstance(total, int):
        return None
    told = rows if sight.kind is not Kind.NOTE else tuple(row for row in rows if row.get("type", "Post") == "Post")
    seen = [_row(sight, row) for row in told]
    kept = tuple(one for one in seen if one is not None)
    return (kept, total in {len(rows), LAST_PAGE}) if len(kept) == len(told) else None


def _row(sight: Sight, row: Mapping[str, object]) -> Seen | None:
    """A record; None if it has no id, or does not show the field of its reference."""
    crm_id = answers.record_id(row.get("id"))
    if crm_id is None or (sight.kind is not Kind.NOTE and sight.reference_field not in row):
        return None
    values, reference = _values(sight, row)
    return Seen(
        crm_id,
        reference,
        owner=answers.record_id(row.get("assignedUserId")),
        live=row.get("deleted") is not True,
        contact_id=answers.record_id(row.get("contactId")) if sight.kind is Kind.OPPORTUNITY else None,
        values=values,
        closed=answers.text(row.get("stage")) in sight.closed if sight.kind is Kind.OPPORTUNITY else None,
    )


def _values(sight: Sight, row: Mapping[str, object]) -> tuple[Mapping[str, str], str | None]:
    """The guarded fields, and the reference."""
    reference = answers.record_id(row.get(sight.reference_field))
    match sight.kind:
        case Kind.OPPORTUNITY:
            # An amount is required: 0 is none.
            worth = answers.amount(row.get("amount"))
            told = {
                "amount": "" if worth in {None, "0"} else worth or "",
                "currency": answers.text(row.get("amountCurrency")),
            }
            said = {"title": answers.text(row.get("name")), "text": answers.text(row.get("description"))}
            return said | told, reference
        case Kind.CONTACT:
            return {"text": answers.text(row.get("description"))}, reference
        case Kind.TASK:
            return {"text": answers.text(row.get("name"))}, reference
        case Kind.NOTE:
            said_, marker = answers.unmarked(answers.text(row.get("post")))
            return {"text": said_}, marker
