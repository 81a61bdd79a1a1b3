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


@pytest.mark.parametrize(
    "head", [f"Content-Length: {LARGEST_BODY + 1}", "Content-Length: -1", "Transfer-Encoding: chunked"]
)
def test_where_a_body_ends_unread_the_connection_ends(server: Running, head: str) -> None:
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=10.0)) as sock:
        sock.sendall(f"POST /api/contacts HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode())
        sock.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: sock.recv(65536), b""))
    assert b"\r\nConnection: close\r\n" in received
    assert received.count(b"HTTP/1.1 ") == 1


def test_a_stop_ends_the_kept_connections(connection: http.client.HTTPConnection, server: Running) -> None:
    assert status(connection, "GET", "/api/me") == 200
    server.stop()
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        status(connection, "GET", "/api/me")
