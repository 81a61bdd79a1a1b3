"""The desk as an application of its own: the console and the API, and what holds for every answer of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from flask import Flask, Response, request

from intake import at_rest, queue
from intake.api import problems
from intake.api import registering as api
from intake.config import Process, Settings
from intake.console import gate
from intake.console import registering as console
from intake.db import open_pool
from intake.desk import metrics
from intake.desk.tools import CONNECTIONS, DESK_OPTIONS, NAME, Tools

# Forms hold a corrected text at most.
MOST_BODY_BYTES: Final = 256 * 1024
MOST_FORM_PARTS: Final = 60

# https://owasp.org/www-project-secure-headers/ (2026-11-29).
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
}
HSTS: Final = "max-age=31536000"


def from_environ(process: Process, settings: Settings, hint: Callable[[], object], payloads: at_rest.Keys) -> Flask:
    """The desk of a web process.  `payloads`: what opens contents."""
    if process.database_url is None:
        raise LookupError("DATABASE_URL must be set")
    pool = open_pool(process.database_url, size=CONNECTIONS, options=DESK_OPTIONS, connect_timeout=2, payloads=payloads)
    counters = queue.connect(process.redis_url) if process.redis_url else None
    return create(Tools(settings, pool, hint, counters=counters))


def create(tools: Tools) -> Flask:
    """The application around some tools."""
    app = Flask("intake", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BODY_BYTES
    app.config["MAX_FORM_PARTS"] = MOST_FORM_PARTS
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.extensions[NAME] = tools

    @app.after_request
    def guard(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if tools.is_secure:
            response.headers["Strict-Transport-Security"] = HSTS
        if request.endpoint != "console.static":
            response.headers["Cache-Control"] = "no-store"
        return response

    console.register(app, tools)
    api.register(app, tools)
    metrics.register(app)
    app.register_error_handler(Exception, _refuse)
    return app


def _refuse(error: Exception) -> Response:
    """What belongs to no page and no route."""
    return problems.handle(error) if request.path.startswith("/api/") else gate.refuse(error)
