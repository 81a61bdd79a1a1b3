"""The lab, with a running BottleCRM in the place of the sandbox.

The CRM keeps what earlier runs left there, so that every run invents its own people and numbers (`run`).
"""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

from crm_clients.sandbox.dials import Dials
from crm_clients.transport import Transport
from intake import installation
from intake.app import build
from intake.attempts import Patience
from intake.config import load
from intake.db import open_pool
from intake.sources import PROVIDERS
from tests import unhurried
from tests.bottlecrm_server import Row, Server
from tests.lab import ENVIRON, SOURCES, Lab
from workers import checks
from workers.checks import Finding
from workers.desk import Desk, Wired
from workers.wiring import wire

DESTINATION = """
[[destinations]]
name = "crm"
client = "bottlecrm"
base_url = "{url}"
credential = "env:BOTTLECRM_TOKEN"
currency = "USD"
assume_limit = 30
[destinations.owner]
rule = "affinity, round_robin"
users = ["{alice}", "{bob}"]

[defaults]
destination = "crm"
"""

# A real server answers a create in a tenth of a second or two.
PATIENCE = Patience(lease=timedelta(seconds=40), send_within=timedelta(seconds=5), call=timedelta(seconds=10))
NOWHERE = "http://127.0.0.1:9"

UUID_IN_TEXT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class BottleLab:
    """A pipeline and the CRM that it delivers to.  `run`: eight digits that no earlier run used."""

    lab: Lab
    crm: Server
    run: str

    @property
    def name(self) -> str:
        return f"Rosa Quispe {self.run}"

    @property
    def email(self) -> str:
        return f"rosa.{self.run}@example.com"

    @property
    def phone(self) -> str:
        """As a person types it."""
        return f"9{self.run}"

    @property
    def number(self) -> str:
        return f"COT-{self.run}"

    # --- sending ---

    def form(self, **answers: str) -> UUID:
        """One form of this run's person."""
        known = {"name": self.name, "email": self.email, "phone": self.phone, "message": "Quiero una bomba de 2 HP."}
        return self.lab.form(delivery_id=f"msg_{self.run}_{next(self.lab.counter)}", **(known | answers))

    def quote(self, version: int, amount: str, **more: object) -> UUID:
        """One version of this run's quote."""
        contact = {"name": self.name, "phone": self.phone, "email": self.email}
        return self.lab.quote(self.number, version, amount, **({"currency": "USD", "contact": contact} | more))

    def whatsapp(self, *texts: str) -> list[UUID]:
        """Messages of this run's person."""
        return self.lab.whatsapp(*texts, sender=f"51{self.phone}", name=self.name)

    # --- what the CRM shows ---

    def contacts(self) -> list[Row]:
        """Every contact that has this run's phone or e-mail, under whatever reference."""
        found = [*self.crm.contacts(email=self.email), *self.crm.contacts(phone=self.phone)]
        return list({str(each["id"]): each for each in found}.values())

    def opportunities(self) -> list[Row]:
        """Every opportunity that has this run's name in its own."""
        return self.crm.opportunities(name=self.run)

    def opportunity(self) -> Row:
        """The only one."""
        (one,) = self.opportunities()
        return self.crm.opportunity(str(one["id"]))

    def tasks(self) -> list[Row]:
        """Every task that has this run's name in its own, on whatever opportunity."""
        return self.crm.tasks(title=self.run)

    def reference(self, event: UUID, kind: str) -> str:
        """The reference of a record that an event is linked to, as our tables have it."""
        (row,) = self.lab.rows(
            f"SELECT r.reference FROM deliveries d JOIN records r ON r.record_id = d.{kind}_record"  # noqa: S608
            " WHERE d.event_id = %(event)s",
            event=event,
        )
        return str(row["reference"])

    def writes(self, event: UUID, kind: str) -> list[tuple[object, object, object]]:
        """Action, outcome and settlement of every write at a record of an event, in order."""
        return [
            (each["action"], each["outcome"], each["settled_how"])
            for each in self.lab.attempts(event)
            if each["kind"] == "write" and each["record"] == kind
        ]

    def reasons(self, event: UUID, kind: str) -> list[object]:
        """Why every write at a record of an event ended as it did, in order."""
        made = self.lab.attempts(event)
        return [each["reason"] for each in made if each["kind"] == "write" and each["record"] == kind]

    def looks(self, event: UUID, kind: str) -> list[object]:
        """What every look at a record of an event saw, in order."""
        seen = self.lab.attempts(event)
        return [each["outcome"] for each in seen if each["kind"] == "look" and each["record"] == kind]

    # --- working ---

    def wired(self) -> Wired:
        return self.lab.desk.wired["crm"]

    def desk(self, *, url: str | None = None, token: str | None = None, **changes: object) -> Desk:
        """A desk like the lab's, whose account has another address or token."""
        wired = self.wired()
        headers = wired.account.headers if token is None else (("Authorization", f"Bearer {token}"),)
        account = replace(wired.account, base_url=url or wired.account.base_url, headers=headers)
        return self.lab.other_desk(wired={"crm": replace(wired, account=account)}, **changes)

    def check(self, desk: Desk | None = None) -> list[Finding]:
        """What `intake crm check --create` says."""
        at = desk or self.lab.desk
        return list(checks.check(at, at.wired["crm"], create=True))


def standing_installation(crm: Server) -> UUID:
    """Whose sentinels stand in the account: all runs of these tests are one installation."""
    texts = [str(row["description"]) for row in crm.contacts(cf_external_ref="intake-sentinel-contact")]
    named = [found for text in texts if (found := UUID_IN_TEXT.search(text))]
    return UUID(named[0][0]) if named else uuid4()


@contextmanager
def bottlecrm_lab(
    database_url: str,
    folder: Path,
    crm: Server,
    *,
    patience: Patience = PATIENCE,
    at: Callable[[str], None] = lambda _boundary: None,
) -> Iterator[BottleLab]:
    """A lab that delivers to this server, with sentinels in place."""
    file = folder / "intake.toml"
    file.write_text(DESTINATION.format(url=crm.base_url, alice=crm.alice, bob=crm.bob) + SOURCES, "utf-8")
    settings = load(file, ENVIRON | {"BOTTLECRM_TOKEN": crm.token}, built_in=PROVIDERS.keys())
    pool = open_pool(database_url, size=12)
    door_pool = unhurried.door_pool(database_url, size=20)
    with pool, door_pool, Transport() as transport:
        with pool.connection() as conn:
            conn.execute("UPDATE installation SET installation_id = %s", [standing_installation(crm)])
            here = installation.read(conn)
        wired = {"crm": wire(settings.destinations["crm"], {})}
        desk = Desk(pool, settings, here, wired, transport, patience=patience, jitter=lambda: 0.0, at=at)
        app = build(unhurried.door(settings, door_pool), hint=lambda: None)
        # Message ids are identity, and what earlier runs made of theirs stands in the CRM.
        counter = itertools.count(secrets.randbelow(10**15))
        lab = Lab(database_url, settings, pool, app.test_client(), desk, Dials(NOWHERE), counter=counter)
        made = BottleLab(lab, crm, f"{secrets.randbelow(10**8):08}")
        findings = made.check()
        assert all(finding.ok for finding in findings), findings
        yield made
