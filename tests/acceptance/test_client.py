"""The client for a company's own programs, against the real door and a network that loses answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from intake.client import Answer, Intake, NoAnswer, Received, Refused, Request, Unknown, post
from tests.conftest import fresh_database
from tests.crm_proxy import Fault, Proxy, before
from tests.doorway import ANSWERS, STANDARD, rows
from tests.integration.raw_server import Peer, serving
from tests.ports import free_port
from tests.web_process import Web, web


@pytest.fixture(scope="module")
def served(
    postgres_server: str, migrated_template: str, valkey_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Web, str]]:
    """One gunicorn for the tests of this file, and its database."""
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        web(tmp_path_factory.mktemp("web"), database_url=url, redis_url=valkey_server) as made,
    ):
        yield made, url


@pytest.fixture
def network(served: tuple[Web, str]) -> Iterator[Proxy]:
    with before(f"http://127.0.0.1:{served[0].port}") as proxy:
        yield proxy


def intake(network: Proxy, source: str = "keyed", *, within: float = 20.0, secret: str = STANDARD) -> Intake:
    return Intake(network.url, source, secret, within=within, random=lambda: 0.1)


def count(database_url: str, key: str) -> int:
    (row,) = rows(database_url, "SELECT count(*) AS n FROM events WHERE request_id = %(key)s", key=key)
    return int(str(row["n"]))


@pytest.mark.parametrize("source", ["web", "keyed"])
@pytest.mark.parametrize("fault", ["lose_answer", "cut_answer", "lose_request"])
def test_a_lost_answer_is_asked_for_again_and_is_one_event(
    served: tuple[Web, str], network: Proxy, source: str, fault: Fault
) -> None:
    key = f"{source}-{fault}"
    network.once("POST", fault)
    sent = intake(network, source).send(ANSWERS, key=key)
    assert isinstance(sent, Received)
    assert sent.duplicate is (fault != "lose_request")
    assert len(network.requests) == 2
    assert count(served[1], key) == 1


@pytest.mark.parametrize("source", ["web", "keyed"])
def test_a_second_call_with_its_key_is_the_same_event(network: Proxy, source: str) -> None:
    first, second = (intake(network, source).send(ANSWERS, key=f"again-{source}") for _ in range(2))
    assert isinstance(first, Received)
    assert second == Received(first.event_ids, duplicate=True)


def test_a_key_used_for_other_content_is_told(network: Proxy) -> None:
    for source in ("web", "keyed"):
        intake(network, source).send(ANSWERS, key="reused")
    other = ANSWERS | {"message": "Otra cosa"}
    kept = intake(network, "web").send(other, key="reused")
    refused = intake(network, "keyed").send(other, key="reused")
    assert isinstance(kept, Received)
    assert kept.conflict
    assert refused == Refused(422, "idempotency_key_reused", {"Idempotency-Key": "was used with other content"})


def test_a_wrong_secret_is_refused_at_once(network: Proxy) -> None:
    assert intake(network, secret="whsec_" + "A" * 32).send(ANSWERS, key="forged") == Refused(401, "not_authentic")
    assert len(network.requests) == 1


def test_nothing_to_act_on_is_told(network: Proxy) -> None:
    assert intake(network).send({"name": " "}, key="blank") == Refused(200, "empty")


def test_a_closed_source_is_waited_for_and_then_unknown(network: Proxy) -> None:
    assert intake(network, "no-secret", within=0.5).send(ANSWERS, key="closed") == Unknown("source_closed")


# --- a network of its own --------------------------------------------------------------------------------------------


def request(url: str, within: float = 5.0) -> Request:
    return Request(url, b"{}", {}, within)


def saying(answer: bytes, *, every: float = 0.0) -> Callable[[Peer], None]:
    """A server that answers so, one byte in so many seconds."""

    def act(peer: Peer) -> None:
        peer.read_request()
        peer.drip(answer, every=every) if every else peer.say(answer)

    return act


def test_nobody_there_is_no_answer() -> None:
    assert post(request(f"http://127.0.0.1:{free_port()}/")) == NoAnswer("ConnectionError")


def test_a_server_that_drips_is_left_in_time() -> None:
    with serving(saying(b"HTTP/1.1 200 OK\r\n" * 99, every=0.05)) as server:
        begin = time.monotonic()
        assert post(request(server.url, within=0.5)) == NoAnswer("timeout")
        assert time.monotonic() - begin < 5


def test_an_answer_in_chunks_is_read_whole() -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n3\r\n[1]\r\n0\r\n\r\n"
    with serving(saying(chunked)) as server:
        answer = post(request(server.url))
    assert isinstance(answer, Answer)
    assert answer.body == b"{}[1]"


def test_a_redirect_is_not_followed() -> None:
    moved = b"HTTP/1.1 308 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
    with serving(saying(moved)) as server:
        answer = post(request(server.url))
    assert isinstance(answer, Answer)
    assert answer.status == 308


def test_credentials_of_this_machine_are_not_sent_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login someone password sesame\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with serving(saying(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) as server:
        post(request(server.url))
    assert b"authorization" not in bytes(server.seen).lower()
