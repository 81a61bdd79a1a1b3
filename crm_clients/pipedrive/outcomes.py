"""What Pipedrive's answers to writes mean.

Its own answers are known by their `success` (pipedrive.readme.io/docs/core-api-concepts-responses).  The table is
that of pipedrive.readme.io/docs/core-api-concepts-http-status-codes and -rate-limiting, all read on 2026-11-29.

    status  meaning there                                        here
    200     fulfilled, 201 created                               Confirmed, with the id in `data`
    400     "Request not understood"                             Rejected validation
    401     "Invalid API token"                                  Retry, account
    402     "Company account is not open"                        Retry, account
    403     code feature_capping_...: the plan's limit           Rejected plan_limit
    403     "Request not allowed"                                Retry, account
    403     a page of Cloudflare's: blocked after many 429       Retry, passing: it stands before Pipedrive
    404     "Resource unavailable"                               Rejected gone
    429     limit of calls: for seconds, or for the day          Retry, passing
    405, 410, 415, 422, 5xx, any other, 4xx without `success`    doubt

That these refusals come before anything is written is inferred from what they say.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Rejected, Response, Retry, Unsure, Written

CAPPED = "feature_capping_"


def created(response: Response) -> Written:
    """The id stands in `data`."""
    body = answers.json_object(response)
    crm_id = answers.record_id(answers.mapping((body or {}).get("data")).get("id"))
    if is_done(response) and crm_id is not None:
        return Confirmed(crm_id)
    return _unwritten(response, body)


def updated(crm_id: str, response: Response) -> Written:
    """The answer is the record that was asked for."""
    written = created(response)
    if isinstance(written, Confirmed) and written.crm_id != crm_id:
        return answers.doubtful(response, written.crm_id)
    return written


def is_done(response: Response) -> bool:
    """Whether Pipedrive itself says that it did what was asked."""
    body = answers.json_object(response) or {}
    return answers.succeeded(response) and body.get("success") is True


def is_gone(response: Response) -> bool:
    """Whether Pipedrive itself says that there is no such record, or none that the token's user may see."""
    body = answers.json_object(response) or {}
    return response.status == HTTPStatus.NOT_FOUND and body.get("success") is False


def is_blocked(response: Response) -> bool:
    """A page of Cloudflare's in the place of an answer: the request did not reach Pipedrive."""
    server = response.headers.get("server", "").lower()
    return response.status == HTTPStatus.FORBIDDEN and server == "cloudflare" and answers.json_object(response) is None


def no_look(response: Response) -> Unsure:
    """An answer that tells nothing about a record."""
    return Unsure("blocked", scope="account") if is_blocked(response) else answers.no_look(response)


def _unwritten(response: Response, body: Mapping[str, object] | None) -> Written:
    if is_blocked(response):
        return Retry("blocked", scope="account", passing=True)
    means: Written = answers.doubtful(response)
    if body is None:
        return means
    if response.status == HTTPStatus.TOO_MANY_REQUESTS:
        return answers.rate_limited(response)
    match response.status if body.get("success") is False else None:
        case HTTPStatus.BAD_REQUEST:
            # The message may repeat what the visitor wrote; the code does not.
            means = Rejected("validation", (("code", answers.text(body.get("code")) or "invalid"),))
        case HTTPStatus.UNAUTHORIZED:
            means = Retry("bad_credential", scope="account")
        case HTTPStatus.PAYMENT_REQUIRED:
            means = Retry("account_closed", scope="account")
        case HTTPStatus.FORBIDDEN:
            means = _forbidden(answers.text(body.get("code")))
        case HTTPStatus.NOT_FOUND:
            means = Rejected("gone")
    return means


def _forbidden(code: str) -> Written:
    """Of the two meanings of 403, a limit of the plan is nothing that time or another token would mend."""
    if code.startswith(CAPPED):
        return Rejected("plan_limit", (("code", code),))
    return Retry("forbidden", scope="account")
