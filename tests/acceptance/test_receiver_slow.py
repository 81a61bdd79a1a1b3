"""Clients that take their time, more of them than there are threads, and gunicorn as it is shipped.

None of these tests takes a time: without what they show, a delivery waits for longer than its sender (PATIENCE).
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import pytest

from tests.conftest import fresh_database
from tests.doorway import ANSWERS, as_json, event
from tests.web_process import Web, web

BODY = as_json(ANSWERS)
POST = b"POST /hooks/web HTTP/1.1\r\nHost: x\r\n"
# What a slow client says first, and again and again.
SLOW = {
    "nothing": (b"", b""),
    "a request line": (b"GET /", b"a"),
    "headers": (POST + b"X-A: ", b"a"),
    "a header after another": (POST, b"A: b\r\n"),
    "a body": (POST + b"Content-Length: 1000\r\n\r\n{", b" "),
    "chunks": (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "the line of a chunk": (POST + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a"),
    "trailers": (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
    "a body that waits to be asked": (POST + b"Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n", b" "),
}
# Of each, and all together far more than the 16 threads.
CROWD = 30


@pytest.fixture(scope="module")
def served(
    postgres_server: str, migrated_template: str, valkey_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Web]:
    """As many processes and threads, and as much patience, as by default."""
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        web(tmp_path_factory.mktemp("web"), database_url=url, redis_url=valkey_server) as made,
    ):
        yield made


@contextmanager
def connected(made: Web, count: int) -> Iterator[Sequence[socket.socket]]:
    """So many connections."""
    with ExitStack() as stack:
        yield [stack.enter_context(made.connect()) for _ in range(count)]


def is_open(sock: socket.socket) -> bool:
    """Whether the server holds this connection still (it has said nothing, or "100 Continue")."""
    sock.setblocking(False)
    try:
        return sock.recv(65536).startswith(b"HTTP/1.1 100")
    except BlockingIOError:
        return True
    except OSError:
        return False


def is_cut_off(sock: socket.socket) -> bool:
    """Whether the server ends this connection, soon or at last."""
    try:
        return sock.recv(1) == b""
    except ConnectionError:
        return True


def assert_accepts(made: Web, name: str, *, times: int = 1) -> None:
    for number in range(times):
        answer = made.post("web", BODY + b" " * number, delivery_id=f"msg_{name}_{number}")
        assert (answer.status, event(answer.document)["duplicate"]) == (200, False)


def test_deliveries_are_accepted_among_clients_that_drip(served: Web) -> None:
    with connected(served, CROWD * len(SLOW)) as slow:
        dripping = list(zip(slow, list(SLOW.values()) * CROWD, strict=True))
        for sock, (first, _) in dripping:
            sock.sendall(first)
        for number in range(5):
            for sock, (_, drop) in dripping:
                sock.sendall(drop)
            assert_accepts(served, f"drip_{number}", times=4)
        # They were there all the time: nobody had to be cut off for it.
        assert sum(map(is_open, slow)) == len(slow)


def test_clients_that_never_read_their_answer_hold_nobody_up(served: Web) -> None:
    with connected(served, 100) as slow:
        for sock in slow:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            sock.sendall(b"GET /console/static/desk.css HTTP/1.1\r\nHost: x\r\n\r\n" * 4)
        assert_accepts(served, "unread", times=4)


def test_clients_that_never_close_hold_nobody_up(served: Web) -> None:
    with connected(served, 400) as slow:
        for sock in slow:
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert_accepts(served, "unclosed", times=4)


def test_a_body_that_comes_byte_by_byte_is_whole(served: Web) -> None:
    document = b'{"name": "Ana Prueba"}'
    head = b"POST /hooks/generic HTTP/1.1\r\nHost: x\r\nX-Intake-Token: form-token\r\nContent-Length: %d\r\n\r\n"
    with served.connect() as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in head % len(document) + document:
            sock.sendall(bytes([byte]))
        assert sock.recv(65536).startswith(b"HTTP/1.1 200 OK")


def test_who_waits_to_be_asked_for_the_body_is_asked_once(served: Web) -> None:
    with served.connect() as sock:
        sock.sendall(POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert sock.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(b"{}")
        assert sock.recv(65536).startswith(b"HTTP/1.1 401 ")


def test_who_asks_for_too_much_is_refused_at_once(served: Web) -> None:
    with served.connect() as sock:
        sock.sendall(POST + b"Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n")
        assert sock.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_requests_that_come_together_are_all_answered(served: Web) -> None:
    health = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    body = POST + b"Content-Length: 2\r\n\r\n{}"
    answers = served.say(health + body + health + b"GET /healthz HTTP/1.1\r\nConnection: close\r\nHost: x\r\n\r\n")
    assert [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]] == [b"200", b"401", b"200", b"200"]


def test_what_follows_a_body_that_was_not_awaited_is_no_request(served: Web) -> None:
    hidden = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    answers = served.say(POST + b"Content-Length: 99999999999\r\n\r\n" + hidden * 2)
    assert [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]] == [b"413"]


# --- more than it holds -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def narrow(
    postgres_server: str, migrated_template: str, valkey_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Web]:
    """One process that holds few connections."""
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        web(
            tmp_path_factory.mktemp("web"),
            database_url=url,
            redis_url=valkey_server,
            WEB_WORKERS="1",
            WEB_CONNECTIONS="40",
        ) as made,
    ):
        yield made


def test_beyond_what_it_holds_the_oldest_is_cut_off(narrow: Web) -> None:
    with connected(narrow, 120) as slow:
        for sock in slow:
            sock.sendall(POST)
        assert_accepts(narrow, "beyond", times=4)
        assert is_cut_off(slow[0])
        assert is_open(slow[-1])


def test_bodies_that_do_not_end_fill_no_memory(narrow: Web) -> None:
    with connected(narrow, 25) as slow:
        for sock in slow:
            with suppress(OSError):
                sock.sendall(POST + b"Content-Length: 3000000\r\n\r\n" + b" " * 2_999_999)
        assert_accepts(narrow, "memory")
        assert is_cut_off(slow[0])
        assert is_open(slow[-1])


def test_who_takes_longer_than_the_limit_is_cut_off(
    postgres_server: str, migrated_template: str, valkey_server: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        web(tmp_path_factory.mktemp("web"), database_url=url, redis_url=valkey_server, WEB_REQUEST_LIMIT="1") as made,
        made.connect() as sock,
    ):
        sock.sendall(POST)
        assert is_cut_off(sock)
