"""The troubles of the runbook: a lab in each of them, so that the commands which end it can be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

import psycopg

from tests.lab import Lab
from tests.oauth_server import vendor
from tests.ruled import rule
from tests.simulation.world import People

Names = dict[str, str]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a trouble is made.  `folder`: the lab's own.  `stack`: what must live until the trouble is over."""

    lab: Lab
    folder: Path
    stack: ExitStack

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def address(self) -> str:
        """Where the workers find their database, and as whom."""
        address = self.lab.desk.pool.conninfo
        assert isinstance(address, str)
        return address


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is put into the commands for the names in them, and how each must end.

    `findings`: commands that must find something (exit status 1), by their beginning.  `says`: what each must say,
    likewise.  `environ`: what else the host has.  `meanwhile`: what happens there by itself, after each command.
    `delivered`: events that must be confirmed when the trouble is over, which `is_over` says of everything else.
    """

    names: Names = field(default_factory=dict)
    findings: tuple[str, ...] = ()
    says: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    meanwhile: Callable[[], object] = lambda: None
    delivered: tuple[UUID, ...] = ()
    is_over: Callable[[], object] = lambda: True


# --- doubts, conflicts, and what only a person can decide -------------------------------------------------------------


def in_doubt(made: Lab, *, executed: bool, number: int) -> UUID:
    """A form of which nobody knows whether its opportunity was made."""
    made.lose("opportunity", executed=executed)
    event = made.form(email=f"p{number}@example.com", phone=f"98700000{number}")
    made.work()
    assert made.state(event) == "uncertain"
    made.dials.no_faults()
    return event


def one_event(at: Place) -> Trouble:
    event = at.lab.form()
    at.lab.work()
    return Trouble({"EVENT": str(event)}, delivered=(event,))


def doubts(at: Place) -> Trouble:
    done = at.lab.form()
    at.lab.work()
    here, absent = in_doubt(at.lab, executed=True, number=1), in_doubt(at.lab, executed=False, number=2)
    crm_id = str(at.lab.in_crm("opportunity")[-1]["id"])
    names = {"EVENT": str(here), "OTHER": str(absent), "DONE": str(done), "CRM_ID": crm_id}
    return Trouble(names, delivered=(here, absent), is_over=lambda: at.lab.dials.doubles() == [])


def conflicts(at: Place) -> Trouble:
    events = []
    for key in ("msg_a", "msg_b"):
        events.append(at.lab.form(message="Una", delivery_id=key, email=f"{key[-1]}@example.com", phone=""))
        at.lab.work()
        at.lab.form(message="Dos", delivery_id=key, email=f"{key[-1]}@example.com", phone="")
    first, second = at.lab.rows("SELECT item_id FROM items WHERE kind = 'conflict' ORDER BY 1")
    names = {"ITEM": str(first["item_id"]), "OTHER_ITEM": str(second["item_id"])}
    return Trouble(names, delivered=tuple(events), is_over=lambda: not open_items(at.lab))


def open_items(made: Lab) -> list[dict[str, object]]:
    return made.rows("SELECT kind, reason FROM items WHERE closed_at IS NULL")


def closed_deals(at: Place) -> Trouble:
    for number in range(3):
        at.lab.whatsapp("Hola", sender=f"5198765000{number}")
        at.lab.work()
    for each in at.lab.in_crm("opportunity"):
        People(at.lab).edit_one("opportunities", str(each["id"]), stage="won")
    later = [at.lab.whatsapp("¿Y?", sender=f"5198765000{number}", at=1_790_000_600)[0] for number in range(3)]
    at.lab.work()
    names = dict(zip(("EVENT", "OTHER", "THIRD"), map(str, later), strict=True))
    return Trouble(names, delivered=(later[0], later[1]))


def two_people(at: Place) -> Trouble:
    events = []
    for number in range(2):
        email, phone = f"p{number}@example.com", f"98700000{number}"
        at.lab.form(name="Ana", email=email, phone="")
        at.lab.form(name="Luis", email="", phone=phone)
        at.lab.work()
        events.append(at.lab.form(email=email, phone=phone, message="Somos dos"))
        at.lab.work()
    crm_id = str(at.lab.in_crm("contact")[0]["id"])
    names = {"EVENT": str(events[0]), "OTHER": str(events[1]), "CRM_ID": crm_id}
    return Trouble(names, delivered=tuple(events))


def an_item(at: Place) -> Trouble:
    refused(at.lab, 1)
    (item,) = at.lab.rows("SELECT item_id FROM items")
    return Trouble({"ITEM": str(item["item_id"])})


def refused(made: Lab, count: int) -> list[UUID]:
    made.dials.fault("422", match={"what": "create", "kind": "contact"}, times=count)
    events = [made.form(email=f"r{number}@example.com", phone=f"98700001{number}") for number in range(count)]
    made.work()
    return events


def many(at: Place) -> Trouble:
    """So few that each run has ended before anybody could stop it, which `stop` says."""
    delivered = (*refused(at.lab, 2), in_doubt(at.lab, executed=True, number=1))
    return Trouble(findings=("bulk stop",), says={"bulk show": "hecho"}, delivered=delivered)


def spam(at: Place) -> Trouble:
    return Trouble({"EVENT": str(at.lab.form())})


# --- servers and accounts ---------------------------------------------------------------------------------------------


def quiet(at: Place) -> Trouble:
    return Trouble(delivered=(at.lab.form(),))


def without_redis(at: Place) -> Trouble:
    """No process of ours runs, and there is no Redis, which is what `check` finds; the workers deliver all the same."""
    return Trouble(findings=("check",), says={"check": "redis"}, delivered=(at.lab.form(),))


def restored(at: Place) -> Trouble:
    """What was delivered is forgotten by the database, and its senders have been asked again."""
    at.lab.form(delivery_id="msg_yesterday")
    at.lab.work()
    with psycopg.connect(at.lab.database_url, autocommit=True) as conn:
        conn.execute("TRUNCATE receipts, events, needs, records, attempts, contact_keys, delivery_history CASCADE")
    event = at.lab.form(delivery_id="msg_yesterday")
    return Trouble(
        meanwhile=lambda: at.lab.settle(4),
        delivered=(event,),
        is_over=lambda: len(at.lab.in_crm("opportunity")) == 1,
    )


def cloned(at: Place) -> Trouble:
    """On the host of the clone, whose mark is another installation's."""
    staging = at.folder / "staging"
    staging.mkdir()
    (staging / "installation").write_text("00000000-0000-0000-0000-000000000000 1 0\n")
    environ = {"INTAKE_HOME": str(staging)}
    return Trouble(findings=("check",), says={"check": "is not this host's"}, environ=environ)


def restored_crm(at: Place) -> Trouble:
    done = at.lab.form()
    at.lab.work()
    People(at.lab).trash("task")
    return Trouble(
        {"DONE": str(done)},
        findings=("reconcile --verify",),
        delivered=(done,),
        is_over=lambda: len(at.lab.in_crm("task")) == 1 and not open_items(at.lab),
    )


# A vendor whose token address is here.
OAUTH = """
[destinations.oauth]
client_id = "our-app"
client_secret = "env:OAUTH_SECRET"
authorize_url = "{url}"
token_url = "{url}"

"""


def lost_grant(at: Place) -> Trouble:
    """The CRM refuses what it got; the account is connected anew, by a vendor that listens here."""
    there = at.stack.enter_context(vendor())
    config = at.folder / "intake.toml"
    oauth = OAUTH.format(url=there.url)
    config.write_text(config.read_text("utf-8").replace("[destinations.owner]", f"{oauth}[destinations.owner]", 1))
    trouble = refused_credential(at)
    names = {"ADDRESS": "http://127.0.0.1:8765/callback?code=c0de"}
    return replace(trouble, names=names, environ={"OAUTH_SECRET": "our-secret"})


def refused_credential(at: Place) -> Trouble:
    """The CRM refused the credential; a good one has just been put in its place."""
    at.lab.dials.fault("401", times=None)
    event = at.lab.form()
    at.lab.work()
    at.lab.dials.no_faults()
    assert at.lab.rows("SELECT FROM accounts WHERE paused_reason = 'bad_credential'")
    return Trouble(delivered=(event,))


def flood(at: Place) -> Trouble:
    """Some of it is held by a rule, some is not, and a lead is in it."""
    rule(at.lab, at.folder, "web", 'hold = "links"')
    held = at.lab.form(message="Vea https://example.com")
    spam = at.lab.form(email="casino@example.com", phone="987000111")
    with at.lab.pool.connection() as conn:
        # Whoever is quick pauses the source before it is delivered.
        conn.execute("UPDATE deliveries SET due_at = due_at + interval '1 hour' WHERE event_id = %s", [spam])
    lead = at.lab.form(email="otra@example.com", phone="912345678")
    over = {held, spam}
    return Trouble(
        delivered=(lead,),
        names={"EVENT": str(spam)},
        is_over=lambda: {each for each in over if at.lab.state(each) == "cancelled"} == over,
    )
