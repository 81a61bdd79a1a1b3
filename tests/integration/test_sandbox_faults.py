"""Every dial of the sandbox: what the client sees, and what the ledger says was done."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest
import requests

from crm_clients.sandbox.dials import Dials
from crm_clients.sandbox.faults import FAULTS
from crm_clients.sandbox.server import Running, running
from tests.integration.sandbox_calls import Caller, Json, loaded

CREATES = {"what": "create"}
PATIENCE = 10.0  # seconds after which a test gives up waiting for something that must come


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running() as sandbox:
        yield sandbox


@pytest.fixture
def dials(server: Running) -> Dials:
    dials = Dials(server.url)
    dials.reset()
    dials.profile("stored")
    dials.set_clock(0)
    return dials


@pytest.fixture
def crm(server: Running, dials: Dials) -> Caller:  # noqa: ARG001 - the dials begin anew
    return Caller(server.url)


def creating(crm: Caller, reference: str = "c-1") -> requests.Response:
    return crm.call("POST", "contacts", {"name": "Eva", "reference": reference})


def creating_by_hand(server: Running) -> bytes:
    """Every byte that comes back until the connection ends."""
    body = b'{"name": "Eva", "reference": "c-1"}'
    head = "POST /api/contacts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sandbox\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def moment(row: Json) -> datetime:
    return datetime.fromisoformat(str(row["at"]))


def wait_until_held(dials: Dials, count: int = 1) -> None:
    deadline = time.monotonic() + PATIENCE
    while dials.held() != count:
        assert time.monotonic() < deadline, "nothing is held"
        time.sleep(0.01)


# --- answers that do not come, or come badly ---


def test_a_lost_answer_was_executed_and_no_byte_of_it_comes(crm: Caller, dials: Dials) -> None:
    dials.fault("lost_answer")
    with pytest.raises(requests.ConnectionError):
        creating(crm)
    assert len(dials.ledger()) == 1


@pytest.mark.parametrize(("cut_in", "expected"), [("head", b"HTTP/1.1 201 CREATED"), ("body", b'{"id": "con-')])
def test_a_cut_answer_was_executed_and_half_of_it_comes(
    server: Running, dials: Dials, cut_in: str, expected: bytes
) -> None:
    dials.fault("cut_answer", cut_in=cut_in)
    received = creating_by_hand(server)
    assert expected.lower() in received.lower()
    assert not received.endswith((b"}", b"\r\n\r\n"))
    assert len(dials.ledger()) == 1


def test_a_dripping_answer_comes_byte_by_byte(crm: Caller, dials: Dials) -> None:
    dials.fault("drip", seconds=0.001)
    began = time.monotonic()
    answer = creating(crm)
    assert answer.status_code == 201
    assert time.monotonic() - began > 0.001 * len(answer.content)


def test_a_dripping_answer_outlives_a_timeout_between_bytes(server: Running, dials: Dials) -> None:
    dials.fault("drip", seconds=0.003)
    began = time.monotonic()
    assert creating(Caller(server.url, timeout=0.5)).status_code == 201
    assert time.monotonic() - began > 0.5


def test_an_answer_can_come_twice_on_one_connection(server: Running, dials: Dials) -> None:
    dials.fault("duplicate_answer")
    received = creating_by_hand(server)
    assert received.count(b"HTTP/1.1 201") == 2
    assert len(dials.ledger()) == 1


def test_an_answer_without_effect_looks_right_and_left_nothing(crm: Caller, dials: Dials) -> None:
    dials.fault("answer_without_effect")
    answer = creating(crm)
    assert answer.status_code == 201
    assert crm.call("GET", f"contacts/{loaded(answer)['id']}").status_code == 404
    assert (dials.ledger(), dials.requests()[0]["executed"]) == ([], 0)


def test_a_double_execution_makes_a_double_that_no_client_asked_for(crm: Caller, dials: Dials) -> None:
    dials.profile("enforced")
    dials.fault("double_execution")
    assert creating(crm).status_code == 201
    assert [double["reference"] for double in dials.doubles()] == ["c-1"]


# --- statuses ---


@pytest.mark.parametrize(
    ("fault", "status", "executed"),
    [
        ("500_with_effect", 500, 1),
        ("500_without_effect", 500, 0),
        ("503", 503, 0),
        ("429", 429, 0),
        ("408", 408, 0),
        ("401", 401, 0),
        ("403", 403, 0),
        ("422", 422, 0),
        ("refuse_reference", 422, 0),
        ("redirect", 302, 0),
        ("garbage", 200, 0),
        ("no_id", 201, 1),
    ],
)
def test_a_status_comes_with_or_without_its_effect(
    crm: Caller, dials: Dials, fault: str, status: int, executed: int
) -> None:
    dials.fault(fault)
    assert creating(crm).status_code == status
    assert len(dials.ledger()) == executed
    assert dials.requests()[0]["fault"] == fault


@pytest.mark.parametrize("fault", ["503", "408", "garbage", "redirect", "429"])
def test_any_status_can_have_an_effect_after_all(crm: Caller, dials: Dials, fault: str) -> None:
    dials.fault(fault, effect=True)
    creating(crm)
    assert len(dials.ledger()) == 1


def test_an_answer_can_be_lost_of_a_request_that_was_not_executed(crm: Caller, dials: Dials) -> None:
    dials.fault("lost_answer", effect=False)
    with pytest.raises(requests.ConnectionError):
        creating(crm)
    assert dials.ledger() == []


def test_a_created_record_can_be_answered_without_its_id(crm: Caller, dials: Dials) -> None:
    dials.fault("no_id")
    assert "id" not in loaded(creating(crm))


def test_a_refusal_names_the_fields_of_its_rule(crm: Caller, dials: Dials) -> None:
    dials.fault("422", fields={"email": "No es válido."})
    assert loaded(creating(crm))["fields"] == {"email": "No es válido."}


@pytest.mark.parametrize(("asked", "header"), [(7, "7"), (None, None)])
def test_too_many_requests_may_say_when_to_come_again(
    crm: Caller, dials: Dials, asked: int | None, header: str | None
) -> None:
    dials.fault("429", retry_after=asked)
    assert creating(crm).headers.get("Retry-After") == header


def test_too_many_requests_may_say_it_with_a_date(crm: Caller, dials: Dials) -> None:
    dials.fault("429", retry_after=90, retry_after_as="date")
    headers = creating(crm).headers
    until, now = parsedate_to_datetime(headers["Retry-After"]), parsedate_to_datetime(headers["Date"])
    assert 89 <= (until - now).total_seconds() <= 91


# --- looks that deceive ---


def test_a_record_that_is_there_can_be_called_absent(crm: Caller, dials: Dials) -> None:
    contact = crm.contact("c-1")
    dials.fault("false_absent", times=2)
    assert crm.find("contacts", "reference=c-1") == []
    assert crm.call("GET", f"contacts/{contact}").status_code == 404
    assert len(crm.find("contacts", "reference=c-1")) == 1


def test_one_record_can_lag_behind_the_others(crm: Caller, dials: Dials) -> None:
    dials.fault("lagging", match=CREATES, seconds=60)
    crm.contact("c-1")
    crm.contact("c-2")
    assert [len(crm.find("contacts", f"reference={one}")) for one in ("c-1", "c-2")] == [0, 1]
    dials.set_clock(61)
    assert len(crm.find("contacts", "reference=c-1")) == 1


# --- time ---


def test_a_slow_request_is_executed_after_its_client_hung_up(server: Running, dials: Dials) -> None:
    dials.fault("slow", seconds=0.3)
    with pytest.raises(requests.ReadTimeout):
        creating(Caller(server.url, timeout=0.05))
    deadline = time.monotonic() + PATIENCE
    while not dials.ledger():
        assert time.monotonic() < deadline, "never executed"
        time.sleep(0.01)
    took = moment(dials.ledger()[0]) - moment(dials.requests()[0])
    assert took.total_seconds() >= 0.3


def test_a_held_request_is_executed_late_though_its_client_hung_up(server: Running, dials: Dials) -> None:
    dials.fault("late", seconds=3600)
    with pytest.raises(requests.ReadTimeout):
        creating(Caller(server.url, timeout=0.2))
    wait_until_held(dials)
    assert dials.ledger() == []
    assert dials.release_late() == 1
    assert [entry["reference"] for entry in dials.ledger()] == ["c-1"]


def test_a_held_request_is_executed_when_the_clock_says_so(server: Running, dials: Dials) -> None:
    dials.fault("late", seconds=3600)
    with ThreadPoolExecutor(1) as pool:
        answer: Future[requests.Response] = pool.submit(creating, Caller(server.url))
        wait_until_held(dials)
        assert dials.ledger() == []
        dials.set_clock(3601)
        assert answer.result(PATIENCE).status_code == 201
    assert moment(dials.ledger()[0]) - moment(dials.requests()[0]) > timedelta(hours=1)


def test_a_held_request_waits_for_the_declared_limit_by_default(server: Running, dials: Dials) -> None:
    dials.profile("stored", limit=3600)
    dials.fault("late")
    with pytest.raises(requests.ReadTimeout):
        creating(Caller(server.url, timeout=0.2))
    wait_until_held(dials)
    dials.set_clock(3500)
    assert dials.held() == 1
    dials.set_clock(3601)
    wait_until_held(dials, 0)
    assert len(dials.ledger()) == 1


def test_a_late_request_and_its_repetition_make_a_double(server: Running, dials: Dials) -> None:
    dials.fault("late", seconds=3600)
    with pytest.raises(requests.ReadTimeout):
        creating(Caller(server.url, timeout=0.2))
    wait_until_held(dials)
    creating(Caller(server.url))
    dials.release_late()
    assert [double["reference"] for double in dials.doubles()] == ["c-1"]


def test_two_hundred_slow_requests_at_once_hold_nobody_up(server: Running, dials: Dials) -> None:
    dials.fault("late", times=200, seconds=3600)
    with ThreadPoolExecutor(200) as pool:
        answers = [pool.submit(creating, Caller(server.url, timeout=30), f"c-{n}") for n in range(200)]
        wait_until_held(dials, 200)
        assert Caller(server.url).call("GET", "me").status_code == 200
        assert dials.release_late() == 200
        assert {answer.result(30).status_code for answer in answers} == {201}
    assert len(dials.ledger()) == 200


def test_a_stopped_sandbox_never_executes_what_it_holds() -> None:
    with running() as sandbox:
        dials = Dials(sandbox.url)
        dials.fault("late", seconds=3600)
        with ThreadPoolExecutor(1) as pool:
            answer: Future[requests.Response] = pool.submit(creating, Caller(sandbox.url))
            wait_until_held(dials)
            sandbox.sandbox.held.abandon()
            assert answer.result(PATIENCE).status_code == 503
        assert dials.ledger() == []


# --- which requests meet a rule ---


def test_a_rule_is_used_up(crm: Caller, dials: Dials) -> None:
    dials.fault("503", times=2)
    assert [creating(crm).status_code for _ in range(3)] == [503, 503, 201]


def test_a_rule_without_end_goes_on(crm: Caller, dials: Dials) -> None:
    dials.fault("503", times=None)
    assert {creating(crm).status_code for _ in range(5)} == {503}


def test_a_rule_passes_the_first_matches_over(crm: Caller, dials: Dials) -> None:
    dials.fault("503", skip=2)
    assert [creating(crm).status_code for _ in range(4)] == [201, 201, 503, 201]


@pytest.mark.parametrize(
    ("match", "codes"),
    [
        ({"method": "POST"}, [503, 200, 200]),
        ({"what": "find"}, [201, 503, 200]),
        ({"what": "control"}, [201, 200, 503]),
        ({"kind": "task"}, [201, 200, 200]),
        ({"kind": "contact"}, [503, 503, 200]),
        ({"reference_prefix": "c-"}, [503, 503, 200]),
        ({"reference_prefix": "d-"}, [201, 200, 200]),
        ({"contains": "Eva"}, [503, 200, 200]),
        ({"what": "create", "reference_prefix": "d-"}, [201, 200, 200]),
    ],
)
def test_a_rule_meets_only_what_it_matches(crm: Caller, dials: Dials, match: dict[str, str], codes: list[int]) -> None:
    dials.fault("503", match=match, times=None)
    calls = [("POST", "contacts"), ("GET", "contacts?reference=c-1"), ("GET", "me")]
    body = {"name": "Eva", "reference": "c-1"}
    answers = [crm.call(method, path, body if method == "POST" else None) for method, path in calls]
    assert [answer.status_code for answer in answers] == codes


def test_a_rule_knows_a_record_by_its_reference_in_calls_by_id(crm: Caller, dials: Dials) -> None:
    contact, other = crm.contact("c-1"), crm.contact("d-1")
    dials.fault("503", match={"reference_prefix": "c-"}, times=None)
    codes = [crm.call("PATCH", f"contacts/{one}", {"name": "Ana"}).status_code for one in (contact, other)]
    assert codes == [503, 200]


def test_the_first_rule_that_is_not_used_up_wins(crm: Caller, dials: Dials) -> None:
    dials.replace_faults([{"fault": "503"}, {"fault": "408", "times": None}])
    assert [creating(crm).status_code for _ in range(2)] == [503, 408]
    assert [rule["applied"] for rule in dials.faults()] == [1, 1]


def test_faults_can_be_taken_away(crm: Caller, dials: Dials) -> None:
    dials.fault("503", times=None)
    dials.no_faults()
    assert creating(crm).status_code == 201


def test_a_call_without_token_uses_no_rule_up(server: Running, dials: Dials) -> None:
    dials.fault("503")
    assert creating(Caller(server.url, token="wrong")).status_code == 401
    assert creating(Caller(server.url)).status_code == 503


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_no_fault_ever_hits_the_control_plane(server: Running, dials: Dials, fault: str) -> None:
    dials.fault(fault, times=None)
    assert dials.ledger() == []
    assert dials.url == server.url
