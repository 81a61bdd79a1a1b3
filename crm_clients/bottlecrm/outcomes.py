"""What BottleCRM's answers to writes mean.

Surely not executed are only answers in its own JSON: 400 is given before the first write (`contacts/views.py`,
`opportunity/views/opportunity_views.py`, `opportunity/updates.py`, `tasks/updates.py` of 1.35.0, 2026-11-29), 401, 403
and 429 before the view (Django REST framework, "Authentication", "Permissions", "Throttling").  The same numbers from a
proxy, in HTML, are doubt; so is every 5xx: a create whose broker was away answered 500, and the record was there.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Duplicate, Kind, Rejected, Response, Retry, Uncertain, Written

# The whole text of a 404, by kind; any other 404 comes from somewhere else.
GONE: Mapping[Kind, str] = {
    Kind.CONTACT: "No Contact matches the given query.",
    Kind.OPPORTUNITY: "Opportunity not found.",
    Kind.TASK: "No such task.",
    Kind.NOTE: "Opportunity not found.",
}
UNKNOWN_CALLER = "Organization context is required"
WRONG_SCOPE = "This token is not scoped for"


def created(kind: Kind, response: Response) -> Written:
    """A task's and a comment's id are not in the answer (trap 12): what was made has to be looked for."""
    body = answers.json_object(response)
    if not answers.succeeded(response) or body is None or body.get("error", False) is not False:
        return _unwritten(kind, response, body)
    crm_id = answers.record_id(body.get("id"))
    if kind in {Kind.TASK, Kind.NOTE}:
        is_done = "message" in body if kind is Kind.TASK else "comments" in body
        return Uncertain("no_id_by_design") if is_done else answers.doubtful(response)
    return answers.doubtful(response) if crm_id is None else Confirmed(crm_id)


def updated(kind: Kind, crm_id: str, response: Response) -> Written:
    """The answer to an update has no record in it; what came of it is read back."""
    body = answers.json_object(response)
    if answers.succeeded(response) and body is not None and body.get("error") is False:
        return Confirmed(crm_id)
    return _unwritten(kind, response, body)


def is_gone(kind: Kind, response: Response) -> bool:
    """Whether BottleCRM itself says that there is no such record, or none that this token may see."""
    body = answers.json_object(response) or {}
    return response.status == HTTPStatus.NOT_FOUND and GONE[kind] in (_said(body), answers.text(body.get("errors")))


def _unwritten(kind: Kind, response: Response, body: Mapping[str, object] | None) -> Written:
    if body is None:
        return answers.doubtful(response)
    match response.status:
        case HTTPStatus.BAD_REQUEST:
            return _refused(response, body)
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN if _said(body):
            return _forbidden(_said(body))
        case HTTPStatus.TOO_MANY_REQUESTS:
            return Retry("rate_limited", answers.retry_after(response), scope="account", passing=True)
        case HTTPStatus.NOT_FOUND if is_gone(kind, response):
            return Rejected("gone")
        case _:
            return answers.doubtful(response)


def _refused(response: Response, body: Mapping[str, object]) -> Written:
    """A rule that is broken, and which; a malformed id is told without `error` and `errors` (trap 17)."""
    broken = [(name, _first(rules)) for name, rules in answers.mapping(body.get("errors", body)).items()]
    fields = tuple((answers.text(name), rule) for name, rule in broken if rule)
    if not fields:
        return answers.doubtful(response)
    for field, rule in fields:
        if field == "name" and "already exists" in rule:
            return Duplicate("name")
        if field == "email" and "already exists" in rule:
            return Duplicate("email")
    return Rejected("validation", fields)


def _first(rules: object) -> str:
    return answers.text(rules[0]) if isinstance(rules, list) and rules else answers.text(rules)


def _forbidden(said: str) -> Written:
    """403 is also "who are you" (trap 18); only the text differs."""
    if said.startswith(WRONG_SCOPE):
        return Rejected("token_scope", (("detail", said),))
    if said.startswith(UNKNOWN_CALLER):
        return Retry("bad_credential", scope="account")
    return Retry("forbidden", scope="account")


def _said(body: Mapping[str, object]) -> str:
    return answers.text(body.get("detail"))
