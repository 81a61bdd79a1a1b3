"""Somebody who works on the CRM and on the database past every line of ours."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

from intake.reconcile import Reconciliation
from tests.integration.sandbox_calls import Caller
from tests.lab import Json, Lab
from tests.simulation.world import incidents
from workers.commands.reconciling import run
from workers.reconcile import Found


def reconciled(lab: Lab) -> tuple[Reconciliation, list[Found]]:
    """A whole run, with all that is verified."""
    return run(lab.desk, since=None, verified=True, per_second=None, told=lambda _step: None)


def reasons(lab: Lab) -> set[str]:
    """The reasons of a run's incidents; every one is an open item."""
    result, found = reconciled(lab)
    assert {each.incident.reason for each in found} == set(result.incidents) == set(incidents(lab))
    return set(result.incidents)


@dataclass(frozen=True, slots=True)
class Intruder:
    """Has all rights everywhere."""

    lab: Lab

    def sql(self, statement: str) -> None:
        """Without foreign keys, triggers and checks of arrows."""
        with psycopg.connect(self.lab.database_url) as conn:
            conn.execute("SET session_replication_role = replica")
            conn.execute(statement.encode())

    def crm(self, method: str, path: str, body: object = None) -> None:
        answer = Caller(self.lab.dials.url).call(method, path, body)
        assert answer.ok, answer.text

    def crm_made(self, plural: str, **fields: object) -> str:
        """A record that people typed in; its id."""
        return str(Caller(self.lab.dials.url).create(plural, **fields)["id"])

    def only(self, kind: str) -> Json:
        (found,) = self.lab.in_crm(kind)
        return found

    def edit(self, kind: str, **changes: object) -> None:
        plural = "opportunities" if kind == "opportunity" else f"{kind}s"
        self.crm("PATCH", f"{plural}/{self.only(kind)['id']}", changes)

    def trash(self, kind: str) -> None:
        plural = "opportunities" if kind == "opportunity" else f"{kind}s"
        self.crm("DELETE", f"{plural}/{self.only(kind)['id']}")

    def double(self, kind: str) -> None:
        """Another with the same reference."""
        made = self.only(kind)
        plural = "opportunities" if kind == "opportunity" else f"{kind}s"
        body = {name: made[name] for name in ("reference", "contact_id", "opportunity_id") if name in made}
        self.crm("POST", plural, body | {"name" if kind == "contact" else "title": "Otra"})

    def merge(self) -> None:
        ours = self.only("contact")["id"]
        other = self.crm_made("contacts", name="Otra persona")
        self.crm("POST", f"contacts/{ours}/merge", {"into": other})
        self.crm("DELETE", f"contacts/{other}")

    def make(self, reference: str) -> None:
        """An opportunity under a reference that only looks like ours."""
        contact = self.only("contact")["id"]
        self.crm("POST", "opportunities", {"title": "Ajena", "contact_id": contact, "reference": reference})
