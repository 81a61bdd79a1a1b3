"""No body, header, method or encoding makes the door fail.

FUZZ_EXAMPLES: how many requests each test by Hypothesis sends; FUZZ_REQUESTS: how many the test of bent samples sends;
by default so many that each takes some seconds.  FUZZ_SEED: where the bending begins.  A long run, with its counts:
`FUZZ_REQUESTS=100000 pytest -rP -k bent tests/acceptance/test_receiver_fuzz.py`.
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.acceptance.bent import BODIES, Bender
from tests.acceptance.fuzzed import FUZZED_SOURCES, ODD, Odd
from tests.conftest import fresh_database
from tests.web_process import Web, web

# What a client that asks first is told before the answer (RFC 9110, 10.1.1).
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES") or 500)
REQUESTS = int(os.environ.get("FUZZ_REQUESTS") or 1500)
SEED = int(os.environ.get("FUZZ_SEED") or 1)
FUZZ = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def served(
    postgres_server: str, migrated_template: str, valkey_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Web]:
    """A gunicorn whose workers are all alive at the end, and that has not stumbled once."""
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        web(tmp_path_factory.mktemp("web"), database_url=url, redis_url=valkey_server, sources=FUZZED_SOURCES) as made,
    ):
        before = made.workers()
        yield made
        assert made.workers() == before
        said = made.log.read_text()
        for stumble in ("request failed", "reader failed", "not storable", "Traceback", "unavailable"):
            assert stumble not in said, said[said.index(stumble) - 200 :][:600]


def status_of(answer: bytes) -> str:
    """Three digits, or that there was no answer."""
    return answer.removeprefix(CONTINUE).split(None, 2)[1].decode() if answer else "silence"


def assert_fit_or_silent(answer: bytes) -> None:
    """Half a request, and headers that contradict each other, may end in silence."""
    if answer:
        assert_fit(answer)


def assert_fit(answer: bytes) -> None:
    """No failure, no redirect, no HTML."""
    head, _, body = answer.removeprefix(CONTINUE).partition(b"\r\n\r\n")
    status = int(head.split()[1])
    if status == 204:  # A page of an allowed site asks first whether it may.
        assert (body, b"access-control-allow-origin" in head.lower()) == (b"", True)
        return
    assert status == 200 or 400 <= status < 500, answer
    # Plain text for a handshake, TwiML for Twilio.
    assert re.search(rb"\r\ncontent-type: (application/json|text/plain; charset=utf-8|text/xml)", head.lower()), head
    assert b"<html" not in body.lower()


@FUZZ
@given(odd=ODD)
def test_no_request_makes_the_door_fail(served: Web, odd: Odd) -> None:
    assert_fit_or_silent(served.say(odd.bytes_for(served.settings)))


@FUZZ
@given(odd=ODD, at=st.integers(0, 400), junk=st.binary(max_size=8))
def test_no_bytes_make_the_door_fail(served: Web, odd: Odd, at: int, junk: bytes) -> None:
    whole = odd.bytes_for(served.settings)
    assert_fit_or_silent(served.say(whole[:at] + junk + whole[at:]))


def test_no_sample_of_any_provider_however_bent_makes_the_door_fail(served: Web) -> None:
    bender = Bender(served.settings, random.Random(SEED))
    asked = [(name, bender.request(name)) for name in (*BODIES,) * (REQUESTS // len(BODIES))]
    statuses: dict[str, Counter[str]] = {name: Counter() for name in BODIES}
    with ThreadPoolExecutor(4) as pool:
        for (name, _), answer in zip(asked, pool.map(lambda each: served.say(each[1]), asked), strict=True):
            assert_fit_or_silent(answer)
            statuses[name][status_of(answer)] += 1
    for name, counted in statuses.items():
        sys.stdout.write(f"{name}: {dict(sorted(counted.items()))}\n")
    sys.stdout.write(f"all: {dict(sorted(sum(statuses.values(), Counter()).items()))}\n")
    # What is bent is mostly still from who it says, and gets as far as the reader.
    assert all(counted["200"] + counted["422"] > counted.total() / 5 for counted in statuses.values())
