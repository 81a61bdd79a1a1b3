"""A person is erased wherever payloads stand; others stay, and keyed hashes refuse what comes late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest

from intake import installation, phones, refused, sealing
from intake.db import Conn
from intake.decided import Author
from intake.forgetting import ledger
from intake.forgetting.finding import Found, find
from intake.forgetting.ledger import Forgetting
from intake.forgetting.people import people_of
from intake.forgetting.whole import Certificate, Place, StillOpen, named
from intake.forgetting.whole import forget as forget_now
from intake.kept import Kept, pack
from intake.lead import Contact
from intake.reading import Post
from intake.spool import Spool, lines
from tests.commands import Said, beside, intake, listed
from tests.lab import Lab, lab

BY = ("--by", "rosa", "--reason", "Art. 20 Ley 29733")
PHONE = "987654321"
EMAIL = "ana@example.com"
TRACES = (PHONE, EMAIL, "Ana Prueba")


@pytest.fixture
def made(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as one:
        yield one


@pytest.fixture
def environ(made: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(made, tmp_path)


def confirmed(made: Lab) -> UUID:
    event = made.form(delivery_id="msg_old")
    made.settle(2)
    assert made.state(event) == "confirmed"
    return event


def forget(environ: Mapping[str, str], *more: str) -> Said:
    return intake(environ, "forget", "--phone", PHONE, "--email", EMAIL, *BY, *more)


def traces(database_url: str) -> list[tuple[str, str]]:
    """In which tables and columns anything of her stands, sealed bodies aside."""
    found = []
    with psycopg.connect(database_url) as conn:
        tables = conn.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in tables:
            for (text,) in conn.execute(f"SELECT t::text FROM {table} t"):  # noqa: S608
                plain = text if table != "bodies" else _opened(text)
                found += [(table, trace) for trace in TRACES if trace in plain]
    return found


def _opened(row: str) -> str:
    """A row of bodies, whose bytes are written in hexadecimal."""
    begin = row.find("\\\\x")
    digits = row[begin + 3 :].partition('"')[0] if begin >= 0 else ""
    return bytes.fromhex(digits).decode("utf-8", "replace")


def test_nothing_of_the_person_stands_anywhere(made: Lab, environ: Mapping[str, str]) -> None:
    confirmed(made)
    made.settle(1)
    assert traces(made.database_url)
    assert forget(environ).status == 0
    assert traces(made.database_url) == []


def test_others_stay(made: Lab, environ: Mapping[str, str]) -> None:
    confirmed(made)
    other = made.form(name="Luis Otro", phone="912345678", email="luis@example.com")
    made.settle(2)
    forget(environ)
    (row,) = made.rows("SELECT count(*) AS n FROM bodies WHERE content IS NOT NULL AND event_id = %(id)s", id=other)
    assert row["n"] == 1


def test_the_certificate_counts_and_names_nobody(made: Lab, environ: Mapping[str, str]) -> None:
    confirmed(made)
    said = forget(environ, "--json")
    (certificate,) = listed(said.document, "certificates")
    assert (certificate["events"], certificate["by"], certificate["dry"]) == (1, "rosa", False)
    assert isinstance(certificate["counts"], dict)
    assert certificate["counts"]["leads"] == 1
    assert not any(trace in said.out for trace in TRACES)


def test_what_is_open_is_listed_and_nothing_is_erased(made: Lab, environ: Mapping[str, str]) -> None:
    event = made.form()
    said = forget(environ)
    assert (said.status, str(event) in said.err, bool(traces(made.database_url))) == (1, True, True)


def test_what_is_open_is_cancelled_on_demand(made: Lab, environ: Mapping[str, str]) -> None:
    event = made.form()
    made.post("web", b'{"phone": "+51 987 654 321", broken')
    assert forget(environ, "--cancel-open").status == 0
    assert (made.state(event), traces(made.database_url)) == ("cancelled", [])


def test_a_refused_delivery_is_erased_though_it_is_sealed(made: Lab, environ: Mapping[str, str]) -> None:
    post = Post("web", "live", "application/json", {}, b'{"phone": "987654321"}', url="")
    with psycopg.connect(made.database_url, autocommit=True) as conn:
        refused.store(conn, sealing.from_environ(environ), [Kept(uuid4(), datetime.now(UTC), post)])
    assert forget(environ).status == 0
    assert made.rows("SELECT receipt_id FROM receipts") == []


def test_a_late_duplicate_is_refused_and_keeps_nothing(made: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(made)
    forget(environ)
    assert (made.form(delivery_id="msg_old"), made.work(), traces(made.database_url)) == (event, 0, [])


def test_who_comes_again_is_a_new_lead(made: Lab, environ: Mapping[str, str]) -> None:
    confirmed(made)
    forget(environ)
    later = made.form(delivery_id="msg_new")
    made.settle(2)
    assert (made.state(later), intake(environ, "forget", "--again").status) == ("confirmed", 0)
    assert traces(made.database_url)


def test_a_person_that_a_restore_brings_back_is_forgotten_again(made: Lab, environ: Mapping[str, str]) -> None:
    confirmed(made)
    with psycopg.connect(made.database_url) as conn:
        copied = conn.execute("SELECT event_id, revision, content FROM bodies WHERE what = 'lead'").fetchall()
    forget(environ)
    with psycopg.connect(made.database_url) as conn:  # As an earlier copy has it: the lead, and no list.
        conn.execute("SET LOCAL intake.purge = 'on'")
        conn.execute("DELETE FROM forgotten")
        ((event_id, revision, content),) = copied
        conn.execute(
            "UPDATE bodies SET content = %s, purged_at = NULL WHERE event_id = %s AND revision = %s",
            (content, event_id, revision),
        )
    assert traces(made.database_url)
    said = intake(environ, "restored", "--yes")
    assert (said.status, traces(made.database_url)) == (0, [])
    assert made.rows("SELECT author FROM forgotten") == [{"author": "rosa"}]


def test_what_the_crm_answers_later_about_them_goes_when_the_list_is_run_again(
    made: Lab, environ: Mapping[str, str]
) -> None:
    confirmed(made)
    forget(environ)
    with psycopg.connect(made.database_url) as conn:
        conn.execute("SET LOCAL intake.purge = 'on'")
        conn.execute("UPDATE bodies SET content = 'Ana Prueba', purged_at = NULL WHERE what = 'answer'")
    assert (intake(environ, "forget", "--again").status, traces(made.database_url)) == (0, [])


def test_a_decision_that_names_the_person_keeps_its_author_and_loses_its_words(
    made: Lab, environ: Mapping[str, str]
) -> None:
    event = made.form()
    intake(environ, "settle", event, "cancel", "--by", "rosa", "--reason", "Ana Prueba llamó del 987 654 321")
    forget(environ)
    assert made.rows("SELECT author, reason FROM decisions") == [{"author": "rosa", "reason": "(erased)"}]


def test_words_of_others_that_name_the_person_are_told_and_stay(made: Lab, environ: Mapping[str, str]) -> None:
    other = made.form(name="Luis Otro", phone="912345678", email="luis@example.com", message="Llamen al 987654321")
    made.settle(2)
    (certificate,) = listed(forget(environ, "--json").document, "certificates")
    assert (certificate["events"], certificate["mentions"]) == (0, [str(other)])


def test_a_dry_run_erases_nothing(made: Lab, environ: Mapping[str, str]) -> None:
    confirmed(made)
    assert (forget(environ, "--dry-run").status, bool(traces(made.database_url))) == (0, True)


@pytest.mark.parametrize("words", [(), ("--phone", "abc"), ("--email", "nobody")])
def test_a_person_must_be_named(environ: Mapping[str, str], words: tuple[str, ...]) -> None:
    assert intake(environ, "forget", *words, *BY).status == 2


# --- many at once -----------------------------------------------------------------------------------------------------

PEOPLE = "phone;email;wa_id\r\n987654321;ana@example.com;\r\n912345678;luis@example.com;\r\n"


ANA = Contact(phone=phones.read(PHONE, "PE"), email=EMAIL)
LUIS = Contact(phone=phones.read("912345678", "PE"))


def luis(made: Lab) -> UUID:
    return made.form(name="Luis Otro", phone="912345678", email="luis@example.com")


def forget_all(environ: Mapping[str, str], folder: Path, *more: str, text: str = PEOPLE) -> Said:
    file = folder / "people.csv"
    file.write_text(text, "utf-8-sig")
    return intake(environ, "forget", "--people", file, *BY, *more)


def asked(conn: Conn, *everybody: Contact) -> list[Forgetting]:
    return named(conn, Author("rosa", "asked to be"), [[each] for each in everybody], uuid4)


def contents(made: Lab, event: UUID) -> object:
    (row,) = made.rows("SELECT count(content) AS n FROM bodies WHERE event_id = %(id)s", id=event)
    return row["n"]


def test_everybody_in_a_file_is_forgotten_each_with_a_certificate(
    made: Lab, environ: Mapping[str, str], tmp_path: Path
) -> None:
    hers, his = confirmed(made), luis(made)
    made.settle(2)
    said = forget_all(environ, tmp_path, "--json")
    certificates = listed(said.document, "certificates")
    assert [(each["row"], each["events"]) for each in certificates] == [(2, 1), (3, 1)]
    assert (said.status, contents(made, hers), contents(made, his)) == (0, 0, 0)
    assert made.rows("SELECT count(*) AS n FROM forgotten WHERE counts IS NOT NULL") == [{"n": 2}]


def test_who_has_something_open_stops_no_other(made: Lab, environ: Mapping[str, str], tmp_path: Path) -> None:
    confirmed(made)
    his = luis(made)
    said = forget_all(environ, tmp_path, "--json")
    (still,) = listed(said.document, "open")
    assert (said.status, still["row"], str(his) in said.err) == (1, 3, True)
    assert [each["row"] for each in listed(said.document, "certificates")] == [2]
    assert (contents(made, his), traces(made.database_url)) == (1, [])
    assert made.rows("SELECT count(*) AS n FROM forgotten") == [{"n": 1}]


def test_a_dry_run_for_many_erases_nothing(made: Lab, environ: Mapping[str, str], tmp_path: Path) -> None:
    confirmed(made)
    luis(made)
    certificates = listed(forget_all(environ, tmp_path, "--dry-run", "--json").document, "certificates")
    assert [(each["dry"], each["counts"]) for each in certificates] == [(True, {"open": 0}), (True, {"open": 1})]
    assert traces(made.database_url)


def test_a_bad_cell_is_named_before_anything_is_erased(made: Lab, environ: Mapping[str, str], tmp_path: Path) -> None:
    confirmed(made)
    said = forget_all(environ, tmp_path, text=PEOPLE + "nobody;;\r\n")
    assert (said.status, "fila 4, columna phone" in said.err, "nobody" in said.err) == (2, True, False)
    assert traces(made.database_url)


def test_the_lines_of_many_leave_the_spool_at_once(made: Lab, environ: Mapping[str, str], tmp_path: Path) -> None:
    spool = Spool(tmp_path, sealing.from_environ(environ), 1 << 20)
    for number in (PHONE, "912345678", PHONE, "912345679"):
        post = Post("web", "live", "application/json", {}, number.encode(), url="")
        spool.append(pack(Kept(uuid4(), datetime.now(UTC), post)))
    place = Place(made.settings, spool.seal, tmp_path / ledger.FILE, spool)
    with psycopg.connect(made.database_url, autocommit=True) as conn:
        wanted = asked(conn, ANA, LUIS)
        waiting = forget_now(conn, place, wanted, cancel_open=True)
        (segment,) = spool.segments()
        spool.retire(segment, segment.stat().st_size, epoch=1)
        gone = forget_now(conn, place, wanted, cancel_open=True)
    assert [each.spooled for each in waiting if isinstance(each, StillOpen)] == [2, 1]
    assert [each.counts for each in gone if isinstance(each, Certificate)] == [{"spooled": 2}, {"spooled": 1}]
    assert [len(list(lines(segment, 0))) for segment in spool.drained()] == [1]


@pytest.mark.parametrize("words", [("--phone", PHONE), ("--again",)])
def test_a_file_and_another_way_to_name_people_are_not_mixed(
    environ: Mapping[str, str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert forget_all(environ, tmp_path, *words).status == 2


def found(conn: Conn, environ: Mapping[str, str], *wanted: Forgetting) -> list[Found]:
    people = people_of(wanted, installation.read(conn).key, "PE")
    return find(conn, people, sealing.from_environ(environ), told=lambda _done, _total: None)


def test_each_is_forgotten_until_their_own_time(made: Lab, environ: Mapping[str, str]) -> None:
    """Found together, over a whole database, is what is found for each alone."""
    first = confirmed(made)
    luis(made)
    made.form(name="Eva Otra", phone="912345679", email="eva@example.com", message="Llamen al 987654321, por favor")
    made.post("web", b'{"phone": "+51 987 654 321", broken')
    made.settle(2)
    forget(environ, "--cancel-open")
    made.form(delivery_id="msg_new")
    made.form(delivery_id="msg_newer", phone="912345678")
    made.settle(2)
    with psycopg.connect(made.database_url, autocommit=True) as conn:
        wanted = [*ledger.everybody(conn), *asked(conn, ANA, LUIS)]
        together = found(conn, environ, *wanted)
        assert together == [found(conn, environ, each)[0] for each in wanted]
    assert [len(each.events) for each in together] == [1, 3, 2]
    assert first in together[0].events
