"""Requests of the transport's tests, and servers that answer them in one way or another."""

from __future__ import annotations

import socket
from collections.abc import Callable

from crm_clients.base import Account, Request, Response
from crm_clients.transport import Answered, Sent, Transport
from crm_clients.watchdog import boot_clock
from tests.integration.raw_server import Peer, RawServer

POST = Request("POST", "/contacts", body=b'{"name":"Rosa"}', headers=(("Content-Type", "application/json"),))
GET = Request("GET", "/contacts")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

# A call that is expected to end by itself has this long; one whose deadline is the point has SHORT.
LONG = 10.0
SHORT = 0.4
# How much later than its deadline a call may come back on a busy machine.
MARGIN = 1.0


def account(server: RawServer) -> Account:
    return Account("crm", server.url, (("Authorization", "Bearer secret-token"),))


def write(transport: Transport, server: RawServer, *, seconds: float = LONG, request: Request = POST) -> Sent:
    now = boot_clock()
    return transport.write(account(server), request, send_by=now + seconds, deadline=now + seconds)


def look(transport: Transport, server: RawServer, *, seconds: float = LONG, request: Request = GET) -> Sent:
    return transport.look(account(server), request, deadline=boot_clock() + seconds)


def response_of(sent: Sent) -> Response:
    assert isinstance(sent, Answered)
    return sent.response


def answering(*pieces: bytes) -> Callable[[Peer], None]:
    """Read one request, say these pieces, and close."""

    def act(peer: Peer) -> None:
        peer.read_request()
        for piece in pieces:
            peer.say(piece)

    return act


def answering_for_ever(peer: Peer) -> None:
    while peer.read_request():
        peer.say(OK)


def silent(peer: Peer) -> None:
    peer.wait_for_the_client_to_go()


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
