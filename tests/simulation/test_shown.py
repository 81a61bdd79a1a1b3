"""What operators read: all of it, in one language, with nothing cut, and nobody's data unasked."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from intake import account_facts
from intake.reason_texts import Language
from intake.shown_names import LABELS
from tests.commands import DECIDED, beside, intake, listed
from tests.conftest import fresh_database
from tests.lab import Lab, lab

NUMBERS = itertools.count(100_001)
WIDTH = 80


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def shared(postgres_server: str, migrated_template: str, folder: Path) -> Iterator[Lab]:
    """A lab for all tests of this file, with people of their own each."""
    with fresh_database(postgres_server, template=migrated_template) as (_, url), lab(url, folder) as made:
        yield made


@pytest.fixture
def environ(shared: Lab, folder: Path) -> Mapping[str, str]:
    return beside(shared, folder)


def person() -> dict[str, str]:
    number = next(NUMBERS)
    return {"name": "Rosario Inventada", "email": f"p{number}@example.com", "phone": f"987{number}"}


def refused(lab: Lab) -> UUID:
    """A form whose contact the CRM refused for its e-mail."""
    lab.work()
    match = {"what": "create", "kind": "contact"}
    lab.dials.fault("422", match=match, times=1, fields={"email": "No es una dirección."})
    event = lab.form(**person())
    lab.work()
    assert lab.state(event) == "review"
    return event


def conflict(lab: Lab) -> tuple[UUID, int]:
    """A form that came twice with another text; the event, and the item."""
    who, key = person(), f"msg_conflict_{next(NUMBERS)}"
    event = lab.form(**who, message="Una silla", delivery_id=key)
    lab.form(**who, message="Dos sillas", delivery_id=key)
    (row,) = lab.rows("SELECT item_id FROM items WHERE kind = 'conflict' AND event_id = %(id)s", id=event)
    return event, int(str(row["item_id"]))


# --- conflicts --------------------------------------------------------------------------------------------------------


def test_a_conflict_is_shown_with_both_contents_and_what_differs(shared: Lab, environ: Mapping[str, str]) -> None:
    _, item = conflict(shared)
    lines = intake(environ, "item", item).out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("≠")] == ["text"]


def test_a_conflict_shows_nobodys_data_unasked(shared: Lab, environ: Mapping[str, str]) -> None:
    event, item = conflict(shared)
    said = [intake(environ, *words).out for words in (("item", item), ("show", event), ("item", item, "--json"))]
    assert not [each for text in said for each in ("Rosario", "silla", "p100") if each in text]


def test_both_contents_can_be_read_by_who_says_who_looks(shared: Lab, environ: Mapping[str, str]) -> None:
    event, item = conflict(shared)
    said = intake(environ, "item", item, "--data", "--by", "rosa")
    assert ("Una silla" in said.out, "Dos sillas" in said.out) == (True, True)
    seen = shared.rows("SELECT operator, via, what FROM access_log WHERE event_id = %(id)s", id=event)
    assert seen == [{"operator": "rosa", "via": "cli", "what": "conflict"}]


def test_data_is_for_who_says_who_looks(shared: Lab, environ: Mapping[str, str]) -> None:
    event, item = conflict(shared)
    quiet = {**environ, "INTAKE_OPERATOR": ""}
    assert [intake(quiet, *words, "--data").status for words in (("item", item), ("show", event))] == [2, 2]


def test_both_contents_are_in_the_json_of_the_item_and_of_the_event(shared: Lab, environ: Mapping[str, str]) -> None:
    event, item = conflict(shared)
    contents = intake(environ, "item", item, "--json").document["contents"]
    (shown,) = listed(intake(environ, "show", event, "--json").document, "conflicts")
    assert contents == shown
    assert [each["name"] for each in listed(shown, "fields") if each["differs"]] == ["text"]


def test_the_content_of_an_event_can_be_read_and_that_is_kept(shared: Lab, environ: Mapping[str, str]) -> None:
    event = shared.form(**person(), message="Quiero un catálogo")
    assert "catálogo" not in intake(environ, "show", event).out
    assert "Quiero un catálogo" in intake(environ, "show", event, "--data", "--by", "rosa").out
    (seen,) = shared.rows("SELECT what FROM access_log WHERE event_id = %(id)s", id=event)
    assert seen["what"] == "content"


# --- what was refused -------------------------------------------------------------------------------------------------


def test_an_explanation_names_the_refused_fields_and_their_rules(shared: Lab, environ: Mapping[str, str]) -> None:
    event = refused(shared)
    for command in ("explain", "show"):
        said = intake(environ, command, event)
        assert ("email" in said.out, "No es una dirección." in said.out) == (True, True)
        assert intake(environ, command, event, "--json").document["fields"] == {"email": "No es una dirección."}


def test_a_quarantined_delivery_names_what_could_not_be_read(shared: Lab, environ: Mapping[str, str]) -> None:
    shared.whatsapp("Hola", ids=("",))
    (row,) = shared.rows("SELECT item_id FROM items WHERE kind = 'quarantine' AND source = 'wa'")
    said = intake(environ, "item", row["item_id"]).out
    assert ("id " in said, "falta" in said) == (True, True)


def test_the_bytes_in_quarantine_can_be_read_to_correct_them(shared: Lab, environ: Mapping[str, str]) -> None:
    shared.post("web", b'{"name": "Rosario"')
    (row,) = shared.rows("SELECT item_id FROM items WHERE kind = 'quarantine' AND source = 'web'")
    said = intake(environ, "item", row["item_id"], "--data", "--by", "rosa", "--json").document
    assert said["body"] == '{"name": "Rosario"'


def test_an_explanation_names_the_contacts_among_which_somebody_must_choose(
    shared: Lab, environ: Mapping[str, str]
) -> None:
    one, two = person(), person()
    made = [shared.form(**one), shared.form(**two)]
    shared.work()
    contacts = [str(intake(environ, "show", each, "--json").document["contact_id"]) for each in made]
    both = shared.form(**one | {"phone": two["phone"]})
    shared.work()
    assert shared.delivery(both)["reason"] == "contact_ambiguous"
    assert intake(environ, "explain", both, "--json").document["contacts"] == sorted(contacts)
    assert [each for each in contacts if each not in intake(environ, "explain", both).out] == []


# --- one language -----------------------------------------------------------------------------------------------------

# What only one of the languages says.
ALONE: Mapping[Language, set[str]] = {
    "es": {text.es for text in LABELS.values()} - {text.en for text in LABELS.values()} - {"no", "de", "a"},
    "en": {text.en for text in LABELS.values()} - {text.es for text in LABELS.values()} - {"no", "at", "to", "by"},
}


@pytest.mark.parametrize(("spoken", "other"), [("es", "en"), ("en", "es")])
def test_an_event_is_shown_in_one_language(
    shared: Lab, environ: Mapping[str, str], spoken: Language, other: Language
) -> None:
    event = refused(shared)
    intake(environ, "revive", event, *DECIDED)
    shared.work()
    said = intake(environ, "show", event, "--lang", spoken).out
    headings = {part.strip() for line in said.splitlines() for part in line.split("  ")}
    assert headings & ALONE[other] == set()
    assert headings & ALONE[spoken] > {LABELS["attempts"].of(spoken), LABELS["history"].of(spoken)}


# --- eighty columns ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["items", "events"])
def test_lists_fit_eighty_columns_and_cut_nothing(shared: Lab, environ: Mapping[str, str], command: str) -> None:
    event = refused(shared)
    shared.rows("UPDATE deliveries SET reason = 'conversation_ambiguous' WHERE event_id = %(id)s RETURNING 1", id=event)
    (row,) = shared.rows("SELECT item_id FROM items WHERE event_id = %(id)s", id=event)
    intake(environ, "assign", row["item_id"], "--to", "maria.fernandez@example.com", "--due", "4h", *DECIDED)
    said = intake({**environ, "COLUMNS": str(WIDTH)}, command).out
    assert [line for line in said.splitlines() if len(line) > WIDTH or "…" in line] == []
    assert ("conversation_ambiguous" in said, str(event)[:8] in said) == (True, True)
    if command == "items":
        place = said.splitlines()[0].index(LABELS["assignee"].es + ",")
        assert "maria.fernandez@example.com" in "".join(line[place:].strip() for line in said.splitlines())


# --- names that do not exist ------------------------------------------------------------------------------------------

NO_SOURCE = [
    ("events", "--source", "nope"), ("bulk", "run", "revive", "--source", "nope", "--yes", *DECIDED),
    ("reread", "nope"), ("recheck", "nope"), ("pull", "nope", "--since", "1h"), ("pause", "nope", *DECIDED),
    ("resume", "nope", *DECIDED), ("crm", "check", "--destination", "nope"),
]  # fmt: skip


@pytest.mark.parametrize("words", NO_SOURCE, ids=lambda words: words[0])
def test_a_name_that_nothing_bears_is_a_usage_error_that_names_what_there_is(
    environ: Mapping[str, str], words: tuple[str, ...]
) -> None:
    said = intake(environ, *words)
    assert (said.status, "web" in said.err or "crm" in said.err) == (2, True)


def test_a_state_that_does_not_exist_is_a_usage_error_that_names_those_that_do(environ: Mapping[str, str]) -> None:
    said = intake(environ, "events", "--state", "nope")
    assert (said.status, "review" in said.err) == (2, True)


def test_a_source_that_is_configured_no_more_stays_readable(
    shared: Lab, environ: Mapping[str, str], folder: Path, tmp_path: Path
) -> None:
    event = shared.quote(f"COT-{next(NUMBERS)}")
    file = tmp_path / "intake.toml"
    file.write_text((folder / "intake.toml").read_text().partition('[[sources]]\nname = "quotes"')[0])
    said = intake({**environ, "INTAKE_CONFIG": str(file)}, "events", "--source", "quotes", "--json")
    assert str(event) in [each["event_id"] for each in listed(said.document, "events")]


# --- waiting for what follows -----------------------------------------------------------------------------------------


def test_an_explanation_tells_until_when_a_first_message_waits(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path, debounce=300) as patient:
        (row,) = patient.rows("SELECT extract(epoch FROM clock_timestamp())::bigint AS now")
        (event,) = patient.whatsapp("Hola", at=int(str(row["now"])))
        said = intake(beside(patient, tmp_path), "explain", event, "--json").document
        assert (said["state"], "Se espera hasta las " in str(said["then"])) == ("received", True)
        patient.pass_time(timedelta(minutes=6))
        said = intake(beside(patient, tmp_path), "explain", event, "--json").document
        assert "Se espera" not in json.dumps(said)


@pytest.fixture
def paged(shared: Lab) -> Iterator[str]:
    """Where people see opportunities in the CRM, as a worker noted it."""
    address = "https://crm.example.com/app/opportunities/{id}"
    with shared.pool.connection() as conn:
        account_facts.note(conn, "crm", "sandbox", verified=True, limits=(), pages={"opportunity": address})
    yield address
    with shared.pool.connection() as conn:
        conn.execute("DELETE FROM record_pages")


def test_a_record_is_shown_with_its_page_in_the_crm(shared: Lab, environ: Mapping[str, str], paged: str) -> None:
    event = shared.form(**person())
    shared.work()
    document = intake(environ, "show", event, "--json").document
    page = paged.replace("{id}", str(document["opportunity_id"]))
    assert document["pages"] == {"opportunity": page}
    assert any(line.strip() == page for line in intake(environ, "show", event).out.splitlines())


def test_what_was_quarantined_is_explained_without_a_code(shared: Lab, environ: Mapping[str, str]) -> None:
    shared.post("web", b"[1, 2")
    item = listed(intake(environ, "items", "--kind", "quarantine", "--json").document, "items")[-1]["item_id"]
    told = intake(environ, "item", item, "--lang", "es").out
    assert "No es JSON" in told
    assert "must be" not in told
