"""Attempts: every request to a CRM about a record.

A write is committed here before its first byte leaves, so that what was in flight when a process died is in doubt by
itself.  An attempt always takes its own answer, however late, and whoever holds the lease by then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal
from uuid import UUID

from psycopg import errors
from psycopg.rows import scalar_row, tuple_row
from psycopg.types.json import Jsonb

from intake import carried, deliveries, records
from intake.at_rest import Payload
from intake.db import Conn
from intake.deliveries import Claim
from intake.records import Record

WriteOutcome = Literal["not_sent", "confirmed", "retry", "rejected", "uncertain"]
LookOutcome = Literal["found", "absent", "several", "unsure"]
Action = Literal["find", "read", "match"]


class RecordMoved(Exception):
    """The record is no longer as it was read: nothing was committed, nothing may be sent."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is about to be sent.  `values`: the guarded fields as we want them, to know them again by a look.

    `carries`: the other events whose words it holds; None: it never held others', and holds none.
    """

    action: Literal["create", "update"]
    body: bytes = field(repr=False)
    values: bytes = field(default=b"", repr=False)
    carries: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class Patience:
    """How long things may take.  The lease outlives a write that gets no answer, the look after it and a control call:
    when it is over, nothing leaves, and a stalled CRM does not cost a worker its claim.

    `send_within`: from the commit to the first byte.  `call`: from the first byte to the end of the answer.  `look`: of
    a request that changes nothing.
    """

    lease: timedelta = timedelta(seconds=60)
    send_within: timedelta = timedelta(seconds=5)
    call: timedelta = timedelta(seconds=30)
    look: timedelta = timedelta(seconds=10)


# --- a write: prepared ----------------------------------------------------------------------------------------------

# One statement and one round trip: each part follows from the row of the one before it.  The record is locked as it
# stands now, which may be newer than what the statement saw when it began.
PREPARE = f"""
    WITH lease AS ({deliveries.EXTEND}),
    ready AS (
        SELECT record_id FROM records, lease WHERE {records.WRITABLE} FOR NO KEY UPDATE OF records),
    attempt AS (
        INSERT INTO attempts (record_id, destination, event_id, generation, claim_token, kind, action, send_by)
        SELECT record_id, %(destination)s, %(event_id)s, %(generation)s, %(token)s, 'write', %(action)s,
               clock_timestamp() + %(send_within)s
          FROM ready
        RETURNING attempt_id),
    asked AS ({records.ASK}),
    kept AS (
        INSERT INTO bodies (what, attempt_id, content)
        SELECT what, attempt_id, content
          FROM attempt, (VALUES ('request', %(request)s::bytea), ('values', %(values)s)) AS sent (what, content)
         WHERE content IS NOT NULL)
    SELECT attempt_id FROM lease LEFT JOIN attempt ON true
"""  # noqa: S608  # statements of ours


def prepare(conn: Conn, held: Claim, record: Record, draft: Draft, patience: Patience) -> int:
    """Commit one write: the lease is checked and lasts from now, the record is asked; returns the attempt_id.

    Raises LostClaim, RecordMoved and MembersMoved; then nothing may be sent, and no attempt was committed.
    """
    alone = nullcontext() if draft.carries is None else conn.transaction()
    try:
        with alone, conn.cursor(row_factory=tuple_row) as cursor:
            asked = cursor.execute(PREPARE, _preparing(held, record, draft, patience)).fetchone()
            if asked is None:
                raise deliveries.LostClaim(f"delivery {held.event_id}")
            if asked[0] is None:
                raise RecordMoved(f"record {record.record_id}")
            if draft.carries is not None:
                carried.fix(conn, held, record, draft.carries)
    except errors.UniqueViolation as other:
        raise RecordMoved(f"record {record.record_id} has an unsettled write") from other
    except errors.CheckViolation as stands:
        raise RecordMoved(f"record {record.record_id} stands in the CRM") from stands
    return int(asked[0])


def _preparing(held: Claim, record: Record, draft: Draft, patience: Patience) -> dict[str, object]:
    return {
        "event_id": held.event_id,
        "generation": held.generation,
        "token": held.token,
        "lease": patience.lease,
        "send_within": patience.send_within,
        "record_id": record.record_id,
        "destination": record.destination,
        "crm_id": record.crm_id,
        "action": draft.action,
        "request": _payload(draft.body),
        "values": _payload(draft.values),
    }


def _payload(content: bytes) -> Payload | None:
    """None: there is nothing to keep."""
    return Payload(content) if content else None


# --- a write: closed ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """How a write ended, for us.

    `sent_after` and `answered_after` are since it was prepared; None: no byte left, no whole answer came.
    `evidence`: status, ids and words of ours; no content.
    """

    outcome: WriteOutcome
    reason: str | None = None
    sent_after: timedelta | None = None
    answered_after: timedelta | None = None
    body: bytes = field(default=b"", repr=False)
    evidence: Mapping[str, object] = field(default_factory=dict)


# A sure outcome settles the doubt at once; one that comes after the doubt was settled otherwise keeps that settlement.
CLOSE = """
    UPDATE attempts
       SET outcome = %(outcome)s, reason = %(reason)s, evidence = evidence || %(evidence)s,
           closed_at = clock_timestamp(), sent_at = prepared_at + %(sent_after)s,
           answered_at = prepared_at + %(answered_after)s,
           confirmed_at = CASE WHEN %(outcome)s = 'confirmed' THEN clock_timestamp() ELSE confirmed_at END,
           settled_at = CASE WHEN %(outcome)s = 'uncertain' THEN settled_at
                             ELSE coalesce(settled_at, clock_timestamp()) END,
           settled_how = CASE WHEN %(outcome)s = 'uncertain' THEN settled_how ELSE coalesce(settled_how, 'answer') END
     WHERE attempt_id = %(attempt_id)s
"""


KEEP_ANSWER = "INSERT INTO bodies (what, attempt_id, content) VALUES ('answer', %(attempt_id)s, %(body)s)"

# A usual answer, in one statement with what it means.  Nothing is written where the record has moved on.
CONFIRM = f"""
    WITH known AS ({records.KNOW}),
    forgotten AS (DELETE FROM bodies WHERE record_id = (SELECT record_id FROM known)),
    closed AS ({CLOSE} AND EXISTS (SELECT FROM known) RETURNING attempt_id),
    kept AS (
        INSERT INTO bodies (what, attempt_id, content)
        SELECT 'answer', attempt_id, %(body)s::bytea FROM closed WHERE %(body)s::bytea IS NOT NULL)
    SELECT FROM closed
"""  # noqa: S608  # statements of ours


def close(conn: Conn, attempt_id: int, answer: Answer) -> None:
    """Note how the write ended.  Belongs in one transaction with what it means for the record."""
    given = _closing(attempt_id, answer)
    conn.execute(CLOSE, given)
    if answer.body:
        conn.execute(KEEP_ANSWER, given)


def confirm(conn: Conn, record_id: int, attempt_id: int, answer: Answer, *, crm_id: str) -> bool:
    """Note that the write made the record, or changed it (`answer.reason`: how we know); commits if no transaction is
    open.  False: the record has moved on, and nothing was noted."""
    given = {"record_id": record_id, "write_id": attempt_id, "crm_id": crm_id, "how": answer.reason}
    return conn.execute(CONFIRM, _closing(attempt_id, answer) | given).rowcount == 1


def _closing(attempt_id: int, answer: Answer) -> dict[str, object]:
    return {
        "attempt_id": attempt_id,
        "outcome": answer.outcome,
        "reason": answer.reason,
        "evidence": Jsonb(dict(answer.evidence)),
        "sent_after": answer.sent_after,
        "answered_after": answer.answered_after,
        "body": _payload(answer.body),
    }


# --- a look ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LookNote:
    """One look, over.  `controlled`: the same filter found the sentinel just before; None: no control was needed."""

    action: Action
    outcome: LookOutcome
    reason: str | None = None
    strength: Literal["strong", "weak"] = "strong"
    controlled: bool | None = None
    took: timedelta = timedelta(0)
    answered: bool = True
    evidence: Mapping[str, object] = field(default_factory=dict)


NOTE_LOOK = """
    INSERT INTO attempts (record_id, destination, event_id, generation, claim_token, kind, action, prepared_at, sent_at,
                          answered_at, closed_at, outcome, reason, strength, controlled, evidence)
    SELECT %(record_id)s, %(destination)s, %(event_id)s, %(generation)s, %(token)s, 'look', %(action)s, now - %(took)s,
           now - %(took)s, CASE WHEN %(answered)s THEN now END, now, %(outcome)s, %(reason)s, %(strength)s,
           %(controlled)s, %(evidence)s
      FROM (SELECT clock_timestamp() AS now) AS clock
"""


def note_look(conn: Conn, record: Record, note: LookNote, held: Claim | None = None) -> None:
    """Keep what was asked and seen.  `held`: the delivery that looked, None: the clock's look at the record itself."""
    conn.execute(NOTE_LOOK, noting(record, note, held))


def noting(record: Record, note: LookNote, held: Claim | None = None) -> dict[str, object]:
    """What NOTE_LOOK is given."""
    return {
        "record_id": record.record_id,
        "destination": record.destination,
        "event_id": held.event_id if held else None,
        "generation": held.generation if held else None,
        "token": held.token if held else None,
        "action": note.action,
        "took": note.took,
        "answered": note.answered,
        "outcome": note.outcome,
        "reason": note.reason,
        "strength": note.strength,
        "controlled": note.controlled,
        "evidence": Jsonb(dict(note.evidence)),
    }


# --- what was read back ----------------------------------------------------------------------------------------------

READ_BACK = """
    INSERT INTO bodies (what, record_id, content) VALUES ('values', %(record_id)s, %(content)s)
    ON CONFLICT (record_id) WHERE record_id IS NOT NULL
    DO UPDATE SET content = EXCLUDED.content, purged_at = NULL
"""
READ_BACK_OF = "SELECT content FROM bodies WHERE record_id = %(record_id)s AND content IS NOT NULL"


def keep_read_back(conn: Conn, record_id: int, values: bytes) -> None:
    """The guarded fields as the CRM shows them after our last write: only what still reads so may be changed."""
    conn.execute(READ_BACK, {"record_id": record_id, "content": Payload(values)})


def read_back(conn: Conn, record_id: int) -> bytes | None:
    """What `keep_read_back` kept last; None: nothing, or purged."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(READ_BACK_OF, {"record_id": record_id}).fetchone()


FORGET_READ_BACK = "DELETE FROM bodies WHERE record_id = %(record_id)s"
LAST_SENT = """
    SELECT b.content FROM attempts a JOIN bodies b USING (attempt_id)
     WHERE a.record_id = %(record_id)s AND a.kind = 'write' AND b.what = 'values' AND b.content IS NOT NULL
       AND (a.outcome = 'confirmed' OR a.settled_how = 'look')
     ORDER BY a.attempt_id
"""


def forget_read_back(conn: Conn, record_id: int) -> None:
    """It is older than our last write, which has not been read back, and never may be."""
    conn.execute(FORGET_READ_BACK, {"record_id": record_id})


def last_sent(conn: Conn, record_id: int) -> bytes | None:
    """The guarded fields as our confirmed writes sent them, the last one of each; None: nothing, or purged."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        sent = [json.loads(each) for each in cursor.execute(LAST_SENT, {"record_id": record_id})]
    newest: dict[str, str] = {name: value for one in sent for name, value in one.items()}
    return json.dumps(newest).encode() if newest else None


# --- budgets --------------------------------------------------------------------------------------------------------

# Budgets count attempts by outcome, so there is no counter that would have to be refunded.  What came to nothing
# because the whole account did not work (the claim ended with its pause) is no try of this delivery.
TRIED = """
    SELECT count(*) FROM attempts a
     WHERE event_id = %(event_id)s AND generation = %(generation)s AND kind = 'write'
       AND outcome IN ('not_sent', 'retry')
       AND prepared_at > coalesce((SELECT max(at) FROM decisions WHERE event_id = %(event_id)s), '-infinity')
       AND NOT EXISTS (
           SELECT FROM delivery_history h
            WHERE h.event_id = a.event_id AND h.generation = a.generation AND h.claim_token = a.claim_token
              AND h.reason = 'account_paused')
"""


def tried(conn: Conn, held: Claim) -> int:
    """How many writes of this delivery came to nothing since a person last decided about it."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        count: int | None = cursor.execute(TRIED, {"event_id": held.event_id, "generation": held.generation}).fetchone()
    return count or 0
