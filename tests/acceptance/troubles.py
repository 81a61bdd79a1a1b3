"""The troubles of the runbook: a lab in each of them, so that the commands which end it can be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import psycopg

from intake import sealing
from intake.app import build
from intake.config import Secret, load
from intake.db import door_options, open_pool
from intake.receive import Door
from intake.refused import Keeper
from intake.sources import PROVIDERS
from intake.spool import Spool
from intake.spool_drain import Drainer
from tests import unhurried
from tests.graph_server import graph_server
from tests.lab import ENVIRON, Lab
from tests.ruled import rule
from tests.simulation.shop import KEY, ORDERS, PROOF, order
from tests.simulation.shop import SECRET as SHOP_SECRET
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
    made.dials.fault("lost_answer", match={"what": "create", "kind": "opportunity"}, times=1, effect=executed)
    made.dials.fault("503", match={"what": "find", "kind": "opportunity"}, skip=1)
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
    return Trouble(delivered=(*refused(at.lab, 2), in_doubt(at.lab, executed=True, number=1)))


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


def refused_credential(at: Place) -> Trouble:
    """The CRM refused the credential; a good one has just been put in its place."""
    at.lab.dials.fault("401", times=None)
    event = at.lab.form()
    at.lab.work()
    at.lab.dials.no_faults()
    assert at.lab.rows("SELECT FROM accounts WHERE paused_reason = 'bad_credential'")
    return Trouble(delivered=(event,))


def flood(at: Place) -> Trouble:
    rule(at.lab, at.folder, "web", 'hold = "links"')
    at.lab.form(message="Vea https://example.com")
    return Trouble(delivered=(at.lab.form(email="otra@example.com", phone="912345678"),))


# --- what the door could not take -------------------------------------------------------------------------------------

WRONG = "whsec_" + "b3RoZXItc2VjcmV0LW9mLXR3ZW50eS1mb3Vy"
BROKEN = b'{"name": "Ana Prueba", "email": "rota%d@example.com"'


def wrong_secret(at: Place) -> Trouble:
    """A day's deliveries were refused; the right secret has just been put in its place."""
    keeper = Keeper(at.lab.desk.pool.conninfo, sealing.from_environ({"INTAKE_HOME": str(at.home)}), new_id=uuid4)
    source = replace(at.lab.settings.sources["web"], secrets=(Secret("env:X", WRONG),))
    settings = replace(at.lab.settings, sources={**at.lab.settings.sources, "web": source})
    door = unhurried.door(settings, at.lab.pool, on_refused=keeper.keep)
    misled = replace(at.lab, door=build(door, hint=lambda: None).test_client())
    answer = misled.post("web", b'{"name": "Ana Prueba", "email": "ana@example.com"}')
    assert answer.status_code == 401
    keeper.flush(10)
    return Trouble(says={"recheck": "accepted"}, is_over=lambda: len(at.lab.in_crm("opportunity")) == 1)


def unread(at: Place) -> Trouble:
    """Three deliveries nobody could read; today's reader can read all but one, and a person mends that."""
    for number in range(3):
        at.lab.post("web", BROKEN % number)
    items = [str(row["item_id"]) for row in at.lab.rows("SELECT item_id FROM items ORDER BY 1")]
    with psycopg.connect(at.lab.database_url) as conn:
        conn.execute("UPDATE bodies SET content = content || '}' WHERE what = 'raw' AND position('rota1' IN"
                     " convert_from(content, 'UTF8')) = 0")  # fmt: skip
    mended = at.folder / "mended.json"
    mended.write_bytes(BROKEN % 1 + b"}")
    names = {"ITEM": items[0], "OTHER_ITEM": items[1], "mended.json": str(mended)}
    return Trouble(names, is_over=lambda: not open_items(at.lab) and len(at.lab.in_crm("opportunity")) == 3)


def spooled(at: Place) -> Trouble:
    """PostgreSQL was away: what came meanwhile lies on this host's disk, and is brought over when it is back."""
    folder = at.folder / "spool"
    seal = sealing.from_environ({"INTAKE_HOME": str(at.home)})
    file = at.folder / "intake.toml"
    table = f'[intake]\nspool_dir = "{folder}"\nspool_persistent = true\n'
    file.write_text(table + file.read_text("utf-8"), "utf-8")
    folder.mkdir()
    spool = Spool(folder, seal, 1024 * 1024)
    pool = open_pool("host=/nowhere", size=1, options=door_options(0.9), connect_timeout=1, reconnect_timeout=0.2)
    at.stack.callback(pool.close)
    door = Door(at.lab.settings, pool, now=lambda: datetime.now(UTC), new_id=uuid4, spool=spool)
    event = replace(at.lab, door=build(door, hint=lambda: None).test_client()).form()
    drainer = Drainer(spool, at.lab.settings, at.lab.desk.pool.conninfo)
    return Trouble(findings=("check",), says={"check": "bytes wait"}, meanwhile=drainer.drain, delivered=(event,))


def history(at: Place) -> Trouble:
    """A table of what came before, and a shop that knows orders of which no webhook came."""
    table = at.folder / "entries.csv"
    table.write_text("Entry Id,Date,Your name,Email\n7,2026-03-01T10:00:00-05:00,Ana Prueba,ana@example.com\n")
    api = at.stack.enter_context(graph_server())
    api.tokens = {PROOF}
    just_now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    api.objects[ORDERS] = lambda asked: [order(1, changed=just_now)] if asked.query["page"] == ["1"] else []
    file = at.folder / "intake.toml"
    file.write_text(file.read_text("utf-8") + SHOP.format(url=api.url), "utf-8")
    environ = {"SHOP": "shop-secret", "CK": KEY, "CS": SHOP_SECRET}
    at.lab.settings = load(file, {**ENVIRON, **environ}, built_in=PROVIDERS.keys())
    at.lab.desk = replace(at.lab.desk, settings=at.lab.settings)
    return Trouble(
        {"entries.csv": str(table)},
        environ=environ,
        is_over=lambda: len(at.lab.in_crm("opportunity")) == 3,  # the row as a test, as a lead, and the order
    )


SHOP = """
[[sources]]
name = "shop"
kind = "quote"
provider = "woocommerce"
secrets = ["env:SHOP"]
shop_url = "{url}"
consumer_key = "env:CK"
consumer_secret = "env:CS"
"""
