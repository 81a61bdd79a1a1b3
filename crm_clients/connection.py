"""Connections that know when the first byte of a request leaves, and whether the head of an answer came
whole.

`requests` tells neither: one `ConnectionError` stands for "never sent" and for "sent, and lost", and an
answer that is cut inside its headers looks like a status 200 with an empty body.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from crm_clients.watchdog import Call

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse
    from urllib3._base_connection import BaseHTTPConnection

# Interim answers (103 Early Hints and the like) that are read past before a server is taken for broken.
MOST_INTERIM_ANSWERS = 8

# Hosts whose open connections are kept; an installation has a few CRM accounts.
MOST_HOSTS = 16

# A connection that carried no request for so long is not taken again, in seconds.  Apache (KeepAliveTimeout, httpd 2.4)
# and Node (server.keepAliveTimeout) close it after five, perhaps just while the next look is on its way.  What stands
# between us and a CRM forgets it without a word, and a look on it would wait in vain for its whole time.
MOST_REST = 4.0


@dataclass(frozen=True, slots=True)
class Sending:
    """What a connection has to know about the request that it is about to carry."""

    call: Call
    on_first_byte: Callable[[], None] | None = None
    at: Callable[[str], None] | None = None

    def begin(self) -> None:
        """The gate before the first byte.  Raises TooLate if the time to begin is over."""
        self.reach("send.before_check")
        self.call.hand_over()
        if self.on_first_byte is not None:
            self.on_first_byte()
        self.reach("send.before_first_byte")

    def reach(self, boundary: str) -> None:
        """Tell a simulation that this named boundary is reached."""
        if self.at is not None:
            self.at(boundary)


# Neither requests nor urllib3 has a place to hand this through; a call never leaves its thread.
SENDING: ContextVar[Sending] = ContextVar("SENDING")


class CutHead(http.client.HTTPException):
    """The connection ended inside the headers of the answer."""


class CutLine(http.client.HTTPException):
    """The connection ended inside a line: the size of a chunk, of which the rest is unknown."""


class NoFinalAnswer(http.client.HTTPException):
    """Interim answers without end, or a change of protocol that nobody asked for."""


class _Lines(io.BufferedReader):
    """A reader of lines that tells the end of the connection from the end of a line."""

    last: bytes = b""

    def readline(self, size: int | None = -1, /) -> bytes:
        """The next line, b"" at the end.  Raises CutLine if the end comes inside it."""
        self.last = super().readline(size)
        is_too_long = size is not None and len(self.last) == size
        if self.last and not self.last.endswith(b"\n") and not is_too_long:
            raise CutLine
        return self.last


class _WholeHead(http.client.HTTPResponse):
    """An answer whose headers ended with an empty line, and not with the end of the connection."""

    def __init__(
        self, sock: socket.socket, debuglevel: int = 0, method: str | None = None, url: str | None = None
    ) -> None:
        super().__init__(sock, debuglevel, method, url)
        self._lines = _Lines(self.fp.detach())
        self.fp = self._lines

    def begin(self) -> None:
        """Read the head of the final answer.  Raises CutHead, NoFinalAnswer, and what http.client raises."""
        for _ in range(MOST_INTERIM_ANSWERS):
            try:
                super().begin()
            except CutLine as cut:
                raise CutHead from cut
            if not self._lines.last:
                raise CutHead
            if self.status >= HTTPStatus.OK:
                return
            if self.status == HTTPStatus.SWITCHING_PROTOCOLS:
                break
            # http.client reads past 100 only; having no headers it reads the next head.
            self.headers = None  # type: ignore[assignment]  # so it is in http.client before the first head
        raise NoFinalAnswer


class _Guarded(HTTPConnection):
    """A connection that asks the gate before the first byte, and that the watchdog can shut."""

    response_class = _WholeHead
    last_sent: float = 0.0  # by the clock of the calls

    @property
    def is_connected(self) -> bool:
        """Whether it may carry the next request; asked of those that an earlier one left open."""
        return SENDING.get().call.now() - self.last_sent < MOST_REST and super().is_connected

    def _new_conn(self) -> socket.socket:
        """Connect to one of the host's addresses.  Raises TooLate, gaierror, NewConnectionError.

        The name look-up cannot be interrupted; the system's resolver has its own time limit.
        """
        addresses = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        failure = OSError("no address")
        for position, (family, _, _, _, address) in enumerate(addresses):
            try:
                return _dial(family, address, addresses_left=len(addresses) - position)
            except OSError as error:
                failure = error
        # Not the error itself: urllib3 takes a broken pipe for a server that answers before it has read everything.
        raise NewConnectionError(self, type(failure).__name__) from failure

    def send(self, data: bytes) -> None:  # type: ignore[override]  # urllib3 hands over bytes alone
        """Hand bytes to the system; the first ones of a request only if it is not too late (TooLate)."""
        sending = SENDING.get()
        if self.sock is None:
            self.connect()
        if not sending.call.handed_over:
            if not sending.call.is_watched:
                sending.call.watch(self.sock)
            sending.begin()
            self.last_sent = sending.call.now()
        super().send(data)


class _GuardedTLS(_Guarded, HTTPSConnection):
    """The same inside TLS; the bytes of the handshake are none of the request's."""


def _dial(family: int, address: tuple[object, ...], *, addresses_left: int) -> socket.socket:
    """Connect within this address's share of the time to begin.  Raises TooLate, OSError."""
    call = SENDING.get().call
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Head and body are two writes; without this the body waits for the acknowledgement of the head.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(call.seconds_to_begin() / addresses_left)
        call.watch(sock)
        sock.connect(address)
        sock.settimeout(call.seconds_to_begin())
    except BaseException:
        sock.close()
        raise
    return sock


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Guarded


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _GuardedTLS


class _FreshPool(_Pool):
    """A pool that keeps nothing: whether a kept connection still lives is known only after it failed."""

    def _put_conn(self, conn: BaseHTTPConnection | None) -> None:
        if conn is not None:
            conn.close()


class _FreshTLSPool(_TLSPool):
    def _put_conn(self, conn: BaseHTTPConnection | None) -> None:
        if conn is not None:
            conn.close()


class GuardedAdapter(HTTPAdapter):
    """The part of `requests` that sends one request and does nothing else.

    A `Session` would follow redirects, keep cookies and read proxies and .netrc from the environment; so
    there is none. `kept` is how many connections to one host stay open for the next request; 0: each request
    has its own.
    """

    def __init__(self, *, trust: ssl.SSLContext, kept: int) -> None:
        self._trust = trust
        self._kept = kept
        super().__init__(pool_connections=MOST_HOSTS, pool_maxsize=max(kept, 1), max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: object) -> None:
        """Make the pools of guarded connections."""
        super().init_poolmanager(connections, maxsize, block, ssl_context=self._trust, **pool_kwargs)
        self.poolmanager.pool_classes_by_scheme = (
            {"http": _Pool, "https": _TLSPool} if self._kept else {"http": _FreshPool, "https": _FreshTLSPool}
        )

    def build_response(self, req: PreparedRequest, resp: BaseHTTPResponse) -> Response:
        """What is read of an answer: no cookies are kept."""
        response = Response()
        response.request, response.raw, response.status_code = req, resp, resp.status
        response.headers.update(resp.headers)
        return response

    def cert_verify(self, conn: object, url: object, verify: object, cert: object) -> None:
        """Do nothing: the pools' own context verifies, and `requests` would load the CA file each time."""
