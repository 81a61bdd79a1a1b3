"""What Kommo's answers to writes mean.

Read in the vendor's own client (amocrm/amocrm-api-php 1354d8a, `AmoCRMApiRequest::checkHttpStatus`, 2026-11-29) and on
https://es-developers.kommo.com/docs/limitaciones: 401 is the token, 400 has `validation-errors` of the fields, 429 is
too many requests.  An error is problem+json (`title`, `detail`, `status`); the same number without it is doubt.  402
(the plan) and 403 (a right, or an address that is blocked) are the account's [INF].  Kommo does not say of any other
that nothing was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Kind, Rejected, Response, Retry, Written

PLURAL: Mapping[Kind, str] = {
    Kind.CONTACT: "contacts",
    Kind.OPPORTUNITY: "leads",
    Kind.TASK: "tasks",
    Kind.NOTE: "notes",
}


def created(kind: Kind, response: Response) -> Written:
    """A create answers with the new records' ids, in a list of one."""
    body = answers.json_object(response) or {}
    made = answers.rows(answers.mapping(body.get("_embedded")).get(PLURAL[kind])) or ()
    crm_id = named(kind, made[0]) if len(made) == 1 else None
    if response.status in {HTTPStatus.OK, HTTPStatus.CREATED} and crm_id is not None:
        return Confirmed(crm_id)
    return _unwritten(response, body)


def named(kind: Kind, row: Mapping[str, object]) -> str | None:
    """A record's id.  A note is read through its lead: its id is the lead's and its own."""
    crm_id, parent = answers.record_id(row.get("id")), answers.record_id(row.get("entity_id"))
    if kind is not Kind.NOTE or crm_id is None:
        return crm_id
    return None if parent is None else f"{parent}:{crm_id}"


def updated(crm_id: str, response: Response) -> Written:
    """An update answers with the record's id and the time."""
    body = answers.json_object(response) or {}
    if response.status == HTTPStatus.OK and answers.record_id(body.get("id")) == crm_id:
        return Confirmed(crm_id)
    return _unwritten(response, body)


def is_problem(response: Response, body: Mapping[str, object]) -> bool:
    """Whether it is Kommo itself that refuses."""
    return body.get("status") == response.status and bool(answers.text(body.get("title")))


def _unwritten(response: Response, body: Mapping[str, object]) -> Written:
    match response.status:
        case HTTPStatus.UNAUTHORIZED:
            # RFC 9110, section 15.5.2: the request was not applied.
            return Retry("bad_credential", scope="account")
        case HTTPStatus.TOO_MANY_REQUESTS:
            return answers.rate_limited(response)
        case HTTPStatus.PAYMENT_REQUIRED | HTTPStatus.FORBIDDEN if is_problem(response, body):
            return Retry("forbidden", scope="account")
        case HTTPStatus.BAD_REQUEST if is_problem(response, body):
            return Rejected("validation", _fields(body))
        case _:
            return answers.doubtful(response)


def _fields(body: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Paths and codes; what `detail` says may quote a person."""
    of_records = answers.rows(body.get("validation-errors")) or ()
    wrong = [each for record in of_records for each in answers.rows(record.get("errors")) or ()]
    return tuple((answers.text(each.get("path")), answers.text(each.get("code"))) for each in wrong)
