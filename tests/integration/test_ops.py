"""What people may read, by the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.commands import beside, intake, listed
from tests.lab import Lab, lab

FIELDS = [
    "event_id", "mode", "source", "kind", "request_id", "version", "need", "state", "reason", "received_at", "due_at",
    "attempts", "contact_id", "opportunity_id", "task_id", "note_id", "contact_ref", "opportunity_ref", "task_ref",
    "note_ref", "open_item",
]  # fmt: skip


@pytest.fixture
def stored(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as made:
        yield made


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


def test_events_have_the_fields_of_the_contract(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.form()
    (event,) = listed(intake(environ, "events", "--json").document, "events")
    assert list(event) == FIELDS


def test_a_delivered_event_names_its_records(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = stored.form()
    stored.work()
    event = intake(environ, "show", event_id, "--json").document
    assert {kind: event[f"{kind}_id"] for kind in ("contact", "opportunity", "task")} == {
        kind: stored.in_crm(kind)[0]["id"] for kind in ("contact", "opportunity", "task")
    }


def test_pages_show_every_event_once_the_newest_first(stored: Lab, environ: Mapping[str, str]) -> None:
    sent = [str(stored.form()) for _ in range(5)]
    seen: list[str] = []
    cursor: object = None
    while True:
        page = intake(environ, "events", "--json", "--limit", 2, *(("--cursor", cursor) if cursor else ())).document
        seen += [str(each["event_id"]) for each in listed(page, "events")]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == sent[::-1]


def test_a_foreign_cursor_is_a_usage_error(environ: Mapping[str, str]) -> None:
    assert intake(environ, "events", "--cursor", "bm9uc2Vuc2U=").status == 2


def test_pending_leaves_out_what_is_final(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.form()
    stored.work()
    waiting = stored.form()
    found = listed(intake(environ, "events", "--json", "--state", "pending").document, "events")
    assert [each["event_id"] for each in found] == [str(waiting)]


def test_events_can_be_asked_for_by_source(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.form()
    quote = stored.quote()
    found = listed(intake(environ, "events", "--json", "--source", "quotes").document, "events")
    assert [each["event_id"] for each in found] == [str(quote)]


def test_events_can_be_asked_for_by_age(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.form()
    assert listed(intake(environ, "events", "--json", "--since", "2999-01-01").document, "events") == []


def test_show_tells_the_attempts_of_a_shared_contact_too(stored: Lab, environ: Mapping[str, str]) -> None:
    first = stored.form()
    stored.work()
    second = stored.form(message="Otra cosa")
    stored.work()
    attempts = listed(intake(environ, "show", second, "--json").document, "attempts")
    assert {each["event_id"] for each in attempts if each["record"] == "contact"} == {str(first)}


def test_a_confirmed_write_is_shown_as_confirmed(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = stored.form()
    stored.work()
    attempts = listed(intake(environ, "show", event_id, "--json").document, "attempts")
    assert {each["stage"] for each in attempts if each["kind"] == "write"} == {"confirmed"}


def test_a_write_whose_worker_died_was_perhaps_sent(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path, at=_die_at("contact.committed")) as made:
        event_id = made.form()
        with pytest.raises(_Died):
            made.work()
        made.pass_time(made.desk.patience.lease)
        (attempt,) = [
            each
            for each in listed(intake(beside(made, tmp_path), "show", event_id, "--json").document, "attempts")
            if each["kind"] == "write"
        ]
    assert attempt["stage"] == "perhaps_sent"


class _Died(BaseException):
    """A worker ends here."""


def _die_at(name: str) -> Callable[[str], None]:
    def at(boundary: str) -> None:
        if boundary == name:
            raise _Died

    return at


def test_history_tells_every_arrow(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = stored.form()
    stored.work()
    history = listed(intake(environ, "show", event_id, "--json").document, "history")
    assert [each["to_state"] for each in history] == ["received", "delivering", "confirmed"]


def test_an_event_is_found_by_the_beginning_of_its_id(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = stored.form()
    assert intake(environ, "show", str(event_id)[:8], "--json").document["event_id"] == str(event_id)


@pytest.mark.parametrize("unknown", ["00000000-0000-0000-0000-000000000000", "nonsense", "%", ""])
def test_an_unknown_event_is_a_finding(environ: Mapping[str, str], unknown: str) -> None:
    assert intake(environ, "show", unknown).status == 1


@pytest.mark.parametrize("command", ["events", "show"])
def test_tables_hold_no_personal_data(stored: Lab, environ: Mapping[str, str], command: str) -> None:
    event_id = stored.form(name="Ana Prueba", email="ana@example.com", phone="987654321", message="Secreto")
    said = intake(environ, command, *((event_id,) if command == "show" else ())).out
    assert not [word for word in ("Prueba", "ana@", "987654321", "Secreto") if word in said]


def test_json_holds_no_personal_data(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = stored.form(name="Ana Prueba", email="ana@example.com", phone="987654321", message="Secreto")
    stored.work()
    said = intake(environ, "show", event_id, "--json").out
    assert not [word for word in ("Prueba", "ana@", "987654321", "Secreto") if word in said]


def test_tables_fit_80_columns(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = stored.form()
    stored.work()
    lines = [*intake(environ, "events").out.splitlines(), *intake(environ, "show", event_id).out.splitlines()]
    assert max(len(line) for line in lines) <= 80


def test_what_waits_for_a_person_is_an_item(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.dials.fault("422", match={"what": "create", "kind": "contact"}, times=1)
    event_id = stored.form()
    stored.work()
    (item,) = listed(intake(environ, "items", "--json").document, "items")
    assert (item["event_id"], item["kind"], item["state"]) == (str(event_id), "delivery", "review")


def test_an_event_names_its_open_item(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.dials.fault("422", match={"what": "create", "kind": "contact"}, times=1)
    event_id = stored.form()
    stored.work()
    (item,) = listed(intake(environ, "items", "--json").document, "items")
    assert intake(environ, "show", event_id, "--json").document["open_item"] == item["item_id"]


def test_an_unknown_item_is_a_finding(environ: Mapping[str, str]) -> None:
    assert intake(environ, "item", 404).status == 1


def test_sources_tell_the_address_to_register(environ: Mapping[str, str]) -> None:
    (web, *_) = listed(intake(environ, "sources", "--json").document, "sources")
    assert (web["url"], web["status"]) == ("http://127.0.0.1:8080/hooks/web", "open")


def test_sources_tell_what_to_paste_where(environ: Mapping[str, str]) -> None:
    rows = listed(intake(environ, "sources", "--json").document, "sources")
    assert {row["name"]: "la dirección" in str(row["paste"]) for row in rows} == {
        "web": True, "wa": True, "quotes": True,
    }  # fmt: skip
    assert "verify_token" in intake(environ, "sources").out.replace("\n", "")


def test_a_source_without_its_secret_is_shown_closed(environ: Mapping[str, str]) -> None:
    rows = listed(intake({**environ, "WEB_SECRET": ""}, "sources", "--json").document, "sources")
    assert {row["name"]: row["status"] for row in rows} == {"web": "closed", "wa": "open", "quotes": "open"}


def test_sources_tell_when_they_delivered_last(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.form(mode="test")
    (web, *_) = listed(intake(environ, "sources", "--json").document, "sources")
    assert (web["last_live"], bool(web["last_test"])) == (None, True)


def test_every_json_is_one_document(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = stored.form()
    for words in (("events",), ("items",), ("sources",), ("show", event_id), ("explain", event_id)):
        json.loads(intake(environ, *words, "--json").out)


def test_a_database_that_is_away_is_told_in_a_sentence(environ: Mapping[str, str]) -> None:
    said = intake({**environ, "DATABASE_URL": "postgresql://127.0.0.1:1/none"}, "events")
    assert (said.status, "is PostgreSQL running" in said.err) == (1, True)


def test_without_a_database_the_environment_is_to_blame(environ: Mapping[str, str]) -> None:
    assert intake({**environ, "DATABASE_URL": ""}, "events").status == 2


def test_an_empty_database_asks_for_migrate(environ: Mapping[str, str], empty_database_url: str) -> None:
    said = intake({**environ, "DATABASE_URL": empty_database_url}, "events")
    assert (said.status, "intake migrate" in said.err) == (1, True)
