"""What the sandbox's answers to looks show."""

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

_MARKER = re.compile(r"\n?\[ref:([a-z0-9-]{1,64})\]\Z")
NOT_FOUND = 404

# The stages that end an opportunity, in the words of the sandbox; every other word is a stage of an open one.
CLOSED = frozenset({"won", "lost", "ganada", "perdida"})


def found(kind: Kind, reference: str, response: Response, *, marks: bool) -> Looked:
    """The records under a reference; one that lives outranks those in the trash, two that live are an incident."""
    listed = _listed(kind, response, marks=marks)
    if listed is None:
        return answers.no_look(response)
    seen, complete = listed
    ours = [one for one in seen if one.reference == reference]
    alive = [one for one in ours if one.live]
    if len(alive) > 1:
        return Several(tuple(one.crm_id for one in alive))
    if ours:
        return Found((alive or ours)[0])
    return Absent() if complete else Unsure("more_than_one_page")


def _listed(kind: Kind, response: Response, *, marks: bool) -> tuple[tuple[Seen, ...], bool] | None:
    """All records of a list, and whether there are no more; None if the answer is not such a list."""
    body = answers.json_object(response)
    results = None if body is None else answers.rows(body.get("results"))
    if body is None or results is None or not answers.succeeded(response):
        return None
    seen = tuple(one for row in results if (one := _seen(kind, row, marks=marks)) is not None)
    return (seen, body.get("more") is False) if len(seen) == len(results) else None


def listed(contact_id: str, response: Response) -> tuple[Seen, ...]:
    """All opportunities of one contact.  Raises UnreadableAnswer."""
    read = _listed(Kind.OPPORTUNITY, response, marks=False)
    if read is None or not read[1]:
        raise UnreadableAnswer(f"status {response.status}")
    return tuple(one for one in read[0] if one.contact_id == contact_id)


def page(kind: Kind, response: Response, *, marks: bool) -> Page:
    """One page of all records of a kind.  Raises UnreadableAnswer."""
    read = _listed(kind, response, marks=marks)
    after = (answers.json_object(response) or {}).get("after")
    if read is None or not (after is None if read[1] else isinstance(after, str)):
        raise UnreadableAnswer(f"status {response.status}")
    return Page(read[0], after if isinstance(after, str) else None)


def was_read(kind: Kind, crm_id: str, response: Response, *, marks: bool) -> Looked:
    """The one record that was asked for."""
    if not_found(response):
        return Absent()
    body = answers.json_object(response)
    seen = None if body is None or not answers.succeeded(response) else _seen(kind, body, marks=marks)
    if seen is None or seen.crm_id != crm_id:
        return answers.no_look(response)
    return Found(seen)


def not_found(response: Response) -> bool:
    """Our own 404, and not that of something between us and the CRM."""
    body = answers.json_object(response) or {}
    return response.status == NOT_FOUND and body.get("error") == "not_found"


def matched(draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
    """The live contacts that really have the draft's phone or email.  Raises UnreadableAnswer."""
    body = answers.json_object(response)
    results = None if body is None else answers.rows(body.get("results"))
    if results is None or not answers.succeeded(response):
        raise UnreadableAnswer(f"status {response.status}")
    same = [_seen(Kind.CONTACT, row, marks=False) for row in results if _same_person(draft, row)]
    return tuple(one for one in same if one is not None and one.live)


def _same_person(draft: ContactDraft, row: Mapping[str, object]) -> bool:
    phone, email = _digits(answers.text(row.get("phone"))), answers.text(row.get("email")).lower()
    return bool(
        (draft.phone and phone and phone == _digits(draft.phone))
        or (draft.email and email and email == draft.email.lower())
    )


def _digits(phone: str) -> str:
    return re.sub(r"[^0-9]", "", phone)


def _seen(kind: Kind, row: Mapping[str, object], *, marks: bool) -> Seen | None:
    """A record as it is shown; None if it has no id, or does not say whether it lives.

    Only where `marks` is true is a marker one: elsewhere it is what somebody wrote.
    """
    crm_id, live = answers.record_id(row.get("id")), row.get("live")
    if crm_id is None or not isinstance(live, bool):
        return None
    text, reference = answers.text(row.get("text")), answers.record_id(row.get("reference"))
    if marks:
        text, reference = _unmarked(text)
    return Seen(
        crm_id,
        reference,
        owner=answers.record_id(row.get("owner_id")),
        live=live,
        contact_id=answers.record_id(row.get("contact_id")),
        values=_values(kind, text, row),
        closed=answers.text(row.get("stage")).casefold() in CLOSED if kind is Kind.OPPORTUNITY else None,
        merged_into=answers.record_id(row.get("merged_into")),
    )


def _unmarked(text: str) -> tuple[str, str | None]:
    """A text without the marker at its end, and the marker's reference."""
    marker = _MARKER.search(text)
    return (text, None) if marker is None else (text[: marker.start()], marker.group(1))


def _values(kind: Kind, text: str, row: Mapping[str, object]) -> Mapping[str, str]:
    """The guarded fields; a task without text shows its title, where a sentinel has the installation's id."""
    title = answers.text(row.get("title"))
    match kind:
        case Kind.OPPORTUNITY:
            worth = {"amount": answers.amount(row.get("amount")) or "", "currency": answers.text(row.get("currency"))}
            return {"title": title, "text": text} | worth
        case Kind.TASK:
            return {"text": text or title}
        case Kind.CONTACT:
            return {"text": text, "phone": answers.text(row.get("phone"))}
        case Kind.NOTE:
            return {"text": text}
