"""The troubles of the runbook with what the door could not take: refused, unread, spooled, and what nobody sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

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
from tests.acceptance.troubles import Place, Trouble, open_items
from tests.graph_server import graph_server
from tests.lab import ENVIRON
from tests.simulation.shop import KEY, ORDERS, PROOF, order
from tests.simulation.shop import SECRET as SHOP_SECRET

WRONG = "whsec_" + "b3RoZXItc2VjcmV0LW9mLXR3ZW50eS1mb3Vy"
BROKEN = b'{"name": "Ana Prueba", "email": "rota%d@example.com"'


def wrong_secret(at: Place) -> Trouble:
    """A day's deliveries were refused; the right secret has just been put in its place."""
    keeper = Keeper(at.address, sealing.from_environ({"INTAKE_HOME": str(at.home)}), new_id=uuid4)
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
    drainer = Drainer(spool, at.lab.settings, at.address)
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
