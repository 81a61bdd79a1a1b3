"""What Dolibarr's answers to writes mean.

An error is JSON, `{"error": {"code": 404, "message": "Not Found: ..."}}`, with the same number as the status; without
it the number is a proxy's, and doubt.  Rights and required fields are checked before anything is written, with 401,
403 and 400 (`post` in api_projects.class.php and api_agendaevents.class.php of Dolibarr/dolibarr).  Everything else
that goes wrong is a 500, also a record whose reference stands already ("Duplicate entry", seen on a fork of 20,
2026-11-29): doubt, which the next look resolves.
"""

from __future__ import annotations

from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Rejected, Response, Retry, Written


def created(response: Response) -> Written:
    """A create answers with the bare number of the record."""
    crm_id = answers.json_value(response)
    known = answers.record_id(crm_id) if isinstance(crm_id, int) else None
    return Confirmed(known) if response.status == HTTPStatus.OK and known is not None else _unwritten(response)


def updated(crm_id: str, response: Response) -> Written:
    """An update answers with the record."""
    body = answers.json_object(response) or {}
    if response.status == HTTPStatus.OK and answers.record_id(body.get("id")) == crm_id:
        return Confirmed(crm_id)
    return _unwritten(response)


def own_error(response: Response) -> str | None:
    """What Dolibarr itself says of a failure; None: it is not Dolibarr that says it."""
    error = answers.mapping((answers.json_object(response) or {}).get("error"))
    code = error.get("code")
    same = isinstance(code, int) and not isinstance(code, bool) and code == response.status
    return answers.text(error.get("message")) if same else None


def _unwritten(response: Response) -> Written:
    said = own_error(response)
    match response.status:
        case HTTPStatus.TOO_MANY_REQUESTS:
            return answers.rate_limited(response)
        case HTTPStatus.UNAUTHORIZED:
            # A wrong key, and a right that is missing; RFC 9110, section 15.5.2: it was not applied.
            return Retry("bad_credential", scope="account")
        case HTTPStatus.FORBIDDEN if said is not None:
            return Retry("forbidden", scope="account")
        case HTTPStatus.BAD_REQUEST if said is not None:
            return Rejected("validation", (("message", answers.rule(said)),))
        case HTTPStatus.NOT_FOUND if said is not None:
            return Rejected("gone")
        case _:
            return answers.doubtful(response)
