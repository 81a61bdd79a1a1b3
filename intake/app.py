"""The web process: the door, and what a load balancer asks.

gunicorn --config python:intake.gunicorn_conf 'intake.app:create_app()'
"""

from __future__ import annotations

import atexit
import json
import os
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import psycopg
import structlog
from flask import Flask, Response, request
from gunicorn.http.errors import ParseException
from uuid_utils.compat import uuid7
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from intake import (
    at_rest,
    browsers,
    doorplate,
    gunicorn_conf,
    heartbeats,
    installation,
    logs,
    missing_secrets,
    queue,
    sealing,
    spooling,
)
from intake.accept_times import AcceptTimes, Timed
from intake.config import Process, Settings, Source, load
from intake.db import answering_until, door_options, open_pool
from intake.desk.mount import Beside
from intake.identity import Mode
from intake.reading import Post
from intake.receive import Door, Reply, refused
from intake.refusals import Refusal, Refusals
from intake.refused import Keeper
from intake.sources import PROVIDERS
from intake.sources import find as find_provider
from intake.sources.base import Answer
from intake.sources.decoding import clean_text
from intake.sources.submission import URLENCODED
from intake.spool_drain import Drainer

log = structlog.get_logger()

HOOKS = re.compile("(/test)?/hooks/")

# How long the pool tries by itself when the database is away, in seconds; then each request makes it try again, so that
# the first one after an outage is accepted.
RECONNECT = 0.2

# How long a process that ends waits until the refused deliveries that it has taken are kept, in seconds.
KEEPER_PATIENCE = 2.0

# How long the readiness check waits for the database, in seconds.
READY_WITHIN = 0.5

# A body without a source to say its limit is not read at all; this bounds what a form field could make us hold.
MOST_BODY_BYTES = 3 * 1024 * 1024


def create_app() -> Flask:
    """The application with everything from the environment.  Raises ConfigError."""
    logs.configure()
    process = Process.from_environ(os.environ)
    settings = load(process.config, os.environ, built_in=PROVIDERS.keys())
    if process.database_url is None or process.redis_url is None:
        raise LookupError("DATABASE_URL and REDIS_URL must be set; `intake up` sets them by itself")
    payloads = at_rest.from_environ(os.environ)
    pool = open_pool(
        process.database_url,
        size=gunicorn_conf.threads,  # a request holds one
        options=door_options(gunicorn_conf.STORE_LIMIT),
        connect_timeout=max(1, round(gunicorn_conf.STORE_LIMIT)),
        reconnect_timeout=RECONNECT,
        payloads=payloads,
    )
    redis = queue.connect(process.redis_url)
    seal = sealing.from_environ(os.environ)
    keeper = Keeper(process.database_url, seal, new_id=uuid7)
    atexit.register(keeper.flush, within=KEEPER_PATIENCE)
    spool = spooling.open_spool(settings, seal)
    if spool is not None:
        Drainer(spool, settings, process.database_url, payloads=payloads).start()
    door = Door(settings, pool, now=lambda: datetime.now(UTC), new_id=uuid7, on_refused=keeper.keep, spool=spool)
    bell = queue.Bell(lambda: queue.hint(redis, at_most=process.workers))
    told = {"process": "web", "missing": missing_secrets.missing(settings, "web"), "stop": threading.Event()}
    threading.Thread(target=heartbeats.keep_beating, args=(pool,), kwargs=told, name="heartbeat", daemon=True).start()
    refusals = Refusals(pool)
    atexit.register(refusals.write)
    times = AcceptTimes(pool)
    atexit.register(times.write)
    app = build(door, hint=bell.press, on_refusal=refusals.count)
    app.wsgi_app = Beside(Timed(app.wsgi_app, times.note), lambda: _desk(process, settings, bell.press, payloads))  # type: ignore[method-assign]
    return app


def _desk(process: Process, settings: Settings, hint: Callable[[], object], payloads: at_rest.Keys) -> Flask:
    """The console and the API, imported when somebody asks for them: the door starts without."""
    from intake.desk import serving  # noqa: PLC0415

    return serving.from_environ(process, settings, hint, payloads)


class Application(Flask):
    """Flask, which asks of each view and each callback, at each request, whether it is a coroutine: ours never are."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return func


def build(
    door: Door, *, hint: Callable[[], object], on_refusal: Callable[[Refusal], object] = lambda _refusal: None
) -> Flask:
    """The routes around a door.

    `hint` is called after the answer has gone; `on_refusal` is told of a delivery that is refused, and returns at once.
    """
    app = Application("intake", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BODY_BYTES
    # How much of a body is worth waiting for (intake.gunicorn_worker).
    bodies = (source.max_body_bytes for source in door.settings.sources.values())
    app.config["LARGEST_BODY"] = max((MOST_BODY_BYTES, *bodies))
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # They would be answered with an empty page of HTML.
    app.url_map.merge_slashes = False  # It answers "//" with a redirect, and a sender would lose its body on it.
    app.register_error_handler(HTTPException, _refuse_http)
    app.register_error_handler(Exception, _refuse_bug)

    @app.post("/hooks/<source>")
    def post_hook(source: str) -> Response:
        return _answer(_take(door, source, "live"), hint)

    @app.post("/test/hooks/<source>")
    def post_test_hook(source: str) -> Response:
        return _answer(_take(door, source, "test"), hint)

    @app.get("/hooks/<source>")
    def get_hook(source: str) -> Response:
        return _get(door, source, "live", hint)

    @app.get("/test/hooks/<source>")
    def get_test_hook(source: str) -> Response:
        return _get(door, source, "test", hint)

    @app.after_request
    def count_refusal(response: Response) -> Response:
        if response.status_code >= HTTPStatus.BAD_REQUEST and (hook := HOOKS.match(request.path)):
            name = (request.view_args or {}).get("source", "")
            source = name if name in door.settings.sources else ""
            on_refusal(Refusal("test" if hook[1] else "live", source, _reason(response)))
        return response

    @app.get("/healthz")
    def healthz() -> Response:
        return _answer(Reply(HTTPStatus.OK, {"ok": True}), hint)

    @app.get("/readyz")
    def readyz() -> Response:
        return _answer(_readiness(door), hint)

    doorplate.hang(app, door.pool)
    browsers.serve(app, door)
    return app


# --- the door -------------------------------------------------------------------------------------------------------


def _take(door: Door, name: str, mode: Mode) -> Reply:
    source = door.source(name)
    if isinstance(source, Reply):
        return source
    if request.headers.get("Content-Encoding", "").strip().lower() not in {"", "identity"}:
        return refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content_encoding")
    # One byte more than allowed: at its own limit werkzeug ends a body that declares no length without a word.
    request.max_content_length = source.max_body_bytes + 1
    # The raw bytes first: what a form parser has read is gone, and signatures are over bytes.
    try:
        body = request.get_data(cache=False)
    except ParseException:  # chunks that are none
        return refused(HTTPStatus.BAD_REQUEST, "bad_request")
    if len(body) > source.max_body_bytes:
        return refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large")
    headers = _headers()
    return door.receive(Post(name, mode, headers.get("content-type", ""), headers, body, _url(door)))


def _headers() -> dict[str, str]:
    """By lower-case name, from WSGI's own variables (PEP 3333)."""
    named = {name[5:]: value for name, value in request.environ.items() if name.startswith("HTTP_")}
    named |= {name: request.environ[name] for name in ("CONTENT_TYPE", "CONTENT_LENGTH") if request.environ.get(name)}
    return {name.lower().replace("_", "-"): _header_text(value) for name, value in named.items()}


def _header_text(value: str) -> str:
    """WSGI gives bytes as latin-1; most senders mean UTF-8."""
    if value.isascii():
        return clean_text(value)
    try:
        return clean_text(value.encode("latin-1").decode())
    except UnicodeError:
        return clean_text(value)


def _url(door: Door) -> str:
    """The public address with path and query as the sender wrote them, since some sign them."""
    query = request.query_string.decode("latin-1")
    return door.settings.public_base_url + (f"{request.path}?{query}" if query else request.path)


def _get(door: Door, name: str, mode: Mode, hint: Callable[[], object]) -> Response:
    """A handshake, or the delivery of a sender that knows only GET, where the source allows it."""
    source = door.source(name)
    if isinstance(source, Reply):
        return _answer(source, None)
    if source.allow_get and request.method == "GET" and "hub.mode" not in request.args:
        # The query is the form, without the token that proves it: that is not to be stored.
        fields = [field for field in request.query_string.split(b"&") if not field.startswith(b"token=")]
        post = Post(name, mode, URLENCODED, _headers(), b"&".join(fields), _url(door))
        return _answer(door.receive(post), hint)
    return _handshake(source)


def _handshake(source: Source) -> Response:
    if source.verify_token is None:
        return _refuse_method({"GET", "POST"} if source.allow_get else {"POST"})
    if source.verify_token.value is None:
        return _answer(refused(HTTPStatus.SERVICE_UNAVAILABLE, "source_closed"), None)
    text = find_provider(source.provider).handshake(request.args, source.verify_token.value)
    if text is None:
        return _answer(refused(HTTPStatus.UNAUTHORIZED, "not_authentic"), None)
    return Response(text, content_type="text/plain; charset=utf-8")


def _answer(reply: Reply, hint: Callable[[], object] | None) -> Response:
    answer = reply.worded or Answer(json.dumps(reply.document), "application/json", {})
    headers = {**reply.headers, **answer.headers}
    response = Response(answer.text, reply.status, headers, content_type=answer.content_type)
    if reply.accepted and hint is not None:
        response.call_on_close(hint)  # Nothing from Redis stands between COMMIT and the answer.
    return response


def _refuse_http(error: HTTPException) -> Response:
    if isinstance(error, MethodNotAllowed):
        return _refuse_method(error.valid_methods or ())
    status = HTTPStatus(error.code or HTTPStatus.BAD_REQUEST)
    code = "too_large" if isinstance(error, RequestEntityTooLarge) else status.name.lower()
    return _answer(refused(status, code), None)


def _refuse_method(allowed: Iterable[str]) -> Response:
    reply = refused(HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed")
    return _answer(replace(reply, headers={"Allow": ", ".join(sorted(allowed))}), None)


def _refuse_bug(error: Exception) -> Response:
    """Nothing was acknowledged: the sender may try again, and somebody must look."""
    log.error("request failed", endpoint=request.endpoint, error=type(error).__name__)
    return _answer(refused(HTTPStatus.SERVICE_UNAVAILABLE, "failed"), None)


def _reason(response: Response) -> str:
    """The code that a refusal names; the status of one that is a page for people."""
    if response.content_type != "application/json":
        return str(response.status_code)
    document: dict[str, str] = json.loads(response.get_data())
    return document["error"]


# --- readiness ------------------------------------------------------------------------------------------------------


def _readiness(door: Door) -> Reply:
    """200 when a delivery can be accepted now; how the clock and the workers are stands beside it."""
    until = door.clock() + READY_WITHIN
    spool = {} if door.spool is None else {"spool": spooling.told(door.spool)}
    try:
        with door.pool.connection(timeout=READY_WITHIN) as conn, answering_until(conn, until):
            installation.read(conn)
            pulses = heartbeats.pulses(conn)
    except (psycopg.Error, installation.Mismatch):
        # A balancer that took this host out would lose what the spool can keep.
        if door.spool is not None and door.spool.stock().has_room:
            return Reply(HTTPStatus.OK, {"ok": True, "database": "away", **spool})
        return refused(HTTPStatus.SERVICE_UNAVAILABLE, "storage_unavailable")
    alive = {each.process: {"alive": each.alive, "age_seconds": each.age.total_seconds()} for each in pulses}
    closed = sorted(source.name for source in door.settings.sources.values() if source.closed_because)
    return Reply(HTTPStatus.OK, {"ok": True, "processes": alive, "closed_sources": closed, **spool})
