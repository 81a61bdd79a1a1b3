"""What the API refuses, as RFC 9457 says it: application/problem+json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, assert_never

import psycopg
import psycopg_pool
import structlog
from flask import Response, request
from werkzeug.exceptions import HTTPException

from intake.at_rest import Damaged
from intake.bulk import OtherContent, OtherNumber
from intake.decided import Refused
from intake.desk import not_in_crm
from intake.desk.acting import NotInCrm, NotReadYet
from intake.explain import refusal_text
from intake.lead_schema import InvalidCorrection, NotALead
from intake.ops import BadCursor
from intake.person_arrows import NotAllowed
from intake.quarantine import NotReleased

log = structlog.get_logger()

TYPE: Final = "application/problem+json"

# Every code, and what it means; the reference page shows them.
CODES: Final[Mapping[str, str]] = {
    "unauthorized": "There is no token, or it is unknown, expired or revoked.",
    "forbidden": "The token's scopes, or its operator's role, do not allow this.",
    "not_found": "There is no such thing, or no such address.",
    "method_not_allowed": "This address takes other methods.",
    "invalid": "A field breaks a rule; `fields` says which.",
    "bad_cursor": "The cursor is none that a page ended with.",
    "bad_request": "The request could not be read.",
    "not_allowed": "The event does not allow this now; `reason` is a stable word, and its `safe_actions` tell what is.",
    "other_content": "By now others match than were seen, or one of them says something else: nothing was begun.",
    "other_number": "By now another number of events matches, which `events` tells: nothing was begun.",
    "not_in_crm": "The CRM does not show what it must; `reason` says why.",
    "crm_not_read": "A worker reads the CRM first and has not answered: send the same again after `Retry-After`.",
    "in_progress": "The same Idempotency-Key is being worked on.",
    "key_reused": "The Idempotency-Key belongs to another request.",
    "too_many_requests": "The token asks too often: wait for `Retry-After`.",
    "unavailable": "The database does not answer: nothing was decided.",
    "illegible": "What it says was damaged in the database, and cannot be read: nothing was decided.",
    "failed": "A defect of ours; nothing was decided.",
}


class Problem(Exception):
    """An answer that refuses.  `more` stands beside the members of RFC 9457; `retry_after` in seconds."""

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        detail: str = "",
        more: Mapping[str, object] | None = None,
        *,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.detail = status, code, detail
        self.more = dict(more or {})
        self.retry_after = retry_after

    def answer(self) -> Response:
        """As it is sent."""
        document = {
            "type": f"/api/#{self.code}",
            "title": CODES[self.code],
            "status": self.status.value,
            "code": self.code,
            **({"detail": self.detail} if self.detail else {}),
            **self.more,
        }
        answer = Response(json.dumps(document, ensure_ascii=False), self.status, content_type=TYPE)
        if self.retry_after is not None:
            answer.headers["Retry-After"] = str(self.retry_after)
        if self.status is HTTPStatus.UNAUTHORIZED:
            answer.headers["WWW-Authenticate"] = 'Bearer realm="intake"'
        return answer


def of(error: Exception) -> Problem | None:  # noqa: PLR0911  # one a kind
    """What an expected error is to a program; None: it is a bug."""
    match error:
        case Problem():
            return error
        case Refused() | NotAllowed() | NotInCrm() | NotReleased():
            return _of_decision(error)
        case OtherNumber():
            return Problem(HTTPStatus.CONFLICT, "other_number", more={"events": error.events})
        case OtherContent():
            return Problem(HTTPStatus.CONFLICT, "other_content")
        case InvalidCorrection():
            return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", more={"fields": error.fields})
        case NotReadYet():
            return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "crm_not_read", retry_after=2)
        case BadCursor():
            return Problem(HTTPStatus.BAD_REQUEST, "bad_cursor")
        case LookupError():
            return Problem(HTTPStatus.NOT_FOUND, "not_found")
        case psycopg.OperationalError() | psycopg_pool.PoolTimeout():
            return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", retry_after=5)
        case Damaged() | NotALead():
            return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "illegible")
        case HTTPException():
            return _of_http(error)
        case _:
            return None


def _of_decision(error: Refused | NotAllowed | NotInCrm | NotReleased) -> Problem:
    detail = ""
    more: dict[str, object]
    match error:
        case NotInCrm():
            return Problem(HTTPStatus.CONFLICT, "not_in_crm", not_in_crm.told(error, "en"), {"reason": error.why})
        case Refused():
            detail, more = refusal_text(error.why, error.state, "en"), {"reason": error.why, "state": error.state}
        case NotAllowed():
            detail, more = str(error), {"reason": "moved_on", "state": error.state or ""}
        case NotReleased():
            more = {"reason": error.why, "fields": error.fields}
        case _:
            assert_never(error)
    return Problem(HTTPStatus.CONFLICT, "not_allowed", detail, more)


def _of_http(error: HTTPException) -> Problem:
    status = HTTPStatus(error.code or HTTPStatus.BAD_REQUEST)
    code = {HTTPStatus.NOT_FOUND: "not_found", HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed"}.get(status)
    return Problem(status, code or "bad_request")


def handle(error: Exception) -> Response:
    """Every error of the API's routes."""
    problem = of(error)
    if problem is None:
        log.error("api failed", endpoint=request.endpoint, error=type(error).__name__)
        problem = Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "failed")
    return problem.answer()
