"""The sandbox as a server: an application, and a thread for each connection, on the loopback interface only."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

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


class _Quiet(WSGIRequestHandler):
    """Writes no line per request: /control/requests is the log."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


class _Server(ThreadedWSGIServer):
    request_queue_size = 1024


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
    server = _Server("127.0.0.1", port, application(sandbox), handler=_Quiet)
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
