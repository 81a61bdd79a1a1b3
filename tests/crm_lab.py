"""The lab with a running CRM in the place of the sandbox, whichever it is.

A CRM keeps what earlier runs left there, so that every run invents its own people and numbers (`run`).
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator, Mapping
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
from tests.lab import ENVIRON, SOURCES, Lab
from workers import checks
from workers.checks import Finding
from workers.desk import Desk, Wired
from workers.wiring import wire

# A real server answers a create in a tenth of a second or two.
PATIENCE = Patience(lease=timedelta(seconds=40), send_within=timedelta(seconds=5), call=timedelta(seconds=10))
# A worker that soon gives up; a create takes a second on a busy machine.
HASTY = replace(PATIENCE, send_within=timedelta(seconds=4), call=timedelta(seconds=4))
NOWHERE = "http://127.0.0.1:9"

DEFAULTS = """
[defaults]
destination = "crm"
"""


@dataclass(frozen=True, slots=True)
class CrmLab:
    """A pipeline that delivers to a real CRM.  `run`: eight digits that no earlier run used."""

    lab: Lab
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

    # --- sending ---

    def form(self, **answers: str) -> UUID:
        """One form of this run's person."""
        known = {"name": self.name, "email": self.email, "phone": self.phone, "message": "Quiero una bomba de 2 HP."}
        return self.lab.form(delivery_id=f"msg_{self.run}_{next(self.lab.counter)}", **(known | answers))

    def quote(self, version: int, amount: str, **more: object) -> UUID:
        """One version of this run's quote."""
        contact = {"name": self.name, "phone": self.phone, "email": self.email}
        told = {"currency": "USD", "contact": contact} | more
        return self.lab.quote(f"COT-{self.run}", version, amount, **told)

    def whatsapp(self, *texts: str) -> list[UUID]:
        """Messages of this run's person."""
        return self.lab.whatsapp(*texts, sender=f"51{self.phone}", name=self.name)

    # --- what we know of it ---

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

    # --- working ---

    @property
    def wired(self) -> Wired:
        return self.lab.desk.wired["crm"]

    def desk(self, *, url: str | None = None, **changes: object) -> Desk:
        """A desk like the lab's, whose account has another address."""
        account = self.wired.account
        moved = replace(self.wired, account=replace(account, base_url=url or account.base_url))
        return self.lab.other_desk(wired={"crm": moved}, **changes)

    def check(self, desk: Desk | None = None) -> list[Finding]:
        """What `intake crm check --create` says."""
        at = desk or self.lab.desk
        return list(checks.check(at, at.wired["crm"], create=True))


@contextmanager
def crm_lab(
    database_url: str, folder: Path, destination: str, environ: Mapping[str, str], *, ours: UUID | None
) -> Iterator[CrmLab]:
    """A lab that delivers to the `[[destinations]]` named crm, with sentinels in place.

    `ours`: whose sentinels stand there already, None: nobody's.  All runs of these tests are one installation.
    """
    file = folder / "intake.toml"
    file.write_text(destination + DEFAULTS + SOURCES, "utf-8")
    settings = load(file, ENVIRON | dict(environ), built_in=PROVIDERS.keys())
    pool = open_pool(database_url, size=12)
    door_pool = unhurried.door_pool(database_url, size=20)
    with pool, door_pool, Transport() as transport:
        with pool.connection() as conn:
            conn.execute("UPDATE installation SET installation_id = %s", [ours or uuid4()])
            here = installation.read(conn)
        wired = {"crm": wire(settings.destinations["crm"], {})}
        desk = Desk(pool, settings, here, wired, transport, patience=PATIENCE, jitter=lambda: 0.0)
        app = build(unhurried.door(settings, door_pool), hint=lambda: None)
        # Message ids are identity, and what earlier runs made of theirs stands in the CRM.
        counter = itertools.count(secrets.randbelow(10**15))
        lab = Lab(database_url, settings, pool, app.test_client(), desk, Dials(NOWHERE), counter=counter)
        made = CrmLab(lab, f"{secrets.randbelow(10**8):08}")
        findings = made.check()
        assert all(finding.ok for finding in findings), findings
        yield made
