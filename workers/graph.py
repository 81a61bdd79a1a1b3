"""Reading from Meta's Graph API: one request, by the transport that goes to no other host, and what its answer means.

The token travels in a header, so that it stands in no address.  A read changes nothing: whatever became of one, it may
be made again.
Source: Meta, "Handling errors" (https://developers.facebook.com/docs/graph-api/guides/error-handling, Nov 2026).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Literal, assert_never

from crm_clients.answers import retry_after, succeeded
from crm_clients.base import Account, Request, Response
from crm_clients.transport import Answered, NotSent, Unanswered
from intake.config import Source
from intake.config.secret import Secret
from intake.sources.base import Unreadable
from intake.sources.decoding import mapping, read_json, text
from workers.desk import Desk

# An expired session, an expired or revoked token.
TOKEN_CODES = {"102", "190"}
# A missing permission; so are those of 200 to 299.
RIGHT_CODES = {"3", "10"}
# "Object with ID does not exist, cannot be loaded due to missing permissions": with a token that works, it is gone.
GONE = ("100", "33")
TROUBLE = range(200, 300)


@dataclass(frozen=True, slots=True)
class Got:
    """What was asked for."""

    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Again:
    """Not now: a limit, a fault of the service, or of the way to it."""

    reason: str
    after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Locked:
    """The credential opens nothing any more ("token"), or not this ("right")."""

    by: Literal["token", "right"]


@dataclass(frozen=True, slots=True)
class Gone:
    """The service says that there is no such thing."""


Read = Got | Again | Locked | Gone


@dataclass(frozen=True, slots=True)
class GotFile:
    """A file, and what it is by its sender's word."""

    mime_type: str
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Never:
    """It is there, and is not to be fetched: too large, or at a place where no file of the sender's is."""

    reason: str


def account(source: Source, token: Secret | None, base_url: str | None = None) -> Account | None:
    """Where requests with this token go, the Graph API unless another is named; None: there is no token."""
    if token is None or token.value is None:
        return None
    return Account(source.name, base_url or source.graph_url, (("Authorization", f"Bearer {token.value}"),))


def read(desk: Desk, there: Account, request: Request) -> Read:
    """Ask, within the patience of one call."""
    sent = desk.transport.look(there, request, deadline=desk.clock() + desk.patience.call.total_seconds())
    match sent:
        case Answered(response):
            return meaning(response)
        case NotSent(reason) | Unanswered(reason):
            return Again(f"fetch_{reason}")
        case _:
            assert_never(sent)


def meaning(response: Response) -> Read:
    """What an answer says, whatever it is."""
    if succeeded(response):
        return Got(response.body)
    code, subcode = _error(response.body)
    if code in TOKEN_CODES:
        return Locked("token")
    if code in RIGHT_CODES or (code.isdigit() and int(code[:9]) in TROUBLE):
        return Locked("right")
    if (code, subcode) == GONE:
        return Gone()
    if response.status == HTTPStatus.UNAUTHORIZED:
        return Locked("token")
    return Again(f"fetch_status_{response.status}", retry_after(response))


def _error(body: bytes) -> tuple[str, str]:
    """Code and subcode, "" where there is none."""
    try:
        error = mapping(mapping(read_json(body).value).get("error"))
    except Unreadable:
        return "", ""
    return text(error.get("code")) or "", text(error.get("error_subcode")) or ""
