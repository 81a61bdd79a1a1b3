"""What HubSpot's answers to writes mean.

The table is that of developers.hubspot.com/docs/api-reference/error-handling (2026-11-29), which calls all fields of an
error optional; HubSpot's own answers are known by their `correlationId`, and the same numbers without one are doubt.

    status  category                       meaning                                      here
    400     VALIDATION_ERROR               a property or stage that is not valid         Rejected
    400     "... already has that value"   the unique value is another record's          Duplicate, by whose value
    401                                    the token is not valid                        Retry, account
    403     MISSING_SCOPES                 the token may not do this                     Rejected token_scope
    403                                    forbidden                                     Retry, account
    404                                    no such record (this one, or a parent)        Rejected gone
    409     CONFLICT "Existing ID: ..."    a contact has this e-mail                     Duplicate email
    429                                    limit of calls                                Retry, passing
    207, 409 without an id, 414, 423, 477, 5xx, any other                                doubt

That 4xx answers come before anything is written is inferred from what they say.  The two texts that name an existing
record are not in the documentation: they were seen by public programs (HubSpot/hubspot-api-php#59 for the e-mail).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Duplicate, Kind, Rejected, Response, Retry, Written

_TAKEN = re.compile(r"\b([0-9]{1,20}) already has that value", re.ASCII)
_PROPERTY = re.compile(r"\bpropertyName=(\w+)", re.ASCII)
_EXISTS = re.compile(r"Existing ID: ([0-9]{1,20})", re.ASCII)


def created(kind: Kind, response: Response, reference: str) -> Written:
    """The answer to a create is the record with its id."""
    body = answers.json_object(response)
    if body is None or not answers.succeeded(response):
        return _unwritten(kind, response, body, reference)
    crm_id = answers.record_id(body.get("id"))
    is_record = isinstance(body.get("properties"), dict)
    return Confirmed(crm_id) if is_record and crm_id is not None else answers.doubtful(response)


def updated(kind: Kind, crm_id: str, response: Response, reference: str) -> Written:
    """The answer to an update is the record; one that was merged away answers as its survivor."""
    written = created(kind, response, reference)
    if isinstance(written, Confirmed) and written.crm_id != crm_id:
        return answers.doubtful(response, written.crm_id)
    return written


def is_gone(response: Response) -> bool:
    """Whether HubSpot itself says that there is no such record, or none that is not archived."""
    body = answers.json_object(response)
    return response.status == HTTPStatus.NOT_FOUND and body is not None and _is_own(body)


def is_refused(response: Response) -> bool:
    """Whether HubSpot itself refuses the question: a property that does not exist, or names no single record."""
    body = answers.json_object(response)
    return response.status == HTTPStatus.BAD_REQUEST and body is not None and _is_own(body)


def _is_own(body: Mapping[str, object]) -> bool:
    return bool(answers.text(body.get("correlationId")))


def _unwritten(kind: Kind, response: Response, body: Mapping[str, object] | None, reference: str) -> Written:
    means: Written = answers.doubtful(response)
    if body is None:
        return means
    if response.status == HTTPStatus.TOO_MANY_REQUESTS:
        return answers.rate_limited(response)
    match response.status if _is_own(body) else None:
        case HTTPStatus.BAD_REQUEST:
            means = _refused(body, reference)
        case HTTPStatus.UNAUTHORIZED:
            means = Retry("bad_credential", scope="account")
        case HTTPStatus.FORBIDDEN:
            means = _forbidden(body)
        case HTTPStatus.NOT_FOUND:
            means = Rejected("gone")
        case HTTPStatus.CONFLICT if kind is Kind.CONTACT:
            means = _taken_email(response, body)
    return means


def _refused(body: Mapping[str, object], reference: str) -> Written:
    for said in _texts(body):
        taken, named = _TAKEN.search(said), _PROPERTY.search(said)
        if taken is not None:
            return Duplicate("reference" if named is not None and named[1] == reference else "other", taken[1])
    return Rejected("validation", _fields(body))


def _texts(body: Mapping[str, object]) -> tuple[str, ...]:
    errors = answers.rows(body.get("errors")) or ()
    return (answers.text(body.get("message")), *(answers.text(each.get("message")) for each in errors))


def _fields(body: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Names of properties and codes of rules; messages are left out, since they repeat what the visitor wrote."""
    errors = answers.rows(body.get("errors")) or ()
    told = (
        (_property(each), answers.text(each.get("code")) or answers.text(each.get("subCategory"))) for each in errors
    )
    fields = tuple((name, rule or "invalid") for name, rule in told if name)
    return fields or ((("category", answers.text(body.get("category"))),) if body.get("category") else ())


def _property(error: Mapping[str, object]) -> str:
    named = answers.mapping(error.get("context")).get("propertyName")
    first = named[0] if isinstance(named, list) and named else ""
    return answers.text(error.get("in")) or answers.text(first)


def _forbidden(body: Mapping[str, object]) -> Written:
    if answers.text(body.get("category")) != "MISSING_SCOPES":
        return Retry("forbidden", scope="account")
    return Rejected("token_scope", (("detail", ", ".join(_scopes(body)) or "MISSING_SCOPES"),))


def _scopes(body: Mapping[str, object]) -> list[str]:
    """The scopes that would do, as `context` or the errors' name them."""
    contexts = [body, *(answers.rows(body.get("errors")) or ())]
    listed = [answers.mapping(each.get("context")).get("requiredGranularScopes") for each in contexts]
    return [answers.text(scope) for scopes in listed if isinstance(scopes, list) for scope in scopes]


def _taken_email(response: Response, body: Mapping[str, object]) -> Written:
    existing = _EXISTS.search(answers.text(body.get("message")))
    return answers.doubtful(response) if existing is None else Duplicate("email", existing[1])
