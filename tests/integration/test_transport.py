"""What the transport makes of requests that are answered or never leave, on real sockets.

Each test says which of the three outcomes it is: a wrong NotSent doubles a record, a wrong Unanswered troubles a
person for nothing.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crm_clients.base import Account, Request
from crm_clients.transport import Answered, NotSent, Transport, Unanswered
from crm_clients.watchdog import boot_clock
from tests.integration.raw_server import Peer, RawServer, serving
from tests.integration.sending import (
    LONG,
    MARGIN,
    OK,
    POST,
    SHORT,
    account,
    answering,
    answering_for_ever,
    closed_port,
    look,
    response_of,
    silent,
    write,
)


@pytest.fixture
def transport() -> Iterator[Transport]:
    with Transport() as made:
        yield made


# --- nothing was handed over ---


def test_a_refused_connection_is_not_sent(transport: Transport) -> None:
    assert write(transport, RawServer(closed_port())) == NotSent("refused")


def test_an_unknown_host_is_not_sent(transport: Transport) -> None:
    now = boot_clock()
    nowhere = Account("crm", "http://crm.invalid")
    assert transport.write(nowhere, POST, send_by=now + LONG, deadline=now + LONG) == NotSent("dns")


def test_a_silent_tls_handshake_is_not_sent(transport: Transport) -> None:
    with serving(silent) as server:
        now = boot_clock()
        secure = Account("crm", f"https://127.0.0.1:{server.port}")
        sent = transport.write(secure, POST, send_by=now + SHORT, deadline=now + LONG)
        assert isinstance(sent, NotSent)
        assert boot_clock() < now + SHORT + MARGIN
    assert b"/contacts" not in server.seen


def test_a_server_that_speaks_no_tls_is_not_sent(transport: Transport) -> None:
    with serving(answering(OK)) as server:
        now = boot_clock()
        secure = Account("crm", f"https://127.0.0.1:{server.port}")
        # Which word it is depends on who gives up first: the server waits for the end of a request.
        assert isinstance(transport.write(secure, POST, send_by=now + SHORT, deadline=now + LONG), NotSent)
    assert b"/contacts" not in server.seen


def test_a_host_that_never_accepts_is_not_sent(transport: Transport) -> None:
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        sent = write(transport, RawServer(listener.getsockname()[1]), seconds=SHORT)
    assert isinstance(sent, NotSent)


class Clock:
    """A clock that a test sets forward, as a stopped process finds it when it goes on."""

    def __init__(self) -> None:
        self.offset = 0.0

    def __call__(self) -> float:
        return boot_clock() + self.offset


def test_a_process_that_was_stopped_until_after_send_by_sends_no_byte() -> None:
    clock = Clock()

    def stop_long(boundary: str) -> None:
        if boundary == "send.before_check":
            clock.offset = 60.0

    with serving(silent) as server, Transport(clock=clock, at=stop_long) as transport:
        begun: list[str] = []
        now = clock()
        sent = transport.write(
            account(server), POST, send_by=now + 30, deadline=now + 90, on_first_byte=lambda: begun.append("begun")
        )
        assert sent == NotSent("too_late")
        assert begun == []
    assert server.seen == b""


def test_a_call_whose_time_is_over_does_not_even_connect(transport: Transport) -> None:
    with serving(silent) as server:
        assert write(transport, server, seconds=-1) == NotSent("too_late")
        assert server.connections == []


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/x",
        "contacts",
        "",
        "/../admin",
        "/x/..",
        "/%2e%2E/admin",
        "/a b",
        "/x?y=1",
        "/x#y",
        "/\\evil",
        "/ñ",
    ],
)
def test_a_path_that_could_leave_the_base_url_is_not_sent(transport: Transport, path: str) -> None:
    with serving(answering(OK)) as server:
        assert write(transport, server, request=Request("POST", path)) == NotSent("malformed")
        assert server.connections == []


def test_a_credential_that_is_no_header_value_is_not_sent_and_not_shown(transport: Transport) -> None:
    with serving(answering(OK)) as server:
        broken = Account("crm", server.url, (("Authorization", "Bearer secret\r\nX: 1"),))
        now = boot_clock()
        sent = transport.write(broken, POST, send_by=now + LONG, deadline=now + LONG)
        assert sent == NotSent("malformed")
        assert "secret" not in repr(sent)
        assert "secret" not in repr(broken)


# --- a whole answer ---


def test_an_answer_is_handed_over_whole(transport: Transport) -> None:
    text = b'HTTP/1.1 201 Created\r\nX-Total: 1\r\nX-Total: 2\r\nContent-Length: 8\r\n\r\n{"id":1}'
    with serving(answering(text)) as server:
        response = response_of(write(transport, server))
    assert (response.status, response.body, response.headers["x-total"]) == (201, b'{"id":1}', "1, 2")


def test_the_request_is_handed_over_whole(transport: Transport) -> None:
    request = Request("PATCH", "/a/%C3%B1", query=(("phone", "+51 9"), ("x", "ñ&")), body=b"{}")
    with serving(answering(OK)) as server:
        write(transport, server, request=request)
    assert server.seen.startswith(b"PATCH /a/%C3%B1?phone=%2B51+9&x=%C3%B1%26 HTTP/1.1\r\n")
    assert b"\r\nAuthorization: Bearer secret-token\r\n" in server.seen
    assert server.seen.endswith(b"\r\n\r\n{}")


def test_a_204_without_a_body_is_an_answer(transport: Transport) -> None:
    with serving(answering(b"HTTP/1.1 204 No Content\r\n\r\n")) as server:
        assert response_of(write(transport, server)).body == b""


def test_a_body_that_ends_with_the_connection_is_an_answer(transport: Transport) -> None:
    with serving(answering(b'HTTP/1.0 200 OK\r\n\r\n{"id":1}')) as server:
        assert response_of(write(transport, server)).body == b'{"id":1}'


@pytest.mark.parametrize("interim", [b"100 Continue", b"102 Processing", b"103 Early Hints"])
def test_an_interim_answer_is_read_past(transport: Transport, interim: bytes) -> None:
    with serving(answering(b"HTTP/1.1 " + interim + b"\r\nLink: </x>\r\n\r\n", OK)) as server:
        assert response_of(write(transport, server)).status == 200


def test_a_redirect_is_an_answer_and_is_not_followed(transport: Transport) -> None:
    with serving(answering_for_ever) as other:
        away = f"HTTP/1.1 302 Found\r\nLocation: {other.url}/\r\nContent-Length: 0\r\n\r\n".encode()
        with serving(answering(away)) as server:
            assert response_of(write(transport, server)).status == 302
        assert other.connections == []


def test_proxies_and_passwords_of_the_environment_are_ignored(
    transport: Transport, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password theirs\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    with serving(answering(OK)) as server:
        now = boot_clock()
        open_account = Account("crm", server.url)
        sent = transport.write(open_account, POST, send_by=now + LONG, deadline=now + LONG)
        assert isinstance(sent, Answered)
    assert b"authorization" not in server.seen.lower()


def test_the_boundaries_are_told_in_their_order() -> None:
    passed: list[str] = []
    with serving(answering(OK)) as server, Transport(at=passed.append) as transport:
        now = boot_clock()
        transport.write(
            account(server), POST, send_by=now + LONG, deadline=now + LONG, on_first_byte=lambda: passed.append("first")
        )
    assert passed == ["send.before_check", "first", "send.before_first_byte", "answer.received"]


class Crash(BaseException):
    """A process that ends here, for a simulation."""


@pytest.mark.parametrize("boundary", ["send.before_check", "send.before_first_byte", "answer.received"])
def test_a_crash_at_a_boundary_goes_through(boundary: str) -> None:
    def crash(reached: str) -> None:
        if reached == boundary:
            raise Crash

    with serving(answering(OK)) as server, Transport(at=crash) as transport, pytest.raises(Crash):
        write(transport, server)


# --- connections ---


def test_each_write_has_a_connection_of_its_own(transport: Transport) -> None:
    with serving(answering_for_ever) as server:
        for _ in range(3):
            assert isinstance(write(transport, server), Answered)
        assert len(server.connections) == 3


def test_looks_share_a_connection(transport: Transport) -> None:
    with serving(answering_for_ever) as server:
        for _ in range(3):
            assert isinstance(look(transport, server), Answered)
        assert len(server.connections) == 1


def test_a_write_takes_no_connection_that_a_look_left(transport: Transport) -> None:
    with serving(answering_for_ever) as server:
        look(transport, server)
        write(transport, server)
        assert len(server.connections) == 2


def test_a_kept_connection_that_dies_under_a_look_tells_nothing_and_is_replaced(transport: Transport) -> None:
    def act(peer: Peer) -> None:
        peer.read_request()
        peer.say(OK)
        peer.read_request()

    with serving(act) as server:
        outcomes = [look(transport, server) for _ in range(3)]
        assert [type(each) for each in outcomes] == [Answered, Unanswered, Answered]
        assert len(server.connections) == 2


def test_a_watched_look_on_a_kept_connection_ends_at_its_deadline(transport: Transport) -> None:
    def act(peer: Peer) -> None:
        peer.read_request()
        peer.say(OK)
        peer.drip(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 500, every=0.02)

    with serving(act) as server:
        look(transport, server)
        begin = boot_clock()
        assert isinstance(look(transport, server, seconds=SHORT), Unanswered)
        assert boot_clock() < begin + SHORT + MARGIN


def test_a_closed_transport_leaves_no_thread() -> None:
    before = set(threading.enumerate())  # Other tests of this process may have a transport of their own.
    with serving(answering(OK)) as server, Transport() as transport:
        write(transport, server)
    assert [thread.name for thread in threading.enumerate() if thread not in before] == []


def test_the_clock_goes_on_with_the_time_that_people_see() -> None:
    begin, seen = boot_clock(), time.monotonic()
    while time.monotonic() < seen + 0.05:
        pass
    assert boot_clock() - begin >= 0.04
