"""The plate on the door: which installation listens at an address, so that `intake check` sees where senders get to.

It stands below /hooks/, since that is what a proxy must pass on, and where no source can be called so.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from http import HTTPStatus

import psycopg
from flask import Flask, Response

from intake import installation
from intake.db import Pool, answering_until
from intake.installation import Installation, Mismatch

PATH = "/hooks/_installation"
WORDS = re.compile("[0-9a-f]{16}")

# How long whoever asks waits for the database, in seconds.
WITHIN = 0.5


def words(found: Installation) -> str:
    """The same at every door of an installation; the id cannot be told from it."""
    return hashlib.sha256(b"doorplate " + found.installation_id.bytes).hexdigest()[:16]


def hang(app: Flask, pool: Pool) -> None:
    """Add it to the door's application."""

    @app.get(PATH)
    def doorplate() -> Response:
        status, said = _read(pool)
        response = Response(json.dumps(said), status, content_type="application/json")
        response.headers["Cache-Control"] = "no-store"
        return response


def _read(pool: Pool) -> tuple[HTTPStatus, dict[str, str]]:
    try:
        with pool.connection(timeout=WITHIN) as conn, answering_until(conn, time.monotonic() + WITHIN):
            return HTTPStatus.OK, {"installation": words(installation.read(conn))}
    except (psycopg.Error, Mismatch):
        return HTTPStatus.SERVICE_UNAVAILABLE, {"error": "storage_unavailable"}
