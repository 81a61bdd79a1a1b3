"""Counting how long acceptances take hinders none."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

import psycopg_pool
from werkzeug.test import Client
from werkzeug.wrappers import Response

from intake.accept_times import AcceptTimes, Timed
from intake.db import BoundedConnection, Pool

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


def accepting(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    return Response("{}")(environ, start_response)


def no_more_threads(_thread: threading.Thread) -> NoReturn:
    """As where the system's limit is reached."""
    raise RuntimeError("can't start new thread")


def test_what_was_accepted_is_answered_so_where_no_thread_can_be_made() -> None:
    pool: Pool = psycopg_pool.ConnectionPool("", connection_class=BoundedConnection, open=False)
    times = AcceptTimes(pool, start=no_more_threads)
    answers = [Client(Timed(accepting, times.note)).post("/hooks/web") for _ in range(2)]
    assert [each.status_code for each in answers] == [200, 200]
