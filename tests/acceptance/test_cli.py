"""The command line beside a running `intake up`: the home is all that it is told."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.running import FORM, Home, home, until


@pytest.fixture(scope="module")
def running() -> Iterator[Home]:
    with home() as made:
        made.start()
        yield made


def send(running: Home, *options: object, source: str = "web-contact", **answers: str) -> tuple[int, dict[str, object]]:
    """Send a form; returns the exit status and what the command said."""
    done = running.intake("send", source, "-", "--json", *options, given=json.dumps(FORM | answers))
    return done.status, done.document


def test_a_repeated_delivery_is_one_event(running: Home) -> None:
    status, said = send(running, "--times", 5)
    assert (status, said["statuses"], said["distinct"]) == (0, {"200": 5}, 1)


def test_a_delivery_repeated_at_once_is_one_event(running: Home) -> None:
    status, said = send(running, "--times", 24, "--parallel", 8)
    assert (status, said["statuses"], said["distinct"]) == (0, {"200": 24}, 1)


def test_the_senders_id_makes_two_commands_one_delivery(running: Home) -> None:
    _, first = send(running, "--id", "msg_the_same")
    _, second = send(running, "--id", "msg_the_same")
    assert first["event_ids"] == second["event_ids"]


def test_a_test_delivery_is_an_event_of_mode_test(running: Home) -> None:
    _, said = send(running, "--test")
    match said["event_ids"]:
        case [event_id]:
            assert running.intake("show", event_id, "--json").document["mode"] == "test"
        case other:
            pytest.fail(f"one event was sent, and there are {other}")


def test_a_file_can_be_sent(running: Home) -> None:
    file = running.folder / "form.json"
    file.write_text(json.dumps(FORM))
    assert running.intake("send", "web-contact", file).status == 0


def test_a_file_that_is_not_there_is_a_usage_error(running: Home) -> None:
    assert running.intake("send", "web-contact", "nowhere.json").status == 2


def test_what_is_refused_is_a_finding(running: Home) -> None:
    status, said = send(running, source="cotizaciones")
    assert (status, said["statuses"]) == (1, {"422": 1})


def test_a_receiver_that_is_away_is_told_in_a_sentence(running: Home) -> None:
    done = running.intake("send", "web-contact", "-", "--url", "http://127.0.0.1:1", given=json.dumps(FORM))
    assert (done.status, "is `intake up` running?" in done.err) == (1, True)


def test_show_fresh_needs_no_doubt(running: Home) -> None:
    event_id = running.send()
    until(lambda: running.state(event_id) == "confirmed")
    assert running.intake("show", event_id, "--fresh", "--json").document["state"] == "confirmed"


def test_the_accounts_can_be_checked(running: Home) -> None:
    assert running.intake("crm", "check", "--json").document["ok"] is True


def test_an_explanation_speaks_spanish_by_default(running: Home) -> None:
    event_id = running.send()
    assert running.intake("explain", event_id, "--json").document["language"] == "es"


def test_output_to_a_pipe_has_no_colour(running: Home) -> None:
    running.send()
    said = [running.intake(*words).out for words in (("events",), ("check",), ("sources",))]
    assert not [text for text in said if "\x1b" in text]
