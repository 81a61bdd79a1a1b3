"""The door's work, one stage after the other, as views of an application of their own under the same gunicorn.

/null  an answer · /bytes  the body · /proven  its signature · /read  what is in it · /row  one row of it, committed
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from flask import Flask, Response, request

from intake import gunicorn_conf
from intake.config import Settings, Source, load
from intake.db import open_pool
from intake.reading import Arrival, Post, Reader, is_authentic
from intake.received import Received
from intake.sources import PROVIDERS

# What the door says to one form.
ANSWER = (
    '{"received": true, "events": [{"event_id": "6f1c2a52-0d7e-5c39-9b6e-6d5b1f3f9c01", "kind": "form", '
    '"state": "received", "duplicate": false, "conflict": false}], "updates": 0, "conflicts": 0, "quarantined": 0, '
    '"ignored": 0}'
)
PATHS = ("/null", "/bytes/{source}", "/proven/{source}", "/read/{source}", "/row/{source}")

# What the leanest of doors would keep: one row, two unique keys.
TABLE = """
    CREATE TABLE IF NOT EXISTS bench_rows (
        receipt_id uuid PRIMARY KEY, request_id text NOT NULL UNIQUE, source text NOT NULL, body bytea NOT NULL,
        received_at timestamptz NOT NULL DEFAULT clock_timestamp())
"""
ROW = "INSERT INTO bench_rows (receipt_id, request_id, source, body) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"


def create_app() -> Flask:
    """With everything from the environment, as `intake.app`."""
    settings = load(_config(), os.environ, built_in=PROVIDERS.keys())
    pool = open_pool(os.environ["DATABASE_URL"], size=gunicorn_conf.threads)
    app = Flask("stages", static_folder=None)

    @app.get("/healthz")
    def healthz() -> Response:
        return _answer()

    @app.post("/null")
    def null() -> Response:
        return _answer()

    @app.post("/bytes/<source>")
    def raw(source: str) -> Response:
        _post(source)
        return _answer()

    @app.post("/proven/<source>")
    def proven(source: str) -> Response:
        _proven(settings.sources[source])
        return _answer()

    @app.post("/read/<source>")
    def read(source: str) -> Response:
        _read(settings, source)
        return _answer()

    @app.post("/row/<source>")
    def row(source: str) -> Response:
        received = _read(settings, source)
        request_id = received.reading.events[0].request_id
        with pool.connection() as conn:
            conn.execute(ROW, (received.receipt_id, request_id, source, received.body))
        return _answer()

    return app


def _config() -> Path:
    return Path(os.environ["INTAKE_CONFIG"])


def _answer() -> Response:
    return Response(ANSWER, content_type="application/json")


def _post(source: str) -> Post:
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Post(source, "live", headers.get("content-type", ""), headers, request.get_data(cache=False), request.url)


def _proven(source: Source) -> Post:
    post = _post(source.name)
    if not is_authentic(source, post, datetime.now(UTC)):
        raise ValueError("not authentic")
    return post


def _read(settings: Settings, name: str) -> Received:
    source = settings.sources[name]
    post = _proven(source)
    reader = Reader(settings, source, datetime.now(UTC))
    return reader.received(post, reader.read(post), Arrival(uuid4()))
