"""What the transport makes of requests that left and got no whole answer, on real sockets.

Each test says which of the three outcomes it is: a wrong NotSent doubles a record, a wrong Unanswered troubles a
person for nothing.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from crm_clients.base import Request
from crm_clients.transport import NotSent, Transport, Unanswered
from crm_clients.watchdog import boot_clock
from tests.integration.raw_server import Peer, serving
from tests.integration.sending import MARGIN, SHORT, answering, silent, write


@pytest.fixture
def transport() -> Iterator[Transport]:
    with Transport() as made:
        yield made


def test_a_reset_after_the_request_is_doubt(transport: Transport) -> None:
    def act(peer: Peer) -> None:
        peer.read_request()
        peer.reset()

    with serving(act) as server:
        assert write(transport, server) == Unanswered("reset")


def test_a_reset_after_the_first_byte_is_doubt(transport: Transport) -> None:
    def act(peer: Peer) -> None:
        peer.sock.recv(1)
        peer.reset()

    with serving(act) as server:
        assert isinstance(write(transport, server), Unanswered)


def test_an_end_without_a_byte_is_doubt(transport: Transport) -> None:
    with serving(answering()) as server:
        assert write(transport, server) == Unanswered("eof")


@pytest.mark.parametrize(
    "cut",
    [
        b"HTTP/1.1 200 OK",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: appl",
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n",
        b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>",
    ],
)
def test_an_answer_cut_inside_its_headers_is_doubt(transport: Transport, cut: bytes) -> None:
    with serving(answering(cut)) as server:
        assert write(transport, server) == Unanswered("cut_head")


def test_a_cut_body_is_doubt(transport: Transport) -> None:
    with serving(answering(b'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"id":"1')) as server:
        assert write(transport, server) == Unanswered("cut_body")


@pytest.mark.parametrize("body", [b"5\r\nab", b"5\r\nabcde\r\n", b"5\r\nabcde\r\n0"])
def test_a_cut_chunked_body_is_doubt(transport: Transport, body: bytes) -> None:
    with serving(answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)) as server:
        assert isinstance(write(transport, server), Unanswered)


def test_a_silent_server_is_doubt_at_the_deadline(transport: Transport) -> None:
    with serving(silent) as server:
        begin = boot_clock()
        assert write(transport, server, seconds=SHORT) == Unanswered("timeout")
        assert boot_clock() < begin + SHORT + MARGIN


@pytest.mark.parametrize(
    "dripped",
    [
        b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 500,
        b"\r\n" * 500,
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + b"x" * 500,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 500,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 100,
    ],
    ids=["headers", "blank lines", "body", "body without a length", "interim answers"],
)
def test_a_dripping_server_is_doubt_at_the_deadline(transport: Transport, dripped: bytes) -> None:
    def act(peer: Peer) -> None:
        peer.read_request()
        peer.say(dripped[:45])
        peer.drip(dripped[45:], every=0.02)

    with serving(act) as server:
        begin = boot_clock()
        sent = write(transport, server, seconds=SHORT)
        assert isinstance(sent, Unanswered)
        assert boot_clock() < begin + SHORT + MARGIN


def test_a_server_that_does_not_read_a_long_request_is_doubt_at_the_deadline(transport: Transport) -> None:
    def act(peer: Peer) -> None:
        peer.over.wait()

    with serving(act) as server:
        long = Request("POST", "/contacts", body=b"x" * 20_000_000)
        begin = boot_clock()
        assert write(transport, server, seconds=SHORT, request=long) == Unanswered("timeout")
        assert boot_clock() < begin + SHORT + MARGIN


def test_an_oversized_answer_is_doubt() -> None:
    with (
        Transport(most_body_bytes=1000) as transport,
        serving(answering(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 1001)) as server,
    ):
        assert write(transport, server) == Unanswered("oversized")


def test_a_compressed_answer_counts_by_what_it_unpacks_to(transport: Transport) -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    with serving(answering(head, bomb)) as server:
        assert write(transport, server) == Unanswered("oversized")


@pytest.mark.parametrize(
    "garbage",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 99 Low\r\n\r\n",
        b"HTTP/2.0 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50,
    ],
    ids=[
        "another protocol", "bytes", "no status", "low status", "http 2", "many headers", "a long header",
        "a bad chunk",
        "two lengths", "no gzip", "an upgrade", "hints without end",
    ],
)  # fmt: skip
def test_an_answer_that_is_not_http_is_doubt(transport: Transport, garbage: bytes) -> None:
    with serving(answering(garbage)) as server:
        assert isinstance(write(transport, server), Unanswered)


def test_two_hundred_and_fifty_six_calls_at_once_all_end_at_their_deadline(transport: Transport) -> None:
    with serving(silent) as server, ThreadPoolExecutor(256) as pool:
        begin = boot_clock()
        calls = [pool.submit(write, transport, server, seconds=2.0) for _ in range(256)]
        # On a busy machine the turn of some comes when it is too late to send.
        assert {call.result() for call in calls} - {NotSent("too_late")} == {Unanswered("timeout")}
        assert boot_clock() < begin + 2.0 + 3 * MARGIN
