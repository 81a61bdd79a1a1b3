"""A sandbox keeps a connection for the next request, and not where it cannot know where that begins."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from crm_clients.sandbox.server import LARGEST_BODY, Running, running

HEADERS = {"Authorization": "Bearer sandbox", "Content-Type": "application/json"}
CONTACT = json.dumps({"name": "Eva Ejemplo"})
NEXT = "GET /api/me HTTP/1.1\r\n\r\n"


@pytest.fixture
def server() -> Iterator[Running]:
    with running() as sandbox:
        yield sandbox


@pytest.fixture
def connection(server: Running) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=10.0)) as kept:
        kept.connect()
        kept.auto_open = 0  # Another connection is no answer to the question whether this one was kept.
        yield kept


def status(kept: http.client.HTTPConnection, method: str, path: str, body: str | None = None) -> int:
    kept.request(method, path, body, HEADERS)
    answer = kept.getresponse()
    answer.read()
    return answer.status


def test_one_connection_carries_many_requests(connection: http.client.HTTPConnection) -> None:
    asked = [("POST", "/api/contacts", CONTACT), ("GET", "/api/contacts?phone=1", None), ("GET", "/nowhere", "{}")]
    assert [status(connection, *each) for each in asked * 3] == [201, 200, 404] * 3


def test_a_body_that_nobody_wants_is_not_the_next_request(connection: http.client.HTTPConnection) -> None:
    smuggled = "GET /api/contacts HTTP/1.1\r\n\r\n"
    assert status(connection, "GET", "/api/me", smuggled) == 200
    assert status(connection, "POST", "/api/contacts", CONTACT) == 201


def said_to(server: Running, request: str) -> str:
    """All that the sandbox says until it ends the connection; the client says nothing more after this."""
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=10.0)) as sock:
        sock.sendall(request.encode())
        sock.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: sock.recv(65536), b"")).decode()


def post(*heads: str, version: str = "1.1") -> str:
    return "\r\n".join((f"POST /api/contacts HTTP/{version}", "Authorization: Bearer sandbox", *heads, "", CONTACT))


@pytest.mark.parametrize("head", [f"Content-Length: {LARGEST_BODY + 1}", "Transfer-Encoding: chunked"])
def test_where_a_body_ends_unread_the_connection_ends(server: Running, head: str) -> None:
    said = said_to(server, post(head) + NEXT)
    assert (said.count("\r\nConnection: close\r\n"), said.count("HTTP/1.1 ")) == (1, 1)


@pytest.mark.parametrize(
    "heads",
    [
        ["Content-Length: -1"],
        ["Content-Length: 1", f"Content-Length: {len(CONTACT)}"],
        [f"Content-Length: {'9' * 5000}"],
        [f"Content-Length : {len(CONTACT)}"],
        ["no header", f"Content-Length: {len(CONTACT)}"],
    ],
)
def test_a_request_whose_end_nobody_knows_is_refused_and_the_last(server: Running, heads: list[str]) -> None:
    said = said_to(server, post(*heads) + NEXT)
    assert said.startswith("HTTP/1.1 400 ")
    assert said.count("HTTP/1.1 ") == 1


def test_an_address_that_is_none_is_refused(server: Running) -> None:
    assert said_to(server, "GET http://[ HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 400 ")


@pytest.mark.parametrize("wish", ["close", "keep-alive"])
def test_a_client_of_the_older_protocol_is_told_that_the_connection_ends(server: Running, wish: str) -> None:
    said = said_to(server, post(f"Content-Length: {len(CONTACT)}", f"Connection: {wish}", version="1.0"))
    assert "\r\nConnection: close\r\n" in said


def test_a_client_that_asks_first_is_told_once_to_go_on(server: Running) -> None:
    said = said_to(server, post(f"Content-Length: {len(CONTACT)}", "Expect: 100-continue"))
    assert said.count("HTTP/1.1 100 ") == 1


def test_a_client_whose_body_is_too_large_still_hears_so(connection: http.client.HTTPConnection) -> None:
    assert status(connection, "POST", "/api/contacts", "x" * 20 * LARGEST_BODY) == 413


def test_a_body_that_was_cut_is_answered_by_nothing(server: Running) -> None:
    assert said_to(server, post(f"Content-Length: {len(CONTACT) + 1}")) == ""


def test_a_request_that_a_stop_cuts_is_not_said_to_be_refused(server: Running) -> None:
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=10.0)) as sock:
        sock.sendall(post(f"Content-Length: {len(CONTACT) + 1}", "Expect: 100-continue").encode())
        assert sock.recv(100).startswith(b"HTTP/1.1 100 ")  # So its head was read.
        server.stop()
        assert sock.recv(100) == b""


def test_after_a_stop_no_request_is_answered(connection: http.client.HTTPConnection, server: Running) -> None:
    assert status(connection, "GET", "/api/me") == 200
    server.server.closing = True  # As for a request that is there before the connection can be shut.
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        status(connection, "GET", "/api/me")


def test_a_stop_ends_the_kept_connections(connection: http.client.HTTPConnection, server: Running) -> None:
    assert status(connection, "GET", "/api/me") == 200
    server.stop()
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        status(connection, "GET", "/api/me")
