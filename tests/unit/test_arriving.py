"""Where a request ends, however it comes, and that gunicorn sees the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from gunicorn.config import Config
from gunicorn.http import get_parser
from hypothesis import given
from hypothesis import strategies as st

from intake.arriving import BEYOND, MOST_LINE, MOST_LINES, Arrival, Most, Progress

MOST = Most(head=20_000, body=100_000)
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
# Each with its body.
WHOLE = {
    "no body": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b""),
    "a length": (POST + b"Content-Length: 5\r\n\r\nhello", b"hello"),
    "a length in other letters": (POST + b"cONTENT-lENGTH:\t5 \r\n\r\nhello", b"hello"),
    "a length of none": (POST + b"Content-Length: 0\r\n\r\n", b""),
    "ends of lines in the body": (POST + b"Content-Length: 8\r\n\r\n\r\n\r\n\r\n\r\n", b"\r\n\r\n\r\n\r\n"),
    "chunks": (CHUNKED + b"5\r\nhello\r\nB\r\n, you there\r\n0\r\n\r\n", b"hello, you there"),
    "chunks that look like ends": (CHUNKED + b"7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n", b"0\r\n\r\n\r\n"),
    "extensions": (CHUNKED + b'5 ;a="b";c\r\nhello\r\n0;d\r\n\r\n', b"hello"),
    "trailers": (CHUNKED + b"5\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n", b"hello"),
    "zeros before a size": (CHUNKED + b"0005\r\nhello\r\n000\r\n\r\n", b"hello"),
    "other letters of the coding": (POST + b"transfer-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", b"a"),
}
# What gunicorn refuses as soon as it reads so far.
REFUSED = {
    "two lengths": POST + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
    "a list of lengths": POST + b"Content-Length: 1, 1\r\n\r\n",
    "a negative length": POST + b"Content-Length: -1\r\n\r\n",
    "a length with a sign": POST + b"Content-Length: +1\r\n\r\n",
    "a length in letters": POST + b"Content-Length: one\r\n\r\n",
    "a length and chunks": POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "another coding": POST + b"Transfer-Encoding: gzip\r\n\r\n",
    "two codings": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
    "chunks twice": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a size that is none": CHUNKED + b"five\r\n",
    "no size": CHUNKED + b"\r\n",
    "a negative size": CHUNKED + b"-5\r\n",
    "a size with a prefix": CHUNKED + b"0x5\r\n",
    "an endless line": CHUNKED + b"1;" + b"a" * (MOST_LINE + 1),
    "more of chunks than body": CHUNKED + b"1\r\na\r\n" * (MOST_LINES // 3 + 1),
    "endless extensions": CHUNKED + (b"1;" + b"a" * 1000 + b"\r\na\r\n") * (MOST_LINES // 1004 + 1),
    "endless trailers": CHUNKED + b"0\r\n" + b"a: b\r\n" * MOST_LINE,
    "an endless head": POST + b"a: b\r\n" * 5000,
    "more than is read": POST + b"Content-Length: 100001\r\n\r\n",
    "more chunks than are read": CHUNKED + b"ffffff\r\n" + b"a" * (MOST.body + BEYOND + 3),
}


def progress(arrival: Arrival, pieces: Sequence[bytes]) -> Progress:
    """How far it is after these; none may come when it has ended."""
    found = Progress.MORE
    for piece in pieces:
        assert found is Progress.MORE
        found = arrival.add(piece)
    return found


def parts(text: bytes, cuts: Sequence[int]) -> list[bytes]:
    places = sorted({0, len(text), *(cut % len(text) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


@pytest.mark.parametrize(("request_bytes", "body"), WHOLE.values(), ids=WHOLE)
def test_a_request_is_whole_with_its_last_byte(request_bytes: bytes, body: bytes) -> None:
    arrival = Arrival(MOST)
    singles = [bytes([byte]) for byte in request_bytes]
    assert progress(arrival, singles) is Progress.WHOLE
    assert arrival.recv(10_000) == request_bytes
    assert request_bytes.endswith(body) or b"chunked" in request_bytes.lower()


@given(st.sampled_from(sorted(WHOLE.values())), st.lists(st.integers(0, 1000), max_size=8))
def test_gunicorn_finds_the_same_end_without_waiting(case: tuple[bytes, bytes], cuts: Sequence[int]) -> None:
    request_bytes, body = case
    arrival = Arrival(MOST)
    assert progress(arrival, parts(request_bytes, cuts)) is Progress.WHOLE
    parser = get_parser(Config(), arrival, ("127.0.0.1", 1))
    assert next(parser).body.read() == body
    assert parser.unreader.take_buffered() + arrival.take_rest() == b""


@pytest.mark.parametrize("request_bytes", REFUSED.values(), ids=REFUSED)
def test_what_will_be_refused_is_not_awaited(request_bytes: bytes) -> None:
    assert Arrival(MOST).add(request_bytes) is Progress.ENOUGH


@given(st.binary(max_size=300), st.sampled_from([b"", POST, CHUNKED, CHUNKED + b"5\r\nhello\r\n"]))
def test_whatever_comes_is_no_error(noise: bytes, before: bytes) -> None:
    arrival = Arrival(MOST)
    if arrival.add(before) is Progress.MORE:
        arrival.add(noise)


def test_what_comes_with_a_request_is_the_next_ones() -> None:
    arrival = Arrival(MOST)
    [first, _] = WHOLE["chunks"]
    assert arrival.add(first + b"GET /next") is Progress.WHOLE
    assert arrival.recv(len(first)) == first
    assert arrival.take_rest() == b"GET /next"


def test_who_waits_is_told_of_once_and_the_rest_of_the_head_stays() -> None:
    arrival = Arrival(MOST)
    assert arrival.add(POST + b"expect:  100-Continue \r\nContent-Length: 2\r\n\r\n") is Progress.MORE
    assert [arrival.is_asked(), arrival.is_asked()] == [True, False]
    assert arrival.add(b"{}") is Progress.WHOLE
    assert arrival.recv(1000) == POST + b"Content-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
        POST + b"Expect: something-else\r\nContent-Length: 2\r\n\r\n",
        POST + b"Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_any_other_expectation_is_gunicorns(head: bytes) -> None:
    arrival = Arrival(MOST)
    arrival.add(head)
    assert not arrival.is_asked()
    arrival.add(b"{}")
    assert arrival.recv(1000) == head + b"{}"
