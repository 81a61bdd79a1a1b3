"""The desk beside the door: imported late, and never in its way."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from werkzeug.test import Client

from intake.desk.mount import PLACES, Beside

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


def says(word: bytes, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    del environ
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [word]


def door(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    return says(b"door", environ, start_response)


def test_the_door_starts_without_the_desk() -> None:
    names = "flask_babel, argon2, apispec, prometheus_client"
    code = f"import sys, intake.app; sys.exit(any(name in sys.modules for name in '{names}'.split(', ')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_desk_is_made_once_and_only_when_somebody_asks() -> None:
    made: list[int] = []

    def make() -> object:
        made.append(1)
        return lambda environ, start: says(b"desk", environ, start)

    client = Client(Beside(door, make))  # type: ignore[arg-type]  # an application
    assert client.get("/hooks/web").data == client.get("/healthz").data == b"door"
    assert made == []
    assert [client.get(path).data for path in ("/console", "/console/inbox/all", "/api/v1/events", "/metrics")] == [
        b"desk"
    ] * 4
    assert made == [1]


def test_a_busy_desk_refuses_and_the_door_goes_on() -> None:
    go_on, waiting = threading.Event(), threading.Semaphore(0)

    def slow(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        waiting.release()
        go_on.wait(30)
        return says(b"desk", environ, start)

    client = Client(Beside(door, lambda: slow))
    held = [threading.Thread(target=client.get, args=("/console",)) for _ in range(PLACES)]
    for each in held:
        each.start()
        waiting.acquire(timeout=30)
    refused = client.get("/console")
    accepted = client.get("/hooks/web")
    go_on.set()
    for each in held:
        each.join(30)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert accepted.data == b"door"
    assert client.get("/console").data == b"desk"
