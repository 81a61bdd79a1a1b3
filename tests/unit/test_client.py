"""The client for a company's own programs: one key on every try, bounded, honest about what it does not know."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from intake import authenticity
from intake.authenticity import NotAuthentic
from intake.client import Answer, Intake, NoAnswer, Outcome, Received, Refused, Request, Unknown

SECRET = "whsec_c2VjcmV0LW9mLXR3ZW50eS1mb3VyLWJ5dGVz"
LEAD = {"name": "Ana Prueba", "email": "ana@example.com"}
EVENT = {"event_id": "e-1", "kind": "form", "state": "received", "duplicate": False, "conflict": False}
LOST = NoAnswer("ConnectionError")


def answer(status: int, document: object, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, dict(headers or {}), json.dumps(document).encode())


def stored(**changes: object) -> Answer:
    return answer(200, {"received": True, "events": [EVENT | changes], "quarantined": 0})


def refusal(status: int, error: str = "no", headers: Mapping[str, str] | None = None) -> Answer:
    return answer(status, {"error": error, "fields": {"name": "is required"}}, headers)


@dataclass(slots=True)
class Wire:
    """A receiver that gives these answers in turn, the last one for ever; time passes only where somebody waits."""

    answers: list[Answer | NoAnswer]
    takes: float = 0.0
    chance: float = 1.0
    time: float = 1_790_000_000.0
    asked: list[Request] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def post(self, request: Request) -> Answer | NoAnswer:
        self.asked.append(request)
        self.time += self.takes
        return self.answers[min(len(self.asked), len(self.answers)) - 1]

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds

    def intake(self, *, secret: str = SECRET, within: float = 20.0, tries: int = 5) -> Intake:
        return Intake(
            "https://intake.example.com",
            "web",
            secret,
            within=within,
            tries=tries,
            post=self.post,
            clock=lambda: self.time,
            now=lambda: self.time,
            sleep=self.sleep,
            random=lambda: self.chance,
        )


def outcome(*answers: Answer | NoAnswer) -> Outcome:
    return Wire(list(answers)).intake().send(LEAD, key="k-1")


# --- what it says ----------------------------------------------------------------------------------------------------


def test_stored_is_received_with_its_id() -> None:
    assert outcome(stored()) == Received(("e-1",))


def test_a_repetition_says_so() -> None:
    assert outcome(stored(duplicate=True)) == Received(("e-1",), duplicate=True)


def test_a_replayed_answer_is_a_repetition() -> None:
    replayed = answer(200, {"received": True, "events": [EVENT]}, {"idempotent-replayed": "true"})
    assert outcome(replayed) == Received(("e-1",), duplicate=True)


def test_a_key_with_other_content_is_a_conflict() -> None:
    assert outcome(stored(conflict=True)) == Received(("e-1",), conflict=True)


def test_what_a_person_must_read_is_received_without_an_id() -> None:
    assert outcome(answer(200, {"received": True, "events": [], "quarantined": 1})) == Received(())


def test_nothing_in_it_is_a_refusal() -> None:
    assert outcome(answer(200, {"received": True, "events": [], "ignored": 1})) == Refused(200, "empty")


@pytest.mark.parametrize("status", [400, 401, 404, 413, 415, 422])
def test_what_the_program_must_mend_is_refused_at_once(status: int) -> None:
    wire = Wire([refusal(status, "because")])
    assert wire.intake().send(LEAD, key="k-1") == Refused(status, "because", {"name": "is required"})
    assert len(wire.asked) == 1


@pytest.mark.parametrize("passing", [LOST, refusal(408), refusal(409), refusal(429), refusal(500), refusal(503)])
def test_what_passes_is_tried_again(passing: Answer | NoAnswer) -> None:
    assert outcome(passing, passing, stored(duplicate=True)) == Received(("e-1",), duplicate=True)


@pytest.mark.parametrize(
    ("last", "reason"),
    [(LOST, "ConnectionError"), (refusal(503, "storage_unavailable"), "storage_unavailable"),
     (Answer(502, {}, b"<html>"), "status 502"), (Answer(200, {}, b"<html>"), "unreadable_answer"),
     (Answer(200, {}, b"[" * 100_000), "unreadable_answer"), (answer(200, {"received": True}), "unreadable_answer")],
)  # fmt: skip
def test_what_is_never_settled_is_unknown(last: Answer | NoAnswer, reason: str) -> None:
    assert outcome(last) == Unknown(reason)


@pytest.mark.parametrize("document", [[], {"error": 7, "fields": []}, {"error": "x", "fields": {"a": {}}}, None])
def test_a_refusal_in_any_form_is_a_refusal(document: object) -> None:
    assert isinstance(outcome(answer(418, document)), Refused)


# --- how often, and how long -----------------------------------------------------------------------------------------


def test_every_try_has_the_same_key_id_and_body() -> None:
    wire = Wire([LOST, refusal(503), stored()])
    wire.intake().send(LEAD, key="order/7")
    sent = {(r.headers["idempotency-key"], r.headers["webhook-id"], r.body) for r in wire.asked}
    assert sent == {("order/7", "order/7", json.dumps(LEAD).encode())}


def test_every_try_is_signed_by_its_own_time() -> None:
    wire = Wire([LOST, stored()], takes=10.0)
    wire.intake().send(LEAD, key="k-1")
    assert len({request.headers["webhook-timestamp"] for request in wire.asked}) == 2


def test_tries_are_bounded() -> None:
    wire = Wire([LOST])
    assert wire.intake(tries=3, within=1000).send(LEAD, key="k-1") == Unknown("ConnectionError")
    assert len(wire.asked) == 3


def test_all_of_it_is_over_in_time() -> None:
    wire = Wire([LOST], takes=4.0)
    start = wire.time
    wire.intake(tries=100, within=10).send(LEAD, key="k-1")
    assert wire.time - start <= 10 + 4.0


def test_a_try_is_given_the_time_that_is_left() -> None:
    wire = Wire([LOST, stored()], takes=4.0)
    wire.intake(within=10).send(LEAD, key="k-1")
    assert [request.within for request in wire.asked] == [10.0, 10.0 - 4.0 - 0.5]


def test_pauses_double_up_to_a_cap() -> None:
    wire = Wire([LOST])
    wire.intake(tries=9, within=1000).send(LEAD, key="k-1")
    assert wire.pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0]


def test_pauses_are_a_random_part() -> None:
    wire = Wire([LOST], chance=0.0)
    wire.intake().send(LEAD, key="k-1")
    assert set(wire.pauses) == {0.0}


@pytest.mark.parametrize("value", ["7", "Mon, 21 Sep 2026 14:13:27 GMT"])  # the clock says 14:13:20
def test_the_receivers_own_wish_is_obeyed(value: str) -> None:
    wire = Wire([refusal(503, headers={"retry-after": value}), stored()], chance=0.0)
    wire.intake().send(LEAD, key="k-1")
    assert wire.pauses == [7.0]


@pytest.mark.parametrize("value", ["soon", "-1", "1e9", "", "٣", "Sun, 99 Nov 9999 99:99:99 GMT"])
def test_a_wish_that_nobody_can_read_is_none(value: str) -> None:
    wire = Wire([refusal(503, headers={"retry-after": value}), stored()], chance=0.0)
    wire.intake().send(LEAD, key="k-1")
    assert wire.pauses == [0.0]


def test_a_wish_beyond_the_time_ends_it_at_once() -> None:
    wire = Wire([refusal(503, "later", {"retry-after": "3600"})])
    assert wire.intake().send(LEAD, key="k-1") == Unknown("later")
    assert wire.pauses == []


# --- signature and settings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", [SECRET, SECRET.removeprefix("whsec_"), "a plain secret, no base64!", "ñandú"])
def test_the_receiver_takes_its_signature(secret: str) -> None:
    wire = Wire([stored()])
    wire.intake(secret=secret).send(LEAD, key="k-1")
    (request,) = wire.asked
    now = datetime.fromtimestamp(wire.time, UTC)
    authenticity.verify(
        "standard_webhooks",
        secrets=(secret,),
        headers=request.headers,
        body=request.body,
        url=request.url,
        now=now,
    )
    with pytest.raises(NotAuthentic):
        authenticity.verify(
            "standard_webhooks",
            secrets=(secret,),
            headers=request.headers,
            body=request.body + b" ",
            url=request.url,
            now=now,
        )


def test_tests_go_to_the_address_for_tests() -> None:
    assert Intake("https://x.example/a/", "web", SECRET, test=True).url == "https://x.example/a/test/hooks/web"


@pytest.mark.parametrize("base_url", ["http://intake.example.com", "intake.example.com", "", "ftp://127.0.0.1"])
def test_a_persons_data_goes_nowhere_unencrypted(base_url: str) -> None:
    with pytest.raises(ValueError, match="https"):
        Intake(base_url, "web", SECRET)


@pytest.mark.parametrize(("source", "secret"), [("Web", SECRET), ("", SECRET), ("web", ""), ("web", "whsec_!")])
def test_settings_that_cannot_work_are_refused(source: str, secret: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        Intake("https://intake.example.com", source, secret)


@pytest.mark.parametrize("key", ["", " ", "a b", "a\r\nX: 1", "ñ", "x" * 201, '"a"'])
def test_a_key_that_no_header_can_carry_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="key must be"):
        Wire([stored()]).intake().send(LEAD, key=key)


def test_what_is_no_json_is_refused_before_anything_is_sent() -> None:
    wire = Wire([stored()])
    with pytest.raises(ValueError, match="JSON"):
        wire.intake().send({"amount": float("nan")}, key="k-1")
    assert wire.asked == []


def test_the_secret_and_the_person_are_not_shown() -> None:
    wire = Wire([stored()])
    intake = wire.intake()
    intake.send(LEAD, key="k-1")
    shown = repr(intake) + repr(wire.asked)
    assert not [word for word in (SECRET, "Ana", "ana@") if word in shown]


def test_it_needs_requests_and_nothing_else_of_this_package() -> None:
    code = "import sys, intake.client; print(*(m for m in sys.modules if m.partition('.')[0] == 'intake'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"intake", "intake.client"}
