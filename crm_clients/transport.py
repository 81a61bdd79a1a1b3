"""Sending one request to a CRM, and knowing afterwards whether it may have been executed.

    Answered    a whole answer came, whatever it says
    NotSent     no byte of the request was handed over: safe to send again
    Unanswered  it may have been executed

Only the first byte divides the last two; no name of an exception does.  Writes have a connection of their
own, since a kept one that has died looks exactly like a lost answer; looks may reuse one, and a look without
an answer tells nothing.
"""

from __future__ import annotations

import http.client
import json
import logging
import re
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from urllib.parse import urlencode

import requests
import urllib3
from requests.adapters import DEFAULT_CA_BUNDLE_PATH
from urllib3.exceptions import HTTPError as Urllib3Error

from crm_clients.base import Account, Request, Response
from crm_clients.connection import SENDING, CutHead, CutLine, GuardedAdapter, Sending
from crm_clients.watchdog import Call, Clock, TooLate, Watchdog, boot_clock

# More is not read, and is doubt.  Some CRMs answer a list of one with all their contacts beside it, at 130 bytes each.
MOST_BODY_BYTES = 16 * 1024 * 1024

# Connections to one host that stay open for looks.
KEPT_CONNECTIONS = 32

_PATH = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@%/-]*")
_DOT_SEGMENT = re.compile(r"/(\.|%2e){1,2}(/|$)", re.IGNORECASE)

# urllib3 writes whole URLs into its log, and with a look by phone or e-mail a person's data.
logging.getLogger("urllib3").setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class Answered:
    """A whole answer came."""

    response: Response


@dataclass(frozen=True, slots=True)
class NotSent:
    """No byte of the request was handed over: safe to send again.

    `reason` is one of: too_late (the time to begin was over), dns, refused, connect_timeout, tls,
    unreachable, malformed (the request cannot be sent as it is).
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Unanswered:
    """At least a part of the request was handed over and no whole answer came: it may have been executed.

    `reason` is one of: timeout (by the deadline), reset, eof, cut_head, cut_body, oversized, garbage, lost
    (any other).
    """

    reason: str


Sent = Answered | NotSent | Unanswered


class Oversized(Exception):
    """The answer has more bytes than we read."""


class Malformed(ValueError):
    """The request would leave the account's base URL, or is no request at all."""


@cache
def _trust(ca_file: str) -> ssl.SSLContext:
    """Made once a process: reading the certificates takes longer than most calls."""
    return ssl.create_default_context(cafile=ca_file)


class Transport:
    """The way to the CRMs; one per process, for any number of threads and accounts.

    `clock` gives the seconds in which `send_by` and `deadline` are told.  `at` is told the names of the
    boundaries that a request passes (send.before_check, send.before_first_byte, answer.received); what it
    raises goes through. `ca_file` None: the certificates that come with `requests`.
    """

    def __init__(
        self,
        *,
        clock: Clock = boot_clock,
        at: Callable[[str], None] | None = None,
        ca_file: Path | None = None,
        most_body_bytes: int = MOST_BODY_BYTES,
    ) -> None:
        trust = _trust(DEFAULT_CA_BUNDLE_PATH if ca_file is None else str(ca_file))
        self._clock = clock
        self._at = at
        self._most_body_bytes = most_body_bytes
        self._watchdog = Watchdog(clock)
        self._fresh = GuardedAdapter(trust=trust, kept=0)
        self._kept = GuardedAdapter(trust=trust, kept=KEPT_CONNECTIONS)

    def write(
        self,
        account: Account,
        request: Request,
        *,
        send_by: float,
        deadline: float,
        on_first_byte: Callable[[], None] | None = None,
    ) -> Sent:
        """Send a request that changes something, on a connection of its own.

        The first byte leaves before `send_by` or never; the call ends at `deadline`.  Both are readings of
        the clock. `on_first_byte` stands between the check and the first byte, so that it has to be quick.
        """
        call = Call(self._clock, send_by=send_by, deadline=deadline)
        return self._carry(account, request, Sending(call, on_first_byte, self._at), self._fresh)

    def look(self, account: Account, request: Request, *, deadline: float) -> Sent:
        """Send a request that changes nothing; it may take a connection that an earlier look left open."""
        call = Call(self._clock, send_by=deadline, deadline=deadline)
        return self._carry(account, request, Sending(call, at=self._at), self._kept)

    def close(self) -> None:
        """Close the kept connections and stop the watchdog."""
        self._fresh.close()
        self._kept.close()
        self._watchdog.close()

    def __enter__(self) -> Transport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _carry(self, account: Account, request: Request, sending: Sending, adapter: GuardedAdapter) -> Sent:
        call = sending.call
        token = SENDING.set(sending)
        try:
            self._watchdog.guard(call)
            response = self._exchange(account, request, call, adapter)
        except (
            TooLate, Oversized, ValueError, OSError, http.client.HTTPException, Urllib3Error,
        ) as error:  # fmt: skip
            # requests' exceptions are OSErrors.
            return _unanswered(error, call) if call.handed_over else _not_sent(error, call)
        finally:
            call.finish()
            SENDING.reset(token)
        if call.expired:
            # A shut connection looks like the end of a body.
            return Unanswered("timeout")
        sending.reach("answer.received")
        return Answered(response)

    def _exchange(self, account: Account, request: Request, call: Call, adapter: GuardedAdapter) -> Response:
        prepared = _prepare(account, request)
        # These only end what the watchdog has ended already, should its thread be late.
        seconds = (call.seconds_to_begin(), call.deadline - self._clock())
        with adapter.send(prepared, stream=True, timeout=seconds, verify=True) as answer:
            body = self._read(answer)
            headers = {name.lower(): value for name, value in answer.headers.items()}
            return Response(status=answer.status_code, headers=headers, body=body)

    def _read(self, answer: requests.Response) -> bytes:
        """The body.  Raises Oversized, and what urllib3 raises when it is cut."""
        body = bytearray()
        for piece in answer.raw.stream(65536, decode_content=True):
            body += piece
            if len(body) > self._most_body_bytes:
                raise Oversized
        return bytes(body)


def _prepare(account: Account, request: Request) -> requests.PreparedRequest:
    """The request below the account's base URL.  Raises Malformed for a path that would leave it,
    ValueError."""
    path, body = request.path, request.body
    for place, secret in account.places:
        if place in path:  # What stands in the body then, a person wrote.
            path = path.replace(place, secret, 1)
        elif body is not None:
            body = body.replace(place.encode(), secret.encode(), 1)
    if account.members and body is not None:
        body = _joined(account.members, body)
    if not _PATH.fullmatch(path) or _DOT_SEGMENT.search(path):
        raise Malformed
    headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "lead-intake"}
    headers.update(request.headers)
    headers.update(account.headers)
    # Without the steps of `Request.prepare` for cookies, passwords in addresses and hooks, of which there are none.
    prepared = requests.PreparedRequest()
    prepared.prepare_method(request.method)
    prepared.prepare_url(account.base_url + path, urlencode(request.query))
    prepared.prepare_headers(headers)
    prepared.prepare_body(body, None)
    return prepared


def _joined(members: Sequence[tuple[str, str]], body: bytes) -> bytes:
    """A JSON object with more members, which come first; nothing in it is read."""
    begun, rest = json.dumps(dict(members)).encode().removesuffix(b"}"), body.strip().removeprefix(b"{").lstrip()
    return begun + (rest if rest == b"}" else b", " + rest)


def _causes(error: BaseException) -> list[BaseException]:
    """The error, and whatever it wraps: libraries hand the cause over as an argument, a reason or a
    context."""
    found: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        each = waiting.pop()
        if isinstance(each, BaseException) and not any(each is known for known in found):
            found.append(each)
            waiting += [*each.args, getattr(each, "reason", None), each.__cause__, each.__context__]
    return found


def _not_sent(error: BaseException, call: Call) -> NotSent:
    """Why no byte was handed over; the word is for people, the fact stands without it."""
    causes = _causes(error)

    def is_any(*kinds: type[BaseException]) -> bool:
        return any(isinstance(each, kinds) for each in causes)

    if call.expired or is_any(TooLate):
        return NotSent("too_late")
    if is_any(socket.gaierror):
        return NotSent("dns")
    if is_any(ConnectionRefusedError):
        return NotSent("refused")
    if is_any(ssl.SSLError):
        return NotSent("tls")
    if is_any(TimeoutError):
        return NotSent("connect_timeout")
    return NotSent("malformed" if is_any(ValueError) else "unreachable")


def _unanswered(error: BaseException, call: Call) -> Unanswered:
    """What became of the answer; the word is for people, the doubt stands without it."""
    if call.expired:
        return Unanswered("timeout")
    causes = _causes(error)
    for reason, kinds in _REASONS:
        if any(isinstance(each, kinds) for each in causes):
            return Unanswered(reason)
    return Unanswered("lost")


# In this order: a RemoteDisconnected is a reset too, and a cut body is wrapped in several of the others.
_REASONS: tuple[tuple[str, tuple[type[BaseException], ...]], ...] = (
    ("oversized", (Oversized,)),
    ("cut_head", (CutHead,)),
    ("eof", (http.client.RemoteDisconnected,)),
    ("timeout", (TimeoutError, urllib3.exceptions.TimeoutError)),
    ("reset", (ConnectionError,)),
    ("cut_body", (http.client.IncompleteRead, urllib3.exceptions.IncompleteRead, CutLine, ssl.SSLEOFError)),
    ("garbage", (http.client.HTTPException, Urllib3Error, ValueError)),
)
