"""The sandbox as a server: an application, and a thread for each connection, on the loopback interface only.

Connections are kept after an answer, as those of CRMs are.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.errors import FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Literal

from flask import Flask, Response
from werkzeug.exceptions import HTTPException
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from crm_clients.sandbox import api, control
from crm_clients.sandbox.api import Sandbox
from crm_clients.sandbox.clock import Clock, Held, Stopping
from crm_clients.sandbox.faults import Rules
from crm_clients.sandbox.profiles import Profile, profile
from crm_clients.sandbox.records import Invalid
from crm_clients.sandbox.store import Store
from crm_clients.sandbox.wire import Answer, as_json

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

LARGEST_BODY = 1_000_000

# Who sends a body that is not wanted has so long to send it and take the answer, in seconds.
LINGERS = 2.0

NOT_FOUND = 404
TOKEN = "sandbox"  # noqa: S105 - it opens nothing but a server of made-up records on this host

# More digits are no length, and Python would not even read thousands of them.
_LENGTH = re.compile("[0-9]{1,18}")

# Where a line is no header, the rest of the head is not read: a length may stand in it.
_CUT_HEAD = (FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect)


def application(sandbox: Sandbox) -> Flask:
    """The WSGI application."""
    app = Flask("sandbox")
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    app.register_blueprint(api.blueprint(sandbox))
    app.register_blueprint(control.blueprint(sandbox))
    app.register_error_handler(Invalid, _invalid)
    app.register_error_handler(Stopping, _stopping)
    app.register_error_handler(HTTPException, _problem)
    return app


def _invalid(invalid: Invalid) -> Response:
    return _response(as_json(422, {"error": "validation", "fields": invalid.problems}))


def _stopping(_: Stopping) -> Response:
    return _response(as_json(503, {"error": "stopping"}))


def _problem(problem: HTTPException) -> Response:
    """Flask's own refusals.  A wrong path has a word of its own: "not_found" says that a record is not there."""
    error = "no_such_path" if problem.code == NOT_FOUND else problem.name.lower().replace(" ", "_")
    return _response(as_json(problem.code or 500, {"error": error}))


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, dict(answer.headers))


class _Handler(WSGIRequestHandler):
    """One connection.  It writes no line per request: /control/requests is the log."""

    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # Head and body are two writes; the body would wait until the head is acknowledged.

    def setup(self) -> None:
        """Begin a connection."""
        super().setup()
        self.server.keep(self.connection)

    def finish(self) -> None:
        """End a connection."""
        self.server.kept.discard(self.connection)
        super().finish()

    def run_wsgi(self) -> None:
        """Answer one request; werkzeug's own closes the connection after each.

        What a stop cut, or came before it was begun, has no answer: an answer would say that it was refused.
        """
        length, environ = self._length(), self._environ()
        if environ is None or length == "unreadable":
            self.send_error(HTTPStatus.BAD_REQUEST)
            self._linger()
        elif self.server.closing:
            self.close_connection = True
        elif length == "unread":
            self._answer(environ, goes_on=False)
            self._linger()
        elif len(body := self.rfile.read(length)) < length:
            self.close_connection = True
        else:
            environ["wsgi.input"] = BytesIO(body)
            self._answer(environ, goes_on=True)

    def _environ(self) -> WSGIEnvironment | None:
        """None: of an address that is none."""
        try:
            return self.make_environ()
        except ValueError:
            return None

    def _length(self) -> int | Literal["unread", "unreadable"]:
        """How long the body is.  "unread": the next request is not looked for behind it; "unreadable": nor this one."""
        lengths = set(self.headers.get_all("Content-Length", ["0"]))
        length = lengths.pop()
        if (
            lengths
            or not _LENGTH.fullmatch(length)
            or any(isinstance(each, _CUT_HEAD) for each in self.headers.defects)
        ):
            return "unreadable"
        return "unread" if "Transfer-Encoding" in self.headers or int(length) > LARGEST_BODY else int(length)

    def _answer(self, environ: WSGIEnvironment, *, goes_on: bool) -> None:
        """Execute it and say so.  A client of HTTP/1.0 takes each connection for one that ends, unless it is told."""
        answer = Response.from_app(self.server.app, environ, buffered=True)
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if self.close_connection or self.server.closing or not goes_on or self.request_version == "HTTP/1.0":
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.get_data())

    def _linger(self) -> None:
        """Throw away what still comes: to close before it is read resets the connection, and the answer is lost."""
        until = time.monotonic() + LINGERS
        with contextlib.suppress(OSError):  # The client may be gone, or slow.
            self.connection.shutdown(socket.SHUT_WR)
            while (left := until - time.monotonic()) > 0:
                self.connection.settimeout(left)
                if not self.connection.recv(65536):
                    break

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


class Server(ThreadedWSGIServer):
    """The listener.  `kept`: the connections that are open; `closing`: no request is begun any more."""

    request_queue_size = 1024

    def __init__(self, port: int, app: Flask) -> None:
        self.kept: set[socket.socket] = set()
        self.closing = False
        super().__init__("127.0.0.1", port, app, handler=_Handler)

    def keep(self, connection: socket.socket) -> None:
        """Know this connection when it comes to a stop, which may be now."""
        self.kept.add(connection)
        if self.closing:
            _end(connection)

    def server_close(self) -> None:
        """Take no more connections, and no more requests on those that are kept."""
        super().server_close()
        self.closing = True
        for each in tuple(self.kept):
            _end(each)


def _end(connection: socket.socket) -> None:
    """Let nothing more come in; the answer that it carries still goes out."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RD)


@dataclass(frozen=True, slots=True)
class Running:
    """A sandbox that answers.  Clients get `url` as their base URL."""

    port: int
    token: str = field(repr=False)
    server: Server = field(repr=False)
    sandbox: Sandbox = field(repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """Take no more requests; those that are held back are never executed."""
        self.server.shutdown()
        self.server.server_close()
        self.sandbox.held.abandon()
        self.sandbox.store.close()


def start(port: int = 0, data: str = ":memory:", of: Profile | None = None, token: str = TOKEN) -> Running:
    """Start a sandbox in a thread.  `port` 0: any free one; `data` is a file, or ":memory:"; `of` None: "stored"."""
    store, clock = Store(data), Clock()
    sandbox = Sandbox(store, clock, Held(clock), Rules(), of or profile("stored"), token)
    server = Server(port, application(sandbox))
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return Running(server.port, token, server, sandbox)


@contextlib.contextmanager
def running(data: str = ":memory:", of: Profile | None = None) -> Iterator[Running]:
    """A sandbox for as long as the block lasts."""
    sandbox = start(data=data, of=of)
    try:
        yield sandbox
    finally:
        sandbox.stop()
