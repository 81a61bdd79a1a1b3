"""What somebody at the desk wants to know of the CRM now: a row that a worker answers, in a moment where one is free.

asked ─ a worker reads ─> live | dead | absent | unsure
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.records import RecordKind

# How long an answer counts: long enough to read a page and to say yes, too short for the CRM to be another one.
SERVES: Final = timedelta(minutes=2)
# A CRM that did not answer is asked again after this.
UNSURE: Final = timedelta(seconds=15)
# A reading that died with its worker is taken by another after this.
HOLD: Final = timedelta(seconds=30)

Outcome = Literal["live", "dead", "absent", "unsure"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A record of the CRM.  `record_id` None: it is none of ours so far."""

    destination: str
    kind: RecordKind
    crm_id: str
    record_id: int | None = None


@dataclass(frozen=True, slots=True)
class CrmRead:
    """How it stands in the CRM.  `outcome` None: nobody has read it yet.

    live: it is there.  dead: in the trash, or merged.  absent: it is not, though the sentinel is.  unsure: `reason`.
    `closed` None: the CRM does not tell.  `changed` names the fields that people changed since our last write, None:
    nobody knows.
    """

    read_id: int
    kind: RecordKind
    crm_id: str
    asked_at: datetime
    answered_at: datetime | None
    outcome: Outcome | None
    reason: str | None
    reference: str | None
    owner: str | None
    closed: bool | None
    changed: list[str] | None


ASK = """
    INSERT INTO crm_reads (destination, kind, crm_id, record_id)
    SELECT %(destination)s, %(kind)s, %(crm_id)s, %(record_id)s
     WHERE NOT EXISTS (SELECT FROM crm_reads
                        WHERE destination = %(destination)s AND kind = %(kind)s AND crm_id = %(crm_id)s
                          AND due_at IS NOT NULL AND asked_at > statement_timestamp() - %(hold)s)
"""
FORGET = "DELETE FROM crm_reads WHERE asked_at < statement_timestamp() - interval '1 day'"


def ask(conn: Conn, wanted: Sequence[Wanted]) -> None:
    """Have these read now; what is being asked already is not asked twice."""
    with conn.transaction():
        conn.execute(FORGET)
        for each in wanted:
            conn.execute(ASK, _named(each) | {"record_id": each.record_id, "hold": HOLD})


def _named(wanted: Wanted) -> dict[str, object]:
    return {"destination": wanted.destination, "kind": wanted.kind, "crm_id": wanted.crm_id}


LATEST = """
    SELECT read_id, kind, crm_id, asked_at, answered_at, outcome, reason, reference, owner, closed, changed
      FROM crm_reads
     WHERE destination = %(destination)s AND kind = %(kind)s AND crm_id = %(crm_id)s
       AND asked_at > statement_timestamp() - %(serves)s
       AND (outcome IS DISTINCT FROM 'unsure' OR answered_at > statement_timestamp() - %(unsure)s)
     ORDER BY read_id DESC LIMIT 1
"""


def latest(conn: Conn, wanted: Wanted) -> CrmRead | None:
    """The last reading of the last minutes; None: nobody asked, or the CRM did not answer and may do so by now."""
    with conn.cursor(row_factory=class_row(CrmRead)) as cursor:
        return cursor.execute(LATEST, _named(wanted) | {"serves": SERVES, "unsure": UNSURE}).fetchone()


def answers(conn: Conn, wanted: Sequence[Wanted], *, within: float = 0.0) -> list[CrmRead] | None:
    """One for each that was asked, in order; None: they are not all there within so many seconds."""
    until = time.monotonic() + within
    while True:
        found = [latest(conn, each) for each in wanted]
        answered = [each for each in found if each is not None and each.outcome is not None]
        if len(answered) == len(wanted):
            return answered
        if time.monotonic() > until:
            return None
        time.sleep(0.05)


# --- the worker's side ----------------------------------------------------------------------------------------------

CLAIM = """
    UPDATE crm_reads SET due_at = clock_timestamp() + %(hold)s
     WHERE read_id = (SELECT read_id FROM crm_reads
                       WHERE due_at <= statement_timestamp() AND destination = ANY(%(destinations)s)
                       ORDER BY due_at FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING read_id, destination, kind, crm_id, record_id
"""
ANSWER = """
    UPDATE crm_reads
       SET due_at = NULL, answered_at = clock_timestamp(), outcome = %(outcome)s, reason = %(reason)s,
           reference = %(reference)s, owner = %(owner)s, closed = %(closed)s, changed = %(changed)s
     WHERE read_id = %(read_id)s AND answered_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Claimed:
    """One that this worker reads."""

    read_id: int
    destination: str
    kind: RecordKind
    crm_id: str
    record_id: int | None


@dataclass(frozen=True, slots=True)
class Said:
    """What the CRM says of it."""

    outcome: Outcome
    reason: str | None = None
    reference: str | None = None
    owner: str | None = None
    closed: bool | None = None
    changed: list[str] | None = None


def claim(conn: Conn, destinations: list[str]) -> Claimed | None:
    """The next that nobody reads; None: there is none."""
    with conn.cursor(row_factory=class_row(Claimed)) as cursor:
        return cursor.execute(CLAIM, {"hold": HOLD, "destinations": destinations}).fetchone()


def answer(conn: Conn, claimed: Claimed, said: Said) -> None:
    """The first answer counts."""
    conn.execute(ANSWER, {
        "read_id": claimed.read_id, "outcome": said.outcome, "reason": said.reason, "reference": said.reference,
        "owner": said.owner, "closed": said.closed, "changed": said.changed,
    })  # fmt: skip


READ_BACK = """
    SELECT content FROM bodies WHERE record_id = %(record_id)s AND what = 'values' AND content IS NOT NULL
"""


def read_back(conn: Conn, record_id: int) -> bytes | None:
    """The values that the CRM showed after our last write, as JSON; None: none are kept."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: bytes | None = cursor.execute(READ_BACK, {"record_id": record_id}).fetchone()
    return found
