"""Every command of the runbook is run, as it stands there, in the trouble that it is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from intake import installation
from intake.installation import Mismatch
from tests.acceptance import door_troubles, troubles
from tests.acceptance.troubles import Place, Trouble
from tests.by_role import Users, apart
from tests.commands import DECIDED, beside, intake
from tests.lab import Lab, lab
from tests.ruled import rule
from tests.runbook import Section, mentions, sections, words
from workers import process

ENGLISH, SPANISH = "operating.md", "es/operacion.md"

TROUBLES: Mapping[str, Callable[[Place], Trouble]] = {
    "Consult an operation": troubles.one_event,
    "May it be repeated?": troubles.doubts,
    "A conflict": troubles.conflicts,
    "A closed deal gets another message": troubles.closed_deals,
    "Which contact is it?": troubles.two_people,
    "Whose it is, and until when": troubles.an_item,
    "Many at once": troubles.many,
    "Spam": troubles.spam,
    "Redis is lost": troubles.without_redis,
    "The database is restored from yesterday's backup": troubles.restored,
    "The database is cloned to staging": troubles.cloned,
    "The CRM is restored from a backup": troubles.restored_crm,
    "An OAuth grant is lost": troubles.lost_grant,
    "Somebody else makes doubles in bulk": troubles.flood,
    "Who may rewrite decisions": troubles.quiet,
    "A wrong secret for a day": door_troubles.wrong_secret,
    "A parser or mapping fix": door_troubles.unread,
    "PostgreSQL is away": door_troubles.spooled,
    "History from before": door_troubles.history,
}

# Tells of settings, and of no command.
# What their text names is run by tests of their own: `check` by tests of the doctor.
WITHOUT_COMMANDS = {"Sealing keys", "A CRM is not configured to its end"}

# Commands in running text, run by tests of this file; the others there are named as they are in a section of commands.
IN_TEXT = {"approve EVENT", "decline EVENT", "migrate --this-host", "sources", "check", "restored", "show", "explain",
           "item ITEM", "item ITEM --data --by ana", "resolve ITEM release", "crm connect --account crm",
           "crm check"}  # fmt: skip


# --- that nothing is left out -----------------------------------------------------------------------------------------


def test_every_section_with_a_command_is_run() -> None:
    assert {each.title for each in sections(ENGLISH) if each.commands} == set(TROUBLES)
    assert {each.title for each in sections(ENGLISH) if not each.commands} == WITHOUT_COMMANDS


@pytest.mark.parametrize("file", [ENGLISH, SPANISH])
def test_every_command_in_running_text_is_run_too(file: str) -> None:
    assert mentions(file) <= IN_TEXT


def test_both_languages_have_the_same_sections_with_the_same_commands() -> None:
    """Word for word, but for the reasons, the names of files, and what only one of them says of the language."""
    english, spanish = sections(ENGLISH), sections(SPANISH)
    assert [[plain(each) for each in one.commands] for one in spanish] == [
        [plain(each) for each in one.commands] for one in english
    ]


def plain(command: str) -> str:
    return re.sub(r'--reason ".*?"| --lang en', "", command)


# --- that each does what it is for ------------------------------------------------------------------------------------


@pytest.fixture
def made(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as opened:
        yield opened


def expected(command: str, trouble: Trouble) -> int:
    return 1 if command.startswith(trouble.findings or ("\x00",)) else 0


# The owner's of the database; all others are run as the desk's role.
OWNERS = ("migrate", "restored")


def run(at: Place, users: Users, trouble: Trouble, command: str) -> None:
    """One command, and what the workers do then."""
    plain_words = command.removeprefix("intake ")
    url = at.lab.database_url
    as_whom = url if plain_words.startswith(OWNERS) else users.of("intake_desk", url)
    environ = {**beside(at.lab, at.folder), "INTAKE_OPERATOR": "", "DATABASE_URL": as_whom, **trouble.environ}
    said = intake(environ, *words(command, {"web-contact": "web", **trouble.names}))
    assert said.status == expected(plain_words, trouble), f"{command}: {said.err or said.out}"
    for beginning, wanted in trouble.says.items():
        assert not plain_words.startswith(beginning) or wanted in said.out
    with at.lab.pool.connection() as conn:
        at.lab.desk = at.lab.other_desk(installation=installation.read(conn))
    trouble.meanwhile()
    at.lab.work()


@pytest.mark.parametrize("section", [each for each in sections(ENGLISH) if each.title in TROUBLES],
                         ids=lambda each: each.title)  # fmt: skip
def test_the_commands_of_the_runbook_end_the_trouble(made: Lab, tmp_path: Path, section: Section) -> None:
    with ExitStack() as stack:
        by_role, users = stack.enter_context(apart(made))
        trouble = TROUBLES[section.title](at := Place(by_role, tmp_path, stack))
        for command in section.commands:
            run(at, users, trouble, command)
        for _ in range(12):
            if not left(by_role, trouble) and trouble.is_over():
                break
            by_role.settle(1)
        assert left(by_role, trouble) == []
        assert trouble.is_over()


def left(made: Lab, trouble: Trouble) -> list[str]:
    """How those stand that must be delivered, and are not yet."""
    return [state for state in map(made.state, trouble.delivered) if state != "confirmed"]


def test_what_awaits_approval_is_approved_or_declined(made: Lab, tmp_path: Path) -> None:
    rule(made, tmp_path, "web", 'approval = "required"')
    for verb, state in (("approve", "confirmed"), ("decline", "cancelled")):
        event = made.form(email=f"{verb}@example.com", phone="")
        assert intake(beside(made, tmp_path), verb, event, *DECIDED).status == 0
        made.work()
        assert made.state(event) == state


def test_both_contents_of_a_conflict_are_shown(made: Lab, tmp_path: Path) -> None:
    for message in ("Una", "Dos"):
        made.form(message=message, delivery_id="msg_same")
    (item,) = made.rows("SELECT item_id FROM items WHERE kind = 'conflict'")
    said = intake(beside(made, tmp_path), "item", item["item_id"], "--data", "--by", "ana")
    assert (said.status, "Una" in said.out, "Dos" in said.out) == (0, True, True)


def test_a_host_that_has_no_mark_is_told_that_the_database_is_its_own(made: Lab, tmp_path: Path) -> None:
    environ = {**beside(made, tmp_path), "INTAKE_HOME": str(tmp_path / "second")}
    with pytest.raises(Mismatch):
        process.from_environ(environ)
    assert intake(environ, "migrate", "--this-host").status == 0
    process.from_environ(environ).desk.pool.close()


def test_the_sources_are_told_with_what_they_delivered_last(made: Lab, tmp_path: Path) -> None:
    made.form()
    said = intake(beside(made, tmp_path), "sources")
    assert (said.status, "/hooks/web" in said.out) == (0, True)


def test_a_clone_delivers_nothing(made: Lab, tmp_path: Path) -> None:
    event = made.form()
    environ = {**beside(made, tmp_path), **troubles.cloned(Place(made, tmp_path, ExitStack())).environ}
    assert "is not this host's" in intake(environ, "check").out
    assert intake(environ, "crm", "check").status != 0
    assert intake(environ, "migrate").status == 0
    with pytest.raises(Mismatch):
        process.from_environ(environ)
    assert (made.state(event), made.in_crm("contact")) == ("received", [])


def test_every_command_that_decides_is_refused_without_a_reason(made: Lab, tmp_path: Path) -> None:
    event = made.form()
    environ = beside(made, tmp_path)
    for verb in ("spam", "reissue", "redeliver", "revive", "approve", "decline", "look"):
        assert intake(environ, verb, event, *DECIDED[:2]).status == 2
