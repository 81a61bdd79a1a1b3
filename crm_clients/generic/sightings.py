"""What the answers of a CRM of one's own to looks show, at the places that its owner names."""

from __future__ import annotations

import re

from crm_clients import answers
from crm_clients.base import Absent, ContactDraft, Found, Kind, Looked, Response, Seen, UnreadableAnswer, Unsure
from crm_clients.generic.plan import Plan, Pointers
from crm_clients.generic.pointers import MISSING, at, word

_MARKED_TITLE = re.compile(r"(?<!\s)\s*\[ref:([a-z0-9-]{1,64})\]\s*\Z")


def found(plan: Plan, kind: Kind, reference: str, response: Response) -> Looked:
    """What stands under a reference, which is compared on our side."""
    read = _listed(plan, kind, response)
    return answers.no_look(response) if read is None else answers.under(reference, read[0], complete=read[1])


def was_read(plan: Plan, kind: Kind, crm_id: str, response: Response) -> Looked:
    """The one record that was asked for."""
    if any(each.holds(response) for each in plan.gone):
        return Absent()
    record = at(answers.json_value(response), plan.of[kind].at.record or "")
    seen = _seen(plan, kind, record) if answers.succeeded(response) else None
    return Found(seen) if seen is not None and seen.crm_id == crm_id else answers.no_look(response)


def listed(plan: Plan, contact_id: str, response: Response) -> tuple[Seen, ...]:
    """All opportunities of one contact.  Raises UnreadableAnswer."""
    read = _listed(plan, Kind.OPPORTUNITY, response)
    if read is None or not read[1]:
        raise UnreadableAnswer(f"status {response.status}")
    return tuple(one for one in read[0] if one.contact_id == contact_id)


def matched(plan: Plan, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
    """The live contacts that really have the draft's phone or email.  Raises UnreadableAnswer."""
    told = plan.of[Kind.CONTACT].at
    rows = _rows(told, response)
    if rows is None:
        raise UnreadableAnswer(f"status {response.status}")
    same = [_seen(plan, Kind.CONTACT, row) for row in rows if _is_same_person(told, draft, row)]
    return tuple(one for one in same if one is not None and one.live)


def _is_same_person(told: Pointers, draft: ContactDraft, row: object) -> bool:
    phone, email = _at(row, told.phone), _at(row, told.email)
    return answers.is_same_person(draft, phones=(word(phone),), emails=(word(email),))


def controlled(plan: Plan, response: Response) -> Unsure | None:
    """None if the answer is a success, and says what the owner wants of it."""
    body = answers.json_value(response)
    if not answers.succeeded(response) or body is None:
        return answers.no_look(response)
    if plan.control_ok is None or word(at(body, plan.control_ok[0])) == plan.control_ok[1]:
        return None
    return answers.no_look(response)


# ---------------------------------------------------------------------------------------------------------------------


def _rows(told: Pointers, response: Response) -> list[object] | None:
    if told.rows is None or not answers.succeeded(response):
        return None
    rows = at(answers.json_value(response), told.rows)
    return rows if isinstance(rows, list) else None


def _listed(plan: Plan, kind: Kind, response: Response) -> tuple[tuple[Seen, ...], bool] | None:
    """All rows of a list, and whether there are no more; None if it is no such list or a row cannot be judged."""
    told = plan.of[kind].at
    rows = _rows(told, response)
    seen = [_seen(plan, kind, row) for row in rows or ()]
    kept = tuple(one for one in seen if one is not None)
    if rows is None or len(kept) != len(rows):
        return None
    return kept, _is_whole(told, rows, answers.json_value(response))


def _is_whole(told: Pointers, rows: list[object], body: object) -> bool:
    """A list that tells neither its total nor whether there is more is whole only if it is empty."""
    if told.total is not None:
        return word(at(body, told.total)) == str(len(rows))
    return at(body, told.more) is False if told.more is not None else not rows


def _seen(plan: Plan, kind: Kind, row: object) -> Seen | None:
    """A record; None if it has no id, or does not show its reference or whether it lives."""
    told = plan.of[kind].at
    crm_id, live = answers.record_id(_at(row, told.id)), _is_live(told, row)
    if crm_id is None or live is None or (kind not in plan.marker and _at(row, told.reference) is MISSING):
        return None
    text, title, reference = _said(plan, kind, row)
    return Seen(
        crm_id,
        reference,
        owner=answers.record_id(_at(row, told.owner)),
        live=live,
        contact_id=answers.record_id(_at(row, told.contact)) if kind is Kind.OPPORTUNITY else None,
        values=_values(told, kind, row, text, title),
        closed=_is_closed(plan, row) if kind is Kind.OPPORTUNITY else None,
    )


def _is_live(told: Pointers, row: object) -> bool | None:
    """None: the record does not say, though it should."""
    if told.live is None:
        return True
    value = _at(row, told.live)
    return (value is not told.negated) if isinstance(value, bool) else None


def _said(plan: Plan, kind: Kind, row: object) -> tuple[str, str, str | None]:
    """Text, title and reference; where the reference ends one of them, that one without it."""
    told = plan.of[kind].at
    text, title = word(_at(row, told.text)), word(_at(row, told.title))
    if kind not in plan.marker:
        return text, title, answers.record_id(_at(row, told.reference))
    if kind is Kind.TASK:
        marked = _MARKED_TITLE.search(title)
        return text, title if marked is None else title[: marked.start()], None if marked is None else marked[1]
    said, reference = answers.unmarked(text)
    return said, title, reference


def _values(told: Pointers, kind: Kind, row: object, text: str, title: str) -> dict[str, str]:
    """The guarded fields; a task without text shows its title, where a sentinel has the installation's id."""
    if kind is not Kind.OPPORTUNITY:
        return {"text": text or title}
    worth = {"amount": answers.amount(_at(row, told.amount)) or "", "currency": word(_at(row, told.currency))}
    return {"title": title, "text": text} | worth


def _is_closed(plan: Plan, row: object) -> bool | None:
    """None: nobody says."""
    value = _at(row, plan.of[Kind.OPPORTUNITY].at.closed)
    if value is MISSING:
        return None
    return value if isinstance(value, bool) else word(value).casefold() in plan.closed_words


def _at(row: object, path: str | None) -> object:
    return MISSING if path is None else at(row, path)
