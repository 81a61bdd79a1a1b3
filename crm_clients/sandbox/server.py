"""The sandbox as a server: an application, and a thread for each connection, on the loopback interface only.

Connections are kept after an answer, as those of CRMs are.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

from flask import Flask, Response
from werkzeug.exceptions import HTTPException
from werkzeug.serving import BaseWSGIServer, ThreadedWSGIServer, WSGIRequestHandler

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
NOT_FOUND = 404
TOKEN = "sandbox"  # noqa: S105 - it opens nothing but a server of made-up records on this host


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

    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # Head and body are two writes; the body would wait until the head is acknowledged.

    def setup(self) -> None:
        """Begin a connection."""
        super().setup()
        self.server.kept.add(self.connection)

    def finish(self) -> None:
        """End a connection."""
        self.server.kept.discard(self.connection)
        super().finish()

    def run_wsgi(self) -> None:
        """Answer one request; werkzeug's own closes the connection after each."""
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        environ = self.make_environ()
        goes_on = self._read_body(environ)
        answer = Response.from_app(self.server.app, environ, buffered=True)
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if self.server.closing or not goes_on:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.get_data())

    def _read_body(self, environ: WSGIEnvironment) -> bool:
        """Whether the next request begins where this one ended: not after a body that nobody reads."""
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal() or int(length) > LARGEST_BODY:
            return False
        environ["wsgi.input"] = BytesIO(self.rfile.read(int(length)))
        return True

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


class _Server(ThreadedWSGIServer):
    request_queue_size = 1024

    def __init__(self, port: int, app: Flask) -> None:
        self.kept: set[socket.socket] = set()
        self.closing = False
        super().__init__("127.0.0.1", port, app, handler=_Handler)

    def server_close(self) -> None:
        """Take no more connections; those that are kept end with the request that they carry."""
        super().server_close()
        self.closing = True
        for each in tuple(self.kept):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RD)


@dataclass(frozen=True, slots=True)
class Running:
    """A sandbox that answers.  Clients get `url` as their base URL."""

    port: int
    token: str = field(repr=False)
    server: BaseWSGIServer = field(repr=False)
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
    server = _Server(port, application(sandbox))
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
