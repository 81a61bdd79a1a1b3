"""Every command of the runbook is run, as it stands there, in the trouble that it is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from tests.commands import DECIDED, beside, intake
from tests.lab import Lab, lab
from tests.ruled import rule
from tests.runbook import DOCS, Section, sections, words
from tests.simulation.world import People

ENGLISH, SPANISH = "operating.md", "es/operacion.md"
Names = dict[str, str]


@dataclass(frozen=True, slots=True)
class Trouble:
    """A lab in trouble.  `findings`: commands that must find something (exit status 1), by their first words."""

    names: Names
    findings: tuple[str, ...] = ()


# --- the troubles -----------------------------------------------------------------------------------------------------


def in_doubt(made: Lab, *, executed: bool, number: int) -> str:
    """A form of which nobody knows whether its opportunity was made."""
    made.dials.fault("lost_answer", match={"what": "create", "kind": "opportunity"}, times=1, effect=executed)
    made.dials.fault("503", match={"what": "find", "kind": "opportunity"}, skip=1)
    event = made.form(email=f"p{number}@example.com", phone=f"98700000{number}")
    made.work()
    assert made.state(event) == "uncertain"
    made.dials.no_faults()
    return str(event)


def one_event(made: Lab, folder: Path) -> Trouble:
    del folder
    event = made.form()
    made.work()
    return Trouble({"EVENT": str(event)})


def doubts(made: Lab, folder: Path) -> Trouble:
    del folder
    done = made.form()
    made.work()
    here, absent = in_doubt(made, executed=True, number=1), in_doubt(made, executed=False, number=2)
    crm_id = str(made.in_crm("opportunity")[-1]["id"])
    return Trouble({"EVENT": here, "OTHER": absent, "DONE": str(done), "CRM_ID": crm_id})


def conflicts(made: Lab, folder: Path) -> Trouble:
    del folder
    for key in ("msg_a", "msg_b"):
        made.form(message="Una", delivery_id=key, email=f"{key[-1]}@example.com", phone="")
        made.work()
        made.form(message="Dos", delivery_id=key, email=f"{key[-1]}@example.com", phone="")
    first, second = made.rows("SELECT item_id FROM items WHERE kind = 'conflict' ORDER BY 1")
    return Trouble({"ITEM": str(first["item_id"]), "OTHER_ITEM": str(second["item_id"])})


def closed_deals(made: Lab, folder: Path) -> Trouble:
    del folder
    for number in range(3):
        made.whatsapp("Hola", sender=f"5198765000{number}")
        made.work()
    for each in made.in_crm("opportunity"):
        People(made).edit_one("opportunities", str(each["id"]), stage="won")
    later = [made.whatsapp("¿Y?", sender=f"5198765000{number}", at=1_790_000_600)[0] for number in range(3)]
    made.work()
    return Trouble(dict(zip(("EVENT", "OTHER", "THIRD"), map(str, later), strict=True)))


def two_people(made: Lab, folder: Path) -> Trouble:
    del folder
    events = []
    for number in range(2):
        email, phone = f"p{number}@example.com", f"98700000{number}"
        made.form(name="Ana", email=email, phone="")
        made.form(name="Luis", email="", phone=phone)
        made.work()
        events.append(made.form(email=email, phone=phone, message="Somos dos"))
        made.work()
    crm_id = str(made.in_crm("contact")[0]["id"])
    return Trouble({"EVENT": str(events[0]), "OTHER": str(events[1]), "CRM_ID": crm_id})


def an_item(made: Lab, folder: Path) -> Trouble:
    del folder
    refused(made, 1)
    (item,) = made.rows("SELECT item_id FROM items")
    return Trouble({"ITEM": str(item["item_id"])})


def refused(made: Lab, count: int) -> None:
    made.dials.fault("422", match={"what": "create", "kind": "contact"}, times=count)
    for number in range(count):
        made.form(email=f"r{number}@example.com", phone=f"98700001{number}")
    made.work()


def many(made: Lab, folder: Path) -> Trouble:
    del folder
    refused(made, 2)
    in_doubt(made, executed=True, number=1)
    return Trouble({})


def spam(made: Lab, folder: Path) -> Trouble:
    del folder
    return Trouble({"EVENT": str(made.form())})


def quiet(made: Lab, folder: Path) -> Trouble:
    """Nothing is wrong but that no process of ours runs, which is what `check` finds."""
    del folder
    made.form()
    made.work()
    return Trouble({}, findings=("check",))


def restored_crm(made: Lab, folder: Path) -> Trouble:
    del folder
    done = made.form()
    made.work()
    People(made).trash("task")
    return Trouble({"DONE": str(done)}, findings=("reconcile --verify",))


def flood(made: Lab, folder: Path) -> Trouble:
    rule(made, folder, "web", 'hold = "links"')
    made.form(message="Vea https://example.com")
    made.form(email="otra@example.com", phone="912345678")
    return Trouble({})


TROUBLES: Mapping[str, Callable[[Lab, Path], Trouble]] = {
    "Consult an operation": one_event,
    "May it be repeated?": doubts,
    "A conflict": conflicts,
    "A closed deal gets another message": closed_deals,
    "Which contact is it?": two_people,
    "Whose it is, and until when": an_item,
    "Many at once": many,
    "Spam": spam,
    "Redis is lost": quiet,
    "The database is restored from yesterday's backup": quiet,
    "The database is cloned to staging": quiet,
    "The CRM is restored from a backup": restored_crm,
    "An OAuth grant is lost": quiet,
    "Somebody else makes doubles in bulk": flood,
}


# --- the tests --------------------------------------------------------------------------------------------------------


@pytest.fixture
def made(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as opened:
        yield opened


def ours(file: str) -> list[Section]:
    """The sections of a runbook that have a trouble here; in Spanish, those of the same place."""
    places = {each.title: each.number for each in sections(ENGLISH)}
    wanted = {places[title] for title in TROUBLES}
    return [each for each in sections(file) if each.number in wanted]


def run(made: Lab, folder: Path, section: Section, title: str) -> list[tuple[str, int]]:
    """The commands that ended otherwise than they should."""
    trouble = TROUBLES[title](made, folder)
    environ = {**beside(made, folder), "INTAKE_OPERATOR": ""}
    wrong = []
    for command in section.commands:
        said = intake(environ, *words(command, {"web-contact": "web", **trouble.names}))
        expected = 1 if command.removeprefix("intake ").startswith(trouble.findings or ("\x00",)) else 0
        if said.status != expected:
            wrong.append((f"{command}: {said.err or said.out}", said.status))
        made.work()
    return wrong


TITLES = {each.number: each.title for each in sections(ENGLISH)}


@pytest.mark.parametrize("section", ours(ENGLISH), ids=lambda each: each.title)
def test_the_commands_of_the_runbook_work(made: Lab, tmp_path: Path, section: Section) -> None:
    assert run(made, tmp_path, section, section.title) == []


@pytest.mark.parametrize("section", ours(SPANISH), ids=lambda each: each.title)
def test_the_commands_of_the_spanish_runbook_are_the_same(section: Section) -> None:
    """Word for word, but for the reasons and what only one of them says of the language."""
    english = sections(ENGLISH)[section.number]
    assert [plain(each) for each in section.commands] == [plain(each) for each in english.commands]


def plain(command: str) -> str:
    return re.sub(r'--reason ".*?"| --lang en', "", command)


def test_a_clone_delivers_nothing(made: Lab, tmp_path: Path) -> None:
    event = made.form()
    environ = {**beside(made, tmp_path), "INTAKE_HOME": str(tmp_path / "staging")}
    home = tmp_path / "staging"
    home.mkdir()
    (home / "installation").write_text("00000000-0000-0000-0000-000000000000 1 0\n")
    said = intake(environ, "check")
    assert "is not this host's" in said.out
    assert intake(environ, "crm", "check").status != 0
    assert made.state(event) == "received"


def test_what_a_closed_role_may_not_do_is_refused_by_the_database(made: Lab) -> None:
    script = re.search(r"```sql\n(.*?)```", (DOCS / ENGLISH).read_text("utf-8"), re.DOTALL)
    assert script is not None
    event = made.form()
    with psycopg.connect(made.database_url, autocommit=True) as conn, conn.transaction(force_rollback=True):
        conn.execute(script[1])
        conn.execute("SET LOCAL ROLE intake_app")
        conn.execute("INSERT INTO decisions (author, reason, action, event_id) VALUES ('a', 'b', 'look', %s)", [event])
        with pytest.raises(errors.InsufficientPrivilege), conn.transaction():
            conn.execute("UPDATE decisions SET author = 'another'")


def test_every_command_that_decides_is_refused_without_a_reason(made: Lab, tmp_path: Path) -> None:
    event = made.form()
    environ = beside(made, tmp_path)
    for verb in ("spam", "reissue", "redeliver", "revive", "approve", "decline", "look"):
        assert intake(environ, verb, event, *DECIDED[:2]).status == 2
