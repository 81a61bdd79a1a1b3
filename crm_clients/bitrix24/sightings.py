"""What Bitrix24's answers to looks show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers, rich_text
from crm_clients.base import Absent, Found, Kind, Looked, Response, Seen, UnreadableAnswer, Unsure
from crm_clients.bitrix24.drafts import ORIGINATOR
from crm_clients.bitrix24.outcomes import GONE, code, no_look

PAGE = 50  # rows of every list ("The page size of results is always static")

FIELDS: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONTACT: ("id", "originatorId", "originId", "assignedById", "comments"),
    Kind.OPPORTUNITY: (
        *("id", "originatorId", "originId", "assignedById", "title", "comments", "contactId", "contactIds"),
        *("opportunity", "currencyId", "closed"),
    ),
    Kind.TASK: ("ID", "TITLE", "DESCRIPTION", "RESPONSIBLE_ID", "UF_CRM_TASK"),
    Kind.NOTE: ("ID", "ENTITY_ID", "COMMENT"),
}

_HTML = re.compile(r"<(br|p|div)\b", re.IGNORECASE)


def found(kind: Kind, reference: str, response: Response) -> Looked:
    """What stands under a reference, which is compared on our side: an unknown filter is passed over."""
    read = _listed(kind, response)
    return no_look(response) if read is None else answers.under(reference, read[0], complete=read[1])


def was_read(kind: Kind, crm_id: str, response: Response) -> Looked:
    """The one record that was asked for; tasks and comments are listed, since no page says how `get` tells of none."""
    if kind in {Kind.TASK, Kind.NOTE}:
        return _of_list(kind, crm_id, response)
    body = answers.json_object(response) or {}
    if response.status == HTTPStatus.BAD_REQUEST and code(body) in GONE:
        return Absent()
    row = answers.mapping(answers.mapping(body.get("result")).get("item"))
    seen = _seen(kind, row) if response.status == HTTPStatus.OK else None
    return Found(seen) if seen is not None and seen.crm_id == crm_id else no_look(response)


def _of_list(kind: Kind, crm_id: str, response: Response) -> Looked:
    read = _listed(kind, response)
    if read is None:
        return no_look(response)
    same = [one for one in read[0] if one.crm_id == crm_id]
    if same:
        return Found(same[0])
    return Absent() if read[1] else Unsure("more_than_one_page")


def listed(contact_id: str, response: Response) -> tuple[Seen, ...]:
    """All deals of one contact.  Raises UnreadableAnswer."""
    read = _listed(Kind.OPPORTUNITY, response)
    if read is None or not read[1]:
        raise UnreadableAnswer(f"status {response.status}")
    return tuple(one for one in read[0] if one.contact_id == contact_id)


def matched(response: Response) -> tuple[Seen, ...]:
    """The contacts that Bitrix24 found; it tells their numbers alone, so that nothing can be compared on our side.

    Raises UnreadableAnswer.
    """
    body = answers.json_object(response) or {}
    result = body.get("result")
    found_ = answers.mapping(result).get("CONTACT", [])
    if response.status != HTTPStatus.OK or "error" in body or not isinstance(result, dict | list):
        raise UnreadableAnswer(f"status {response.status}")
    if not isinstance(found_, list):
        raise UnreadableAnswer("no list of numbers")
    ids = [answers.record_id(each) for each in found_]
    return tuple(Seen(crm_id, None) for crm_id in ids if crm_id is not None)


def is_user(owner: str, response: Response) -> bool | None:
    """Whether somebody may still own something; None: the answer does not tell."""
    body = answers.json_object(response) or {}
    rows = answers.rows(body.get("result")) if response.status == HTTPStatus.OK and "error" not in body else None
    if rows == ():
        return False
    active = rows[0].get("ACTIVE") if rows and answers.record_id(rows[0].get("ID")) == owner else None
    return active if isinstance(active, bool) else None


def controlled(response: Response) -> Unsure | None:
    """None if the webhook works and the CRM may be read."""
    body = answers.json_object(response) or {}
    if response.status == HTTPStatus.OK and answers.rows(answers.mapping(body.get("result")).get("items")) is not None:
        return None
    return no_look(response)


# ---------------------------------------------------------------------------------------------------------------------


def _listed(kind: Kind, response: Response) -> tuple[tuple[Seen, ...], bool] | None:
    """All rows of a list, and whether there are no more; None if it is no such list or a row cannot be judged."""
    body = answers.json_object(response) or {}
    result = body.get("result")
    of_kind = {Kind.TASK: "tasks", Kind.NOTE: None}.get(kind, "items")
    rows = answers.rows(result if of_kind is None else answers.mapping(result).get(of_kind))
    if response.status != HTTPStatus.OK or rows is None:
        return None
    seen = [_seen(kind, row) for row in rows]
    kept = tuple(one for one in seen if one is not None)
    whole = body.get("total", len(rows)) == len(rows) and "next" not in body and len(rows) < PAGE
    return (kept, whole) if len(kept) == len(rows) else None


def _seen(kind: Kind, row: Mapping[str, object]) -> Seen | None:
    """A record; None if it has no id, or does not show what its reference stands in."""
    match kind:
        case Kind.CONTACT | Kind.OPPORTUNITY:
            return _item(kind, row)
        case Kind.TASK:
            return _task(row)
        case Kind.NOTE:
            return _comment(row)


def _item(kind: Kind, row: Mapping[str, object]) -> Seen | None:
    crm_id = answers.record_id(row.get("id"))
    if crm_id is None or "originId" not in row:
        return None
    ours = answers.text(row.get("originatorId")) == ORIGINATOR
    is_deal = kind is Kind.OPPORTUNITY
    return Seen(
        crm_id,
        answers.record_id(row.get("originId")) if ours else None,
        owner=answers.record_id(row.get("assignedById")),
        contact_id=_contact(row) if is_deal else None,
        values=_values(kind, row),
        closed={"Y": True, "N": False}.get(answers.text(row.get("closed"))) if is_deal else None,
    )


def _contact(row: Mapping[str, object]) -> str | None:
    main = answers.record_id(row.get("contactId"))
    others = row.get("contactIds")
    return main or (answers.record_id(others[0]) if isinstance(others, list) and others else None)


def _values(kind: Kind, row: Mapping[str, object]) -> Mapping[str, str]:
    text = _plain(row.get("comments"))
    if kind is Kind.CONTACT:
        return {"text": text}
    # Without an amount it is 0, as nobody would type it.
    worth = answers.amount(row.get("opportunity"))
    told = {"amount": "" if worth in {None, "0"} else worth or "", "currency": answers.text(row.get("currencyId"))}
    return {"title": answers.text(row.get("title")), "text": text} | told


def _plain(value: object) -> str:
    """Whether comments come back as text or as HTML, no page says."""
    text = answers.text(value)
    return rich_text.read(text) if _HTML.search(text) else text


def _task(row: Mapping[str, object]) -> Seen | None:
    crm_id = answers.record_id(row.get("id"))
    if crm_id is None or "description" not in row:
        return None
    _, reference = answers.unmarked(_plain(row.get("description")))
    owner = answers.record_id(row.get("responsibleId"))
    return Seen(crm_id, reference, owner=owner, values={"text": answers.text(row.get("title"))})


def _comment(row: Mapping[str, object]) -> Seen | None:
    """A comment is looked for below its deal: its id is the deal's and its own."""
    crm_id, parent = answers.record_id(row.get("ID")), answers.record_id(row.get("ENTITY_ID"))
    if crm_id is None or parent is None:
        return None
    said, reference = answers.unmarked(_plain(row.get("COMMENT")))
    return Seen(f"{parent}:{crm_id}", reference, values={"text": said})
