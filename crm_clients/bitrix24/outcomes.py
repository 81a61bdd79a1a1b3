"""What Bitrix24's answers to writes mean, by their codes (bitrix24/b24restdocs 5988ed1, read on 2026-11-29).

    page                          status  code                            here
    _includes/system-errors.md    401     expired_token, NO_AUTH_FOUND    the credential's, not executed
                                  403     insufficient_scope, ...         the account's, not executed
                                  503     QUERY_LIMIT_EXCEEDED            too many requests, not executed
                                  503     OVERLOAD_LIMIT                  blocked by hand, not executed
    limits.md                     429     OPERATION_TIME_LIMIT            too many requests, not executed
    crm-item-add.md, -update.md   400     any other                       refused, not executed
                                  400     ACCESS_DENIED                   the account's, not executed
                                  400     NOT_FOUND                       there is no such record
    rest-v3.md                    400,403 BITRIX_REST_V3_EXCEPTION_...    refused, or the account's
                                  422     ...IDEMPOTENCYKEYREUSED...      the task stands already

A number without a code is a proxy's, and doubt; so is every other 5xx.  A batch is never sent: it is always 200.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Duplicate, Kind, Rejected, Response, Retry, Uncertain, Unsure, Written

OF_ACCOUNT = frozenset({
    "ACCESS_DENIED", "insufficient_scope", "user_access_error", "BITRIX_REST_V3_EXCEPTION_ACCESSDENIEDEXCEPTION",
    "BITRIX_REST_V3_EXCEPTION_INSUFFICIENTSCOPEEXCEPTION",
})  # fmt: skip
OF_CREDENTIAL = frozenset({"expired_token", "NO_AUTH_FOUND", "INVALID_CREDENTIALS", "invalid_token"})
TOO_MANY = frozenset({"QUERY_LIMIT_EXCEEDED", "OPERATION_TIME_LIMIT"})
OVERLOAD = "OVERLOAD_LIMIT"
GONE = frozenset({"NOT_FOUND", "BITRIX_REST_V3_EXCEPTION_ENTITYNOTFOUNDEXCEPTION"})
KEY_REUSED = "BITRIX_REST_V3_EXCEPTION_IDEMPOTENCYKEYREUSEDEXCEPTION"
NO_REST_3 = "ERROR_METHOD_NOT_FOUND"


def created(kind: Kind, response: Response) -> Written:
    """`crm.item.add` and REST 3.0 answer with the item.

    A comment's answer is its bare number, which alone leads to no comment: what was made is looked for.
    """
    body = answers.json_object(response) or {}
    crm_id = _made(kind, body.get("result")) if response.status == HTTPStatus.OK and "error" not in body else None
    if crm_id is None:
        return _unwritten(response, body)
    return Uncertain("no_id_by_design") if kind is Kind.NOTE else Confirmed(crm_id)


def _made(kind: Kind, result: object) -> str | None:
    if kind is Kind.NOTE:
        return answers.record_id(result)
    return answers.record_id(answers.mapping(answers.mapping(result).get("item")).get("id"))


def updated(crm_id: str, response: Response) -> Written:
    """`crm.item.update` answers with the item."""
    body = answers.json_object(response) or {}
    if response.status == HTTPStatus.OK and _made(Kind.OPPORTUNITY, body.get("result")) == crm_id:
        return Confirmed(crm_id)
    return _unwritten(response, body)


def code(body: Mapping[str, object]) -> str:
    """Bitrix24's word for an error, of the old interface or the new; "" if there is none."""
    error = body.get("error")
    return answers.text(error) or answers.text(answers.mapping(error).get("code"))


def _unwritten(response: Response, body: Mapping[str, object]) -> Written:
    word = code(body)
    match response.status:
        case HTTPStatus.UNAUTHORIZED:
            # RFC 9110, section 15.5.2: the request was not applied.
            return Retry("bad_credential", scope="account")
        case HTTPStatus.TOO_MANY_REQUESTS:
            return answers.rate_limited(response)
        case HTTPStatus.SERVICE_UNAVAILABLE:
            return _unavailable(word, response)
        case HTTPStatus.UNPROCESSABLE_ENTITY if word == KEY_REUSED:
            return Duplicate("reference")
        case HTTPStatus.BAD_REQUEST | HTTPStatus.FORBIDDEN | HTTPStatus.NOT_FOUND if word:
            return _refused(word, body)
        case _:
            return answers.doubtful(response)


def _unavailable(word: str, response: Response) -> Written:
    """The one 5xx that Bitrix24 gives before it does anything, if it says so itself."""
    if word in TOO_MANY:
        return answers.rate_limited(response)
    return Retry("overloaded", scope="account") if word == OVERLOAD else answers.doubtful(response)


def _refused(word: str, body: Mapping[str, object]) -> Written:
    """A code of 400, 403 or 404."""
    if word in OF_CREDENTIAL:
        return Retry("bad_credential", scope="account")
    if word in OF_ACCOUNT:
        return Retry("forbidden", scope="account")
    if word == NO_REST_3:
        return Retry("method_missing", scope="account")
    return Rejected("gone") if word in GONE else Rejected("validation", _fields(word, body))


def _fields(word: str, body: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    listed = answers.rows(answers.mapping(body.get("error")).get("validation")) or ()
    told = tuple((answers.text(each.get("field")), answers.rule(each.get("message"))) for each in listed)
    return told or ((word, answers.rule(body.get("error_description"))),)


def no_look(response: Response) -> Unsure:
    """An answer that tells nothing about a record."""
    word = code(answers.json_object(response) or {})
    if word in OF_CREDENTIAL:
        return Unsure("bad_credential", scope="account")
    if word in OF_ACCOUNT:
        return Unsure("forbidden", scope="account")
    return answers.no_look(response)
