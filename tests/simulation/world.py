"""What happens around the pipeline: people in the CRM, hooks at boundaries, and workers that give up early."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg

from crm_clients.transport import Sent, Transport
from crm_clients.watchdog import boot_clock
from tests.integration.sandbox_calls import Caller

if TYPE_CHECKING:
    from uuid import UUID

    from crm_clients.base import Account, Request
    from tests.lab import Json, Lab

# Longer than the lease of the lab's workers, and than limit and lag of its CRM.
STEP = timedelta(seconds=31)

# What a call may take before an impatient worker gives up, in seconds: answers of this host come in a few milliseconds.
IMPATIENCE = 0.4


class Impatient(Transport):
    """Gives up a call soon, so that a test need not wait for a time-out of real length."""

    def write(
        self,
        account: Account,
        request: Request,
        *,
        send_by: float,
        deadline: float,
        on_first_byte: Callable[[], None] | None = None,
    ) -> Sent:
        soon = min(deadline, boot_clock() + IMPATIENCE)
        return super().write(account, request, send_by=send_by, deadline=soon, on_first_byte=on_first_byte)

    def look(self, account: Account, request: Request, *, deadline: float) -> Sent:
        return super().look(account, request, deadline=min(deadline, boot_clock() + IMPATIENCE))


@dataclass(slots=True)
class Hooks:
    """Does something at the first, second... time that a boundary is passed."""

    when: Mapping[tuple[str, int], Callable[[], object]]
    passed: Counter[str] = field(default_factory=Counter)

    def at(self, boundary: str) -> None:
        self.passed[boundary] += 1
        self.when.get((boundary, self.passed[boundary]), lambda: None)()


@contextmanager
def impatient(lab: Lab, when: Mapping[tuple[str, int], Callable[[], object]] | None = None) -> Iterator[None]:
    """Let the lab's worker give up early, and do things at its boundaries."""
    before = lab.desk
    with Impatient() as transport:
        lab.desk = lab.other_desk(transport=transport, at=Hooks(when or {}).at)
        yield
        lab.dials.release_late()  # Nothing is left to a server that is about to end.
    lab.desk = before


@contextmanager
def hooked(lab: Lab, when: Mapping[tuple[str, int], Callable[[], object]]) -> Iterator[None]:
    """Do things at boundaries of the lab's worker."""
    before = lab.desk
    lab.desk = lab.other_desk(at=Hooks(when).at)
    yield
    lab.desk = before


@dataclass(slots=True)
class Time:
    """Passes for the pipeline and for the CRM, whose lag and limit are told by a clock of its own."""

    lab: Lab
    passed: timedelta = timedelta(0)

    def let_pass(self, span: timedelta) -> None:
        self.passed += span
        self.lab.dials.set_clock(self.passed.total_seconds())
        self.lab.pass_time(span)

    def settle(self, rounds: int = 12, step: timedelta = STEP) -> None:
        """Work and let time pass in turn."""
        for _ in range(rounds):
            self.lab.work()
            self.let_pass(step)
        self.lab.work()


@dataclass(frozen=True, slots=True)
class People:
    """What advisers do in the CRM, past us."""

    lab: Lab

    def only(self, kind: str) -> Json:
        (record,) = self.lab.in_crm(kind)
        return record

    def edit(self, kind: str, **fields: object) -> None:
        """Change the one record of this kind."""
        assert self._call("PATCH", kind, fields) == 200

    def trash(self, kind: str) -> None:
        assert self._call("DELETE", kind, None) == 200

    def merge_contact_into(self, other: str) -> None:
        """Merge the one contact that is ours into another."""
        ours = next(each for each in self.lab.in_crm("contact") if each["id"] != other)
        self.merge(str(ours["id"]), into=other)

    def merge(self, crm_id: str, *, into: str) -> None:
        """Merge one contact into another."""
        answer = Caller(self.lab.dials.url).call("POST", f"contacts/{crm_id}/merge", {"into": into})
        assert answer.status_code == 200

    def add_contact(self, **fields: object) -> str:
        """A contact that people typed in: it has no reference."""
        return str(Caller(self.lab.dials.url).create("contacts", **fields)["id"])

    def trash_one(self, plural: str, crm_id: str) -> None:
        assert Caller(self.lab.dials.url).call("DELETE", f"{plural}/{crm_id}").status_code == 200

    def edit_one(self, plural: str, crm_id: str, **fields: object) -> None:
        assert Caller(self.lab.dials.url).call("PATCH", f"{plural}/{crm_id}", fields).status_code == 200

    def _call(self, method: str, kind: str, body: object) -> int:
        plural = "opportunities" if kind == "opportunity" else f"{kind}s"
        return Caller(self.lab.dials.url).call(method, f"{plural}/{self.only(kind)['id']}", body).status_code


def ledger(lab: Lab) -> Counter[str]:
    """How many records of each kind the CRM ever made, sentinels apart, dead or alive."""
    made = (each for each in lab.dials.ledger() if each["what"] == "created")
    return Counter(str(each["kind"]) for each in made if "sentinel" not in str(each["reference"]))


EMPTY = """
    UPDATE bodies SET content = NULL, purged_at = clock_timestamp() WHERE event_id = %s AND what = 'lead'
"""


def purged(lab: Lab, event: UUID) -> None:
    """What this event said is gone, as after the days that its source names."""
    with psycopg.connect(lab.database_url) as conn:
        conn.execute(EMPTY, [event])


def incidents(lab: Lab) -> list[str]:
    """The reasons of the open incidents."""
    rows = lab.rows("SELECT reason FROM items WHERE kind = 'incident' AND closed_at IS NULL ORDER BY item_id")
    return [str(row["reason"]) for row in rows]


def creates(lab: Lab, kind: str) -> list[Json]:
    """The create attempts at records of a kind, in order."""
    return lab.rows(
        "SELECT a.* FROM attempts a JOIN records r USING (record_id) WHERE a.action = 'create' AND r.kind = %(kind)s"
        " ORDER BY attempt_id",
        kind=kind,
    )


def looks(lab: Lab, kind: str) -> list[Json]:
    """The looks at records of a kind, in order."""
    return lab.rows(
        "SELECT a.*, r.state AS record_state FROM attempts a JOIN records r USING (record_id)"
        " WHERE a.kind = 'look' AND r.kind = %(kind)s ORDER BY attempt_id",
        kind=kind,
    )
