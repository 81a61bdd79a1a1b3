"""What the main thread does with connections that end while others' bytes are told of."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest
from gunicorn.app.base import BaseApplication
from gunicorn.config import Config
from gunicorn.glogging import Logger

from intake.arriving import Most
from intake.gunicorn_worker import MOST_ARRIVING, MOST_LINGERING, Connection, Worker

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

POST = b"POST / HTTP/1.1\r\nHost: x\r\n"


class Nothing(BaseApplication):  # type: ignore[misc]  # gunicorn publishes no types
    """An application that is never called."""

    def load_config(self) -> None:
        """As gunicorn has it."""


class Idle(Worker):
    """Whose main loop is not running, and whose threads serve nothing."""

    def __init__(self, connections: int, most_held: int) -> None:
        super().__init__(1, 1, [], Nothing(), 30, Config(), Logger(Config()))
        self.worker_connections, self.most_held = connections, most_held
        self.most = Most(head=1_000_000, body=1_000_000)
        self.arriving, self.lingering, self.busy, self.held = {}, {}, {}, 0
        self.poller = selectors.DefaultSelector()
        self.served: list[Connection] = []

    def serve(self, conn: Connection, *, reusable: bool) -> None:
        """Note what a thread would get."""
        self.leave(conn)
        self.served.append(conn)
        conn.reusable = reusable


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


def idle(stack: ExitStack, connections: int = 1000, most_held: int = MOST_ARRIVING) -> Idle:
    worker = Idle(connections, most_held)
    stack.callback(worker.tmp.close)
    stack.callback(worker.poller.close)
    return worker


@contextmanager
def connection(worker: Idle) -> Iterator[tuple[Connection, socket.socket]]:
    """One that was just accepted, and its client's side."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker.nr_conns += 1
        yield Connection(worker, ours, ("127.0.0.1", 1), ("127.0.0.1", 2)), theirs


@contextmanager
def arriving(worker: Idle) -> Iterator[tuple[Connection, socket.socket]]:
    with connection(worker) as (conn, client):
        worker.enqueue_req(conn)
        yield conn, client


def test_one_that_is_cut_off_while_its_bytes_are_told_of_is_let_go(stack: ExitStack) -> None:
    worker = idle(stack, most_held=len(POST))
    (first, its_client), (second, other_client) = (stack.enter_context(arriving(worker)) for _ in range(2))
    # Both are told of at once, and the newer one's bytes are too many beside the older one's.
    worker.take(first, POST)
    other_client.sendall(POST)
    its_client.sendall(b"A: b\r\n")
    worker.wait_for_and_dispatch_events(1)
    assert list(worker.arriving) == [second]
    assert worker.nr_conns == 1


def test_one_that_is_parted_with_while_its_end_is_told_of_is_let_go(stack: ExitStack) -> None:
    worker = idle(stack)
    waiting = [stack.enter_context(connection(worker)) for _ in range(MOST_LINGERING)]
    for conn, _ in waiting:
        worker.nr_conns -= 1  # as gunicorn does
        conn.close(graceful=True)
    one_more, _ = stack.enter_context(connection(worker))
    oldest, its_client = waiting[0]
    its_client.sendall(b"too late")
    events = worker.poller.select(1)
    worker.nr_conns -= 1
    one_more.close(graceful=True)
    for key, _ in events:
        key.data(key.fileobj)
    assert oldest not in worker.lingering
    assert worker.nr_conns == MOST_LINGERING


@pytest.mark.parametrize("expected", [b"100-continue", b" " * 50_000 + b"100-continue"])
def test_what_is_held_is_nothing_after_the_last_request(stack: ExitStack, expected: bytes) -> None:
    worker = idle(stack)
    [conn, _] = stack.enter_context(arriving(worker))
    worker.take(conn, POST + b"Expect: " + expected + b"\r\nContent-Length: 2\r\n\r\n")
    worker.take(conn, b"{}")
    assert worker.served == [conn]
    assert worker.held == 0


def answer(_environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    """An application that reads nothing."""
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]


@pytest.mark.parametrize(("more", "kept"), [(b"", True), (b"Connection: close\r\n", False)])
def test_nothing_is_kept_of_what_was_answered(stack: ExitStack, more: bytes, kept: bool) -> None:
    worker = idle(stack)
    worker.wsgi = answer
    [conn, _] = stack.enter_context(arriving(worker))
    worker.take(conn, POST + more + b"Content-Length: 50000\r\n\r\n" + b" " * 50_000)
    assert bool(worker.handle(conn)) is kept
    assert len(conn.arrival) == 0
