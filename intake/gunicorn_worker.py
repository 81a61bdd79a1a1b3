"""gunicorn's threaded worker, which answers and logs what never reaches the application as the application would.

gunicorn's own answers are HTML, and its log quotes the request line or the header that it could not read: a token or a
person's data may stand there.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

import structlog
from gunicorn.http import errors
from gunicorn.workers.gthread import ThreadWorker

if TYPE_CHECKING:
    from gunicorn.workers.gthread import TConn

log = structlog.get_logger()

# Seconds for one request, from its first byte to the last of its answer.  Senders give up earlier, and a body of 3 MB
# comes through a slow line within it; whoever drips bytes to hold a thread is cut off.
REQUEST_LIMIT = float(os.environ.get("WEB_REQUEST_LIMIT") or 20)

STATUS: dict[type[Exception], HTTPStatus] = {
    errors.LimitRequestLine: HTTPStatus.REQUEST_URI_TOO_LONG,
    errors.LimitRequestHeaders: HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    errors.ExpectationFailed: HTTPStatus.EXPECTATION_FAILED,
}

ANSWER = (
    "HTTP/1.1 {status.value} {status.phrase}\r\nConnection: close\r\nContent-Type: application/json\r\n"
    "{more}Content-Length: {length}\r\n\r\n{body}"
)


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn publishes no types
    """The methods are gunicorn's own, called by its main loop and its threads."""

    # The connections whose request is being served, and until when (time.monotonic).
    busy: dict[socket.socket, float]

    def init_process(self) -> None:
        """Called in the new process; returns when the worker ends."""
        self.busy = {}
        super().init_process()

    def handle(self, conn: TConn) -> object:
        """Serve a connection's request, for as long as REQUEST_LIMIT; runs in one of the threads."""
        self.busy[conn.sock] = time.monotonic() + REQUEST_LIMIT
        try:
            return super().handle(conn)
        finally:
            self.busy.pop(conn.sock, None)

    def notify(self) -> None:
        """Called by the main thread about every second."""
        super().notify()
        now = time.monotonic()
        for sock in [sock for sock, until in list(self.busy.items()) if until < now]:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)  # Its thread reads an end, and gives up.

    def handle_error(self, req: object, client: socket.socket, addr: object, exc: Exception) -> None:  # noqa: ARG002
        """Refuse what is no HTTP.  Only the kind of mistake is logged."""
        status = STATUS.get(type(exc), HTTPStatus.BAD_REQUEST)
        if not isinstance(exc, errors.ParseException | errors.InvalidChunkSize):
            status = HTTPStatus.SERVICE_UNAVAILABLE
        log.warning("request refused", status=status.value, error=type(exc).__name__)
        with suppress(OSError):
            client.sendall(_answer(status))


def _answer(status: HTTPStatus) -> bytes:
    body = f'{{"error": "{status.name.lower()}", "fields": {{}}}}'
    more = "Retry-After: 5\r\n" if status is HTTPStatus.SERVICE_UNAVAILABLE else ""
    return ANSWER.format(status=status, more=more, length=len(body), body=body).encode()
