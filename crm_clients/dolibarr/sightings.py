"""What Dolibarr's answers to looks show.  Numbers come back as texts, and an empty list as 404 of its own (trap 10)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers, rich_text
from crm_clients.base import Absent, ContactDraft, Found, Kind, Looked, Response, Seen, UnreadableAnswer, Unsure
from crm_clients.dolibarr.drafts import Company
from crm_clients.dolibarr.outcomes import own_error

PAGE = 100  # rows of a list, the default of most (`limit`)

_LABEL = re.compile(r"(?<!\s)\s*\[ref:([a-z0-9-]{1,64})\]\s*\Z")
_HTML = re.compile(r"<(br|p|div)\b", re.IGNORECASE)

# What a row must show, or it cannot be judged.
SHOWN: Mapping[Kind, str] = {Kind.CONTACT: "ref_ext", Kind.OPPORTUNITY: "ref", Kind.TASK: "label", Kind.NOTE: "label"}


def found(kind: Kind, reference: str, response: Response, company: Company) -> Looked:
    """What stands under a reference, which is compared on our side."""
    seen = _listed(kind, response, company)
    if seen is None:
        return answers.no_look(response)
    return answers.under(reference, seen, complete=len(seen) < PAGE)


def was_read(kind: Kind, crm_id: str, response: Response, company: Company) -> Looked:
    """The one record that was asked for."""
    if _is_nothing(response):
        return Absent()
    body = answers.json_object(response)
    seen = None if body is None or response.status != HTTPStatus.OK else _seen(kind, body, company)
    return Found(seen) if seen is not None and seen.crm_id == crm_id else answers.no_look(response)


def listed(contact_id: str, response: Response, company: Company) -> tuple[Seen, ...]:
    """All projects of one third party.  Raises UnreadableAnswer."""
    seen = _listed(Kind.OPPORTUNITY, response, company)
    if seen is None or len(seen) >= PAGE:
        raise UnreadableAnswer(f"status {response.status}")
    return tuple(one for one in seen if one.contact_id == contact_id)


def matched(draft: ContactDraft, response: Response, company: Company) -> tuple[Seen, ...]:
    """The third parties that really have the draft's phone or email.  Raises UnreadableAnswer."""
    rows = rows_of(response)
    if rows is None:
        raise UnreadableAnswer(f"status {response.status}")
    same = [_seen(Kind.CONTACT, row, company) for row in rows if _is_same_person(draft, row)]
    return tuple(one for one in same if one is not None and one.live)


def _is_same_person(draft: ContactDraft, row: Mapping[str, object]) -> bool:
    phones = (row.get("phone"), row.get("phone_mobile"))
    return answers.is_same_person(draft, phones=phones, emails=(row.get("email"),))


def is_user(owner: str, response: Response) -> bool | None:
    """Whether somebody may still own something; None: the answer does not tell."""
    if _is_nothing(response):
        return False
    body = answers.json_object(response) or {}
    if response.status != HTTPStatus.OK or answers.record_id(body.get("id")) != owner:
        return None
    return {"1": True, "0": False}.get(_word(body.get("status")) or _word(body.get("statut")))


def rows_of(response: Response) -> tuple[Mapping[str, object], ...] | None:
    """What a list shows; None: it is no list of Dolibarr's."""
    if _is_nothing(response):
        return ()
    return answers.json_rows(response) if response.status == HTTPStatus.OK else None


def controlled(response: Response) -> Unsure | None:
    """None if the key works and projects may be read: a list, empty as it should be."""
    return answers.no_look(response) if rows_of(response) is None else None


# ---------------------------------------------------------------------------------------------------------------------


def _is_nothing(response: Response) -> bool:
    return response.status == HTTPStatus.NOT_FOUND and own_error(response) is not None


def _listed(kind: Kind, response: Response, company: Company) -> tuple[Seen, ...] | None:
    """All rows of a list; None if it is no such list or a row cannot be judged."""
    rows = rows_of(response)
    seen = [_seen(kind, row, company) for row in rows or ()]
    kept = tuple(one for one in seen if one is not None)
    return kept if rows is not None and len(kept) == len(rows) else None


def _seen(kind: Kind, row: Mapping[str, object], company: Company) -> Seen | None:
    """A record; None if it has no id (trap 9), or does not show what its reference stands in."""
    crm_id = answers.record_id(row.get("id"))
    if crm_id is None or SHOWN[kind] not in row:
        return None
    reference, values = _told(kind, row, company)
    return Seen(
        crm_id,
        reference,
        owner=_owner(kind, row, company),
        live=kind is not Kind.CONTACT or _word(row.get("status")) != "0",
        contact_id=_id(row.get("socid")) if kind is Kind.OPPORTUNITY else None,
        values=values,
        closed=_word(row.get("status")) == "2" if kind is Kind.OPPORTUNITY else None,
    )


def _owner(kind: Kind, row: Mapping[str, object], company: Company) -> str | None:
    if kind is Kind.OPPORTUNITY and company.owner_field:
        return _id(answers.mapping(row.get("array_options")).get(f"options_{company.owner_field}"))
    return _id(row.get("userownerid"))


def _told(kind: Kind, row: Mapping[str, object], company: Company) -> tuple[str | None, Mapping[str, str]]:
    """The reference, and the guarded fields."""
    match kind:
        case Kind.CONTACT:
            told = {"text": _plain(row.get("note_private")), "phone": answers.text(row.get("phone"))}
            return answers.record_id(row.get("ref_ext")), told
        case Kind.OPPORTUNITY:
            worth = answers.amount(row.get("opp_amount"))
            told = {"amount": "" if worth in {None, "0"} else worth or "", "currency": company.currency or ""}
            said = {"title": answers.text(row.get("title")), "text": _plain(row.get("description"))}
            return answers.record_id(row.get("ref")), said | told
        case Kind.TASK | Kind.NOTE:
            label = answers.text(row.get("label"))
            marked = _LABEL.search(label)
            title = label if marked is None else label[: marked.start()]
            text = _plain(row.get("note_private")) if kind is Kind.NOTE else title
            return None if marked is None else marked.group(1), {"text": text}


def _plain(value: object) -> str:
    """Whether a description is text or HTML depends on the company's editor."""
    text = answers.text(value)
    return rich_text.read(text) if _HTML.search(text) else text


def _word(value: object) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else answers.text(value)


def _id(value: object) -> str | None:
    """An id; Dolibarr writes "0" and "" for none."""
    known = answers.record_id(value)
    return None if known == "0" else known
