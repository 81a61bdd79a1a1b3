"""The door over real HTTP, as gunicorn serves it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis

from intake.app import MOST_BODY_BYTES as LARGEST
from intake.arriving import BEYOND
from intake.embedded import start_valkey
from intake.queue import QUEUE
from tests.conftest import fresh_database
from tests.doorway import ANSWERS, as_json, event
from tests.web_process import Web, web

BODY = as_json(ANSWERS)


@pytest.fixture(scope="module")
def served(
    postgres_server: str, migrated_template: str, valkey_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Web]:
    """One gunicorn for the tests of this file."""
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        web(tmp_path_factory.mktemp("web"), database_url=url, redis_url=valkey_server) as made,
    ):
        yield made


def head_and_document(answer: bytes) -> tuple[bytes, bytes]:
    """The status line and the body of an answer that says it is JSON."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower(), answer
    return head.splitlines()[0], body


def test_an_authentic_form_is_accepted(served: Web) -> None:
    answer = served.post("web", BODY, delivery_id="msg_form")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert event(answer.document)["duplicate"] is False


def test_fifty_deliveries_at_once_are_one_event(served: Web) -> None:
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: served.post("web", BODY, delivery_id="msg_fifty"), range(50)))
    found = [event(answer.document) for answer in answers]
    assert {answer.status for answer in answers} == {200}
    assert len({each["event_id"] for each in found}) == 1
    assert [each["duplicate"] for each in found].count(False) == 1


def test_an_accepted_delivery_wakes_a_worker(served: Web, valkey_server: str) -> None:
    with redis.Redis.from_url(valkey_server) as client:
        client.delete(f"rq:queue:{QUEUE}")
        served.post("web", BODY, delivery_id="msg_hint")
        assert client.blmove(f"rq:queue:{QUEUE}", "seen", 10) is not None


def test_a_body_in_chunks_is_read(served: Web) -> None:
    request = b"POST /hooks/generic HTTP/1.1\r\nHost: x\r\nX-Intake-Token: form-token\r\nConnection: close\r\n"
    chunks = b'Transfer-Encoding: chunked\r\n\r\n9;x="y"\r\n{"name":"\r\n5\r\nAna"}\r\n0\r\n\r\n'
    status, body = head_and_document(served.say(request + chunks))
    assert (status, b'"duplicate": false' in body) == (b"HTTP/1.1 200 OK", True)


def test_chunks_beyond_the_limit_of_their_source_are_refused(served: Web) -> None:
    head = b"POST /hooks/small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    status, _ = head_and_document(served.say(head + (b"400\r\n" + b"x" * 0x400 + b"\r\n") * 2 + b"0\r\n\r\n"))
    assert status.startswith(b"HTTP/1.1 413")


def test_chunks_beyond_every_limit_are_refused_while_they_come(served: Web) -> None:
    head = b"POST /hooks/small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with served.connect() as sock:
        sock.sendall(head + b"400000\r\n" + b"x" * (LARGEST + BEYOND + 1000))  # The end never comes.
        status, _ = head_and_document(sock.recv(65536))
    assert status.startswith(b"HTTP/1.1 413")


def test_a_length_beyond_the_limit_is_refused_before_the_body(served: Web) -> None:
    with served.connect() as sock:
        sock.sendall(b"POST /hooks/web HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
        status, _ = head_and_document(sock.recv(65536))
    assert status.startswith(b"HTTP/1.1 413")


NO_HTTP = {
    "no request line": (b"\r\n\r\nnonsense\r\n\r\n", b"400"),
    "a method of control characters": (b"\x00\x01 / HTTP/1.1\r\n\r\n", b"400"),
    "another protocol": (b"GET / HTTP/9.9\r\n\r\n", b"400"),
    "a header without a colon": (b"GET / HTTP/1.1\r\nnonsense\r\n\r\n", b"400"),
    "a header with NUL": (b"GET / HTTP/1.1\r\na: \x00\r\n\r\n", b"400"),
    "a folded header": (b"GET / HTTP/1.1\r\na: b\r\n c\r\n\r\n", b"400"),
    "two lengths": (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
    "a length and chunks": (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", b"400"),
    "another coding": (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", b"400"),
    "an expectation": (b"POST / HTTP/1.1\r\nExpect: the-unexpected\r\nContent-Length: 0\r\n\r\n", b"417"),
    "a long line": (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", b"414"),
    "many headers": (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n", b"431"),
    "a long header": (b"GET / HTTP/1.1\r\na: " + b"b" * 9000 + b"\r\n\r\n", b"431"),
    "a chunk of no size": (
        b"POST /hooks/web HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n\r\n",
        b"400",
    ),
    "a chunk of a negative size": (
        b"POST /hooks/web HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
        b"400",
    ),
}


@pytest.mark.parametrize(("request_bytes", "status"), NO_HTTP.values(), ids=NO_HTTP)
def test_what_is_no_http_is_refused_in_json(served: Web, request_bytes: bytes, status: bytes) -> None:
    line, body = head_and_document(served.say(request_bytes))
    assert line.split()[1] == status
    assert body.startswith(b'{"error": ')


def test_nobody_sets_the_path_by_a_header(served: Web) -> None:
    answer = served.send("GET", "/healthz", headers={"SCRIPT_NAME": "/x", "PATH_INFO": "/y", "X-Forwarded-Proto": "z"})
    assert answer.status == 200


FORGED = "x%0a%7B%22event%22:%22forged%22%7D"


@pytest.mark.parametrize(
    "request_bytes",
    [
        f"POST /hooks/{FORGED}?{FORGED} HTTP/1.1\r\nHost: {FORGED}\r\nContent-Length: 0\r\n\r\n".encode(),
        b"POST /hooks/web\x1b[1A HTTP/1.1\r\nHost: x\r\n\r\n",
        b'POST /hooks/web HTTP/1.1\r\nHost: x\r\nX-A: \x1b[1A\n{"event": "forged"}\r\n\r\n',
        b'POST /hooks/web HTTP/1.1\r\n{"event": "forged"}\r\n\r\n',
        b'{"event": "forged"}\r\n\r\n',
    ],
)
def test_nobody_writes_a_line_into_the_log(served: Web, request_bytes: bytes) -> None:
    served.say(request_bytes)
    lines = [json.loads(line) for line in served.log.read_text().splitlines()]
    assert [line for line in lines if "forged" in str(line) or "\x1b" in str(line)] == []


def test_a_client_that_goes_away_in_the_middle_leaves_the_door_open(served: Web) -> None:
    before = served.workers()
    for _ in range(20):
        with served.connect() as sock:
            sock.sendall(b"POST /hooks/web HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    assert served.send("GET", "/healthz").document == {"ok": True}
    assert served.workers() == before


# --- the hint ---------------------------------------------------------------------------------------------------------


def test_a_redis_that_never_answers_delays_no_answer(database_url: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=200) as silent:
        silent_url = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        with web(tmp_path, database_url=database_url, redis_url=silent_url, WEB_WORKERS="1") as made:
            # More than there are threads; each would be held if a request waited for its hint.
            answers = [made.post("web", BODY, delivery_id=f"msg_{i}") for i in range(40)]
            hinted, _ = silent.accept()
            hinted.close()
    assert [answer.status for answer in answers] == [200] * 40


def test_a_redis_that_is_away_costs_nothing_and_is_used_again_when_it_is_back(
    database_url: str, server_home: Path, tmp_path: Path
) -> None:
    home = server_home / "away"
    with start_valkey(home) as away:
        redis_url = away.url
    with web(tmp_path, database_url=database_url, redis_url=redis_url, WEB_WORKERS="1") as made:
        assert made.post("web", BODY, delivery_id="msg_away").status == 200
        with start_valkey(home), redis.Redis.from_url(redis_url) as client:
            assert made.post("web", BODY, delivery_id="msg_back").status == 200
            assert client.blmove(f"rq:queue:{QUEUE}", "seen", 10) is not None
