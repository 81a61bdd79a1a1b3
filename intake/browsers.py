"""What browsers need of the door, where visitors' browsers deliver (provider `web_snippet`).

    page ── GET /snippet/<source>.js ──> the script that sends its form, the same for every source
         ── OPTIONS /hooks/<source> ───> may this page ask?  Only those of `allowed_origins`, and never "*"
         ── POST /hooks/<source> ──────> how often has this address asked?  429, or the door as for everybody

A form that is sent without the script shows its visitor our answer: then it is a page with the snippet's words.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

from flask import Flask, Response, request
from markupsafe import escape

from intake.config import Source
from intake.rates import Rates, visitor
from intake.receive import Door, Reply, refused

SNIPPET = Path(__file__).with_name("snippet.js").read_text("utf-8")
VERSION = hashlib.sha256(SNIPPET.encode()).hexdigest()[:12]

HOOK = re.compile(r"(?:/test)?/hooks/([a-z0-9-]{1,64})", re.ASCII)

# Seconds.  A new version is everywhere within minutes; an address that names the version never changes its content.
FRESH = "public, max-age=300"
FROZEN = "public, max-age=31536000, immutable"
# How long a browser need not ask again whether it may send; Chromium's own limit is two hours.
PREFLIGHT_SECONDS = "600"

# The snippet's words, as far as a page needs them: received, empty, refused, unknown.
WORDS = {
    "es": {
        "received": "Recibimos su mensaje.",
        "empty": "Complete el formulario antes de enviarlo.",
        "refused": "No pudimos recibir su mensaje. Por favor, contáctenos por otro medio.",
        "unknown": "No pudimos guardar su mensaje ahora. Por favor, envíelo otra vez en un minuto.",
        "back": "Volver",
    },
    "en": {
        "received": "We received your message.",
        "empty": "Please fill in the form before you send it.",
        "refused": "We could not receive your message. Please contact us another way.",
        "unknown": "We could not keep your message now. Please send it again in a minute.",
        "back": "Back",
    },
}
PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{text}</title></head>
<body><main><p role="status">{text}</p><p><a href="{back}">{back_word}</a></p></main></body></html>
"""


def serve(app: Flask, door: Door, *, clock: Callable[[], float] = time.monotonic) -> None:
    """Add it to the door's application."""
    rates = Rates(clock)

    @app.get("/snippet/<source>.js")
    @app.get("/test/snippet/<source>.js", endpoint="test_snippet")
    def snippet(source: str) -> Response:
        found = door.source(source)
        if isinstance(found, Reply):
            return _json(found)
        return _script() if found.from_browsers else _json(refused(HTTPStatus.NOT_FOUND, "unknown_source"))

    if not any(source.from_browsers for source in door.settings.sources.values()):
        return

    @app.before_request
    def admit() -> Response | None:
        source = _source(door)
        if source is None:
            return None
        if request.method == "OPTIONS":
            return _preflight(source)
        return _limit(source, rates) if request.method == "POST" else None

    @app.after_request
    def share(response: Response) -> Response:
        source = _source(door)
        if source is None:
            return response
        if request.method == "POST" and _is_navigation():
            _write_page(response, source, door.settings.language)
        return _shared(response, source)


def _source(door: Door) -> Source | None:
    """The open source of this request, if browsers deliver to it."""
    path = HOOK.fullmatch(request.path)
    source = door.source(path[1]) if path else None
    return source if isinstance(source, Source) and source.from_browsers else None


def _json(reply: Reply) -> Response:
    return Response(json.dumps(reply.document), reply.status, dict(reply.headers), content_type="application/json")


# --- the script -----------------------------------------------------------------------------------------------------


def _script() -> Response:
    response = Response(SNIPPET, content_type="text/javascript; charset=utf-8")
    response.headers["Cache-Control"] = FROZEN if request.args.get("v") == VERSION else FRESH
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.set_etag(VERSION)
    response.make_conditional(request)
    return response


# --- who may ask, and how often -------------------------------------------------------------------------------------


def _preflight(source: Source) -> Response:
    """Fetch standard, "CORS-preflight request" (https://fetch.spec.whatwg.org/#http-cors-protocol, 2026-11)."""
    if not _is_allowed(source):
        return _json(refused(HTTPStatus.UNAUTHORIZED, "not_authentic"))
    headers = {
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "content-type, idempotency-key",
        "Access-Control-Max-Age": PREFLIGHT_SECONDS,
    }
    return Response(status=HTTPStatus.NO_CONTENT, headers=headers)


def _limit(source: Source, rates: Rates) -> Response | None:
    address = visitor(request.remote_addr or "", request.headers.get("X-Forwarded-For", ""))
    seconds = rates.wait(source.name, address, source.rate_per_minute)
    if not seconds:
        return None
    response = _json(refused(HTTPStatus.TOO_MANY_REQUESTS, "too_many_requests"))
    response.headers["Retry-After"] = str(math.ceil(seconds))
    return response


def _is_allowed(source: Source) -> bool:
    return request.headers.get("Origin") in source.allowed_origins


def _shared(response: Response, source: Source) -> Response:
    """Let the page read the answer, if it is one of the source's."""
    response.vary.add("Origin")
    if _is_allowed(source):
        response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
        response.headers["Access-Control-Expose-Headers"] = "Retry-After"
    return response


# --- without the script ---------------------------------------------------------------------------------------------


def _is_navigation() -> bool:
    """Whether a browser goes to our answer as to a page; scripts ask for anything (*/*)."""
    return "text/html" in request.headers.get("Accept", "")


def _write_page(response: Response, source: Source, language: str) -> None:
    words = WORDS[request.accept_languages.best_match(WORDS.keys()) or language]
    back = request.headers["Origin"] if _is_allowed(source) else "about:blank"
    response.set_data(
        PAGE.format(
            language="en" if words is WORDS["en"] else "es",
            text=escape(words[_word(response)]),
            back=escape(back),
            back_word=words["back"],
        )
    )
    response.content_type = "text/html; charset=utf-8"
    response.headers["Content-Security-Policy"] = "default-src 'none'"


def _word(response: Response) -> str:
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR or response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return "unknown"
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        return "refused"
    document = json.loads(response.get_data())
    return "received" if document["events"] or document["quarantined"] else "empty"
