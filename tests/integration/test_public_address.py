"""The public address as the doctor sees it: fit for senders elsewhere, and leading to this installation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crm_clients.transport import Transport
from intake import doorplate
from tests.integration.raw_server import Peer, serving
from tests.integration.test_transport_tls import LOOPBACK, certified
from tests.ports import free_port
from workers.commands.reaching import form_of, reached

OURS, ANOTHERS = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture
def transport() -> Iterator[Transport]:
    with Transport() as made:
        yield made


def answering(status: str, body: bytes = b"", *, header: str = "X-Any: 1") -> Callable[[Peer], None]:
    def act(peer: Peer) -> None:
        peer.read_request()
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{header}\r\nConnection: close\r\n\r\n"
        peer.say(head.encode() + body)

    return act


def plate(said: object) -> Callable[[Peer], None]:
    return answering("200 OK", json.dumps({"installation": said}).encode())


@pytest.mark.parametrize(
    "address",
    [
        "https://leads.example.com",
        "https://leads.example.com:8443/intake",
        "https://8.8.8.8",
        "https://[2606:4700::1111]",
    ],
)
def test_what_senders_elsewhere_can_call_is_ok(address: str) -> None:
    assert form_of(address).verdict == "ok"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:8080", "this host's own"),
        ("https://127.0.0.2", "this host's own"),
        ("http://localhost:8080", "this host's own"),
        ("https://[::1]", "this host's own"),
        ("https://10.0.0.7", "its own network"),
        ("https://192.168.1.5:8443", "its own network"),
        ("https://169.254.10.1", "its own network"),
        ("https://[fd00::1]", "its own network"),
        ("https://crm", "its own network"),
        ("https://leads.internal", "its own network"),
        ("https://leads.local.", "its own network"),
        ("http://leads.example.com", "not encrypted"),
    ],
)
def test_what_senders_elsewhere_cannot_call_is_told(address: str, why: str) -> None:
    line = form_of(address)
    assert (line.verdict, why in line.detail, bool(line.remedy)) == ("warn", True, True)


def test_an_address_that_leads_here_is_ok(transport: Transport) -> None:
    with serving(plate(OURS)) as server:
        assert reached(server.url, transport, expected=OURS).verdict == "ok"


def test_an_address_that_leads_to_another_installation_fails(transport: Transport) -> None:
    with serving(plate(ANOTHERS)) as server:
        # This host in a spelling that says so to the resolver alone, as a public name behind NAT would be.
        line = reached(f"http://0x7f000001:{server.port}", transport, expected=OURS)
    assert (line.verdict, line.detail) == ("fail", "another installation answers, and gets what is sent there")


def test_another_installation_at_this_hosts_own_address_takes_nobodys_leads(transport: Transport) -> None:
    with serving(plate(ANOTHERS)) as server:
        assert reached(server.url, transport, expected=OURS).verdict == "warn"


def test_a_certificate_that_senders_refuse_is_told(transport: Transport, tmp_path: Path) -> None:
    with serving(plate(OURS), tls=certified(tmp_path, LOOPBACK).server) as server:
        line = reached(f"https://127.0.0.1:{server.port}", transport, expected=OURS)
    assert (line.verdict, line.detail) == ("warn", "its certificate is not accepted")


def test_a_plate_is_not_believed_while_ours_is_unknown(transport: Transport) -> None:
    with serving(plate(OURS)) as server:
        assert reached(server.url, transport, expected=None).verdict == "warn"


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (
            answering("308 Permanent Redirect", header="Location: http://127.0.0.1:1/hooks/_installation"),
            "redirects (308)",
        ),
        (answering("404 Not Found", b"<h1>Not Found</h1>"), "answers 404, and not as this program does"),
        (answering("200 OK", b"<h1>It works!</h1>"), "answers 200, and not as this program does"),
        (answering("200 OK", b"[" * 60_000), "answers 200, and not as this program does"),
        (answering("200 OK", b"\xff\xfe"), "answers 200, and not as this program does"),
        (answering("200 OK", b"[]"), "answers 200, and not as this program does"),
        (plate(17), "answers 200, and not as this program does"),
        (plate("\x1b[31mred"), "answers 200, and not as this program does"),
        (answering("502 Bad Gateway"), "answers 502"),
        (lambda peer: peer.reset(), "no answer in time"),
    ],
)
def test_whatever_else_answers_is_told(transport: Transport, act: Callable[[Peer], None], why: str) -> None:
    with serving(act) as server:
        line = reached(server.url, transport, expected=OURS)
    assert (line.verdict, why in line.detail, bool(line.remedy)) == ("warn", True, True)


def test_a_server_that_never_ends_its_answer_holds_nobody(transport: Transport) -> None:
    def act(peer: Peer) -> None:
        peer.read_request()
        peer.drip(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b" " * 1000, every=0.05)

    with serving(act) as server:
        line = reached(server.url, transport, expected=OURS, patience=0.3)
    assert (line.verdict, line.detail) == ("warn", "no answer in time")


def test_an_address_without_a_listener_says_so(transport: Transport) -> None:
    line = reached(f"http://127.0.0.1:{free_port()}", transport, expected=OURS)
    assert (line.verdict, line.detail) == ("warn", "nobody listens there")


def test_where_a_host_may_be_unable_to_call_itself_what_to_ask_from_elsewhere_is_told(transport: Transport) -> None:
    line = reached("https://leads.invalid", transport, expected=OURS)
    assert f"`curl https://leads.invalid{doorplate.PATH}` must say {OURS}" in line.remedy


def test_nothing_secret_is_sent_along(transport: Transport) -> None:
    with serving(plate(OURS)) as server:
        reached(server.url, transport, expected=OURS)
    lines = bytes(server.seen).decode().splitlines()
    assert lines[0] == f"GET {doorplate.PATH} HTTP/1.1"
    assert {line.partition(":")[0].lower() for line in lines[1:] if line} <= {
        "host", "accept", "accept-encoding", "user-agent", "connection",
    }  # fmt: skip
