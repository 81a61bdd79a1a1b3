"""What EspoCRM's answers to writes mean.

Its own refusals have a JSON body with `messageTranslation`, or the header `X-Status-Reason`; the same numbers without
either are a proxy's, and doubt.  They are given before the record is saved: access, validation, assignment, links and
duplicates are checked first (`create` in application/Espo/Core/Record/Service.php of espocrm/espocrm 2cde9d9).  A
script of the owner's that runs after the save may refuse too, which is why a test with one's own is worth it [INF].

A 500 is doubt, and often a record that exists: that is how a unique index answers (8.4.2, 2026-11-29).
A lock-out by address is 403 for about a minute, for valid keys too (8.4.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Duplicate, Rejected, Response, Retry, Written

REASON = "x-status-reason"
INVALID = "validationFailure"
NO_SUCH_LINK = frozenset({"cannotRelateNonExisting", "cannotRelateForbidden"})


def created(response: Response) -> Written:
    """A create answers with the record."""
    body = answers.json_object(response) or {}
    crm_id = answers.record_id(body.get("id"))
    if response.status in {HTTPStatus.OK, HTTPStatus.CREATED} and crm_id is not None:
        return Confirmed(crm_id)
    return _unwritten(response, body)


def updated(crm_id: str, response: Response) -> Written:
    """An update answers with the record, too."""
    body = answers.json_object(response) or {}
    if response.status == HTTPStatus.OK and answers.record_id(body.get("id")) == crm_id:
        return Confirmed(crm_id)
    return _unwritten(response, body)


def is_gone(response: Response) -> bool:
    """Whether EspoCRM itself says that there is no such record."""
    return response.status == HTTPStatus.NOT_FOUND and reason(response).endswith("does not exist.")


def reason(response: Response) -> str:
    """EspoCRM's own word for a refusal, "" where it is none of its own."""
    return answers.text(response.headers.get(REASON, "")).strip()


def _unwritten(response: Response, body: Mapping[str, object]) -> Written:
    match response.status:
        case HTTPStatus.UNAUTHORIZED:
            # RFC 9110, section 15.5.2: the request was not applied.
            return Retry("bad_credential", scope="account")
        case HTTPStatus.TOO_MANY_REQUESTS:
            return answers.rate_limited(response)
        case _:
            told = answers.mapping(body.get("messageTranslation"))
            refused = _refused(told, response) if told or reason(response) else None
            return refused or answers.doubtful(response)


def _refused(told: Mapping[str, object], response: Response) -> Written | None:
    """A refusal of EspoCRM's own; None: it is none of those that leave nothing behind."""
    match response.status:
        case HTTPStatus.BAD_REQUEST:
            return _invalid(told, response)
        case HTTPStatus.FORBIDDEN if answers.text(told.get("label")) in NO_SUCH_LINK:
            return Rejected("validation", (("link", answers.text(told.get("label"))),))
        case HTTPStatus.FORBIDDEN:
            return Retry("forbidden", scope="account")
        case HTTPStatus.CONFLICT if reason(response).lower().startswith("duplicate"):
            return Duplicate("other", _only_id(response))
        case HTTPStatus.NOT_FOUND if is_gone(response):
            return Rejected("gone")
        case _:
            return None


def _invalid(told: Mapping[str, object], response: Response) -> Written:
    data = answers.mapping(told.get("data"))
    field, kind = answers.text(data.get("field")), answers.text(data.get("type"))
    if told.get("label") == INVALID and field:
        return Rejected("validation", ((field, kind),))
    return Rejected("validation", (("message", answers.rule(reason(response)) or answers.text(told.get("label"))),))


def _only_id(response: Response) -> str | None:
    """The record that stands there, if it is one: the body lists them (trap 15)."""
    rows = answers.json_rows(response) or ()
    return answers.record_id(rows[0].get("id")) if len(rows) == 1 else None
