"""What Salesforce's answers to writes mean.

Its own refusals are a list of `{message, errorCode, fields}` (developer.salesforce.com/docs/atlas.en-us.api_rest.meta/
api_rest/errorcodes.htm, 2026-11-29); the same numbers without one are doubt.

    status  errorCode                          meaning                              here
    201     (200 in some imitations)           created, with `id` and `success`     Confirmed
    204                                        an update was done                   Confirmed (updates)
    400     DUPLICATE_VALUE                    a unique value is another's          Duplicate, by whose value
    400     DUPLICATES_DETECTED                a duplicate rule of the org          Duplicate other
    400     UNABLE_TO_LOCK_ROW                 rolled back, somebody else writes    Retry
    400     STORAGE_LIMIT_EXCEEDED             the org is full                      Retry, account
    400     any other                          "couldn't be understood", not valid  Rejected validation
    401     INVALID_SESSION_ID                 the token is over                    Retry, account
    403     REQUEST_LIMIT_EXCEEDED             limit of calls, no permission        Retry, passing
    403     any other                          refused                              Retry, account
    404     NOT_FOUND, ENTITY_IS_DELETED, ...  no such record                       Rejected gone
    429     (not in the list)                  limit of calls                       Retry, passing
    300, 409, 412, 415, 5xx, any other                                              doubt

That a lock is rolled back was told by users (SFDO-Community/declarative-lookup-rollup-summaries#847); that 400, 401,
403 and 404 come before anything is written is what Salesforce's words for them say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Duplicate, Rejected, Response, Retry, Written

GONE = frozenset({"NOT_FOUND", "ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY"})
# The message goes on after "duplicate value found"; the id may be withheld, as "<unknown>".
_TAKEN = re.compile(r"(?<!\w)(\w+) duplicates value on record with id: ([A-Za-z0-9]{15,18})?", re.ASCII)

Error = Mapping[str, object]


def created(response: Response, reference: str) -> Written:
    """The id stands beside `success`."""
    body = answers.json_object(response) or {}
    crm_id = answers.record_id(body.get("id"))
    if answers.succeeded(response) and body.get("success") is True and crm_id is not None:
        return Confirmed(crm_id)
    return _unwritten(response, reference)


def updated(crm_id: str, response: Response, reference: str) -> Written:
    """An update is answered without a body (developer.salesforce.com/docs/platform/api-rest/guide/dome-upsert.html)."""
    if is_done(response):
        return Confirmed(crm_id)
    error = error_of(response)
    if response.status == HTTPStatus.NOT_FOUND and code_of(error) in GONE:
        return Rejected("gone")
    return _unwritten(response, reference)


def is_done(response: Response) -> bool:
    """An update or a deletion that was done."""
    return response.status == HTTPStatus.NO_CONTENT and not response.body


def is_gone(response: Response) -> bool:
    """Whether Salesforce itself says that there is no such record."""
    return response.status == HTTPStatus.NOT_FOUND and code_of(error_of(response)) in GONE


def error_of(response: Response) -> Error:
    """The first of Salesforce's own errors, {} where there is none."""
    listed = answers.json_rows(response)
    return listed[0] if listed and answers.text(listed[0].get("errorCode")) else {}


def code_of(error: Error) -> str:
    """Salesforce's word for it, "" where there is none."""
    return answers.text(error.get("errorCode"))


def _unwritten(response: Response, reference: str) -> Written:
    error = error_of(response)
    means: Written = answers.doubtful(response)
    if response.status == HTTPStatus.TOO_MANY_REQUESTS and answers.json_value(response) is not None:
        return answers.rate_limited(response)
    match response.status if error else None:
        case HTTPStatus.BAD_REQUEST:
            means = _refused(error, reference)
        case HTTPStatus.UNAUTHORIZED:
            means = Retry("bad_credential", scope="account")
        case HTTPStatus.FORBIDDEN if code_of(error) == "REQUEST_LIMIT_EXCEEDED":
            means = answers.rate_limited(response)
        case HTTPStatus.FORBIDDEN:
            means = Retry("forbidden", scope="account")
        case HTTPStatus.NOT_FOUND if code_of(error) in GONE:
            means = Rejected("gone")
    return means


def _refused(error: Error, reference: str) -> Written:
    match code_of(error):
        case "DUPLICATE_VALUE":
            return _taken(error, reference)
        case "DUPLICATES_DETECTED":
            return Duplicate("other", _matched(error))
        case "UNABLE_TO_LOCK_ROW":
            return Retry("locked")
        case "STORAGE_LIMIT_EXCEEDED":
            return Retry("plan_limit", scope="account")
        case code:
            # The message may repeat what the visitor wrote; names of fields do not.
            return Rejected("validation", tuple((name, code) for name in _fields(error)) or (("code", code),))


def _taken(error: Error, reference: str) -> Duplicate:
    """The message names the field and the record; field names are written without regard to case."""
    named = _TAKEN.search(answers.text(error.get("message")))
    if named is None:
        return Duplicate("other")
    ours = named[1].casefold() == reference.casefold()
    return Duplicate("reference" if ours else "other", named[2])


def _fields(error: Error) -> list[str]:
    listed = error.get("fields")
    return [answers.text(name) for name in listed if answers.text(name)] if isinstance(listed, list) else []


def _matched(error: Error) -> str | None:
    """The first record that a duplicate rule names (`duplicateResult`), where it shows any."""
    results = answers.rows(answers.mapping(error.get("duplicateResult")).get("matchResults")) or ()
    records = [record for result in results for record in answers.rows(result.get("matchRecords")) or ()]
    return answers.record_id(answers.mapping(records[0].get("record")).get("Id")) if records else None
