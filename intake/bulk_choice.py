"""Which events one decision about many means, how many those are, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.deliveries import FINAL, OPEN


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events.  `state` "pending": all that are not final; `reason_word`: stands in the reason.

    `cause`: the whole reason, as events share it.
    """

    state: str | None = None
    source: str | None = None
    since: datetime | None = None
    reason_word: str | None = None
    cause: str | None = None

    @property
    def is_empty(self) -> bool:
        """It would mean everything that ever came."""
        return not any((self.state, self.source, self.since, self.reason_word, self.cause))


# Without a state only open events are meant: a filter by source alone must not reach into years of ended ones.
MATCHING = """
    SELECT d.event_id, d.state, coalesce(d.reason, '') AS reason
      FROM deliveries d
     WHERE d.state = ANY(%(states)s)
       AND d.generation = (SELECT max(generation) FROM deliveries WHERE event_id = d.event_id)
       AND (%(source)s::text IS NULL OR d.source = %(source)s)
       AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
       AND (%(reason_word)s::text IS NULL OR position(%(reason_word)s in coalesce(d.reason, '')) > 0)
       AND (%(cause)s::text IS NULL OR d.reason = %(cause)s)
"""
COUNT = f"""
    SELECT state, reason, count(*) AS events, min(event_id::text)::uuid AS example FROM ({MATCHING}) AS m
     GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2
"""  # noqa: S608  # our own words


def given(wanted: Filter) -> dict[str, object]:
    """For MATCHING."""
    known = {*OPEN, *FINAL}
    states = [wanted.state] if wanted.state in known else list(OPEN)
    return {
        "states": states,
        "source": wanted.source,
        "since": wanted.since,
        "reason_word": wanted.reason_word,
        "cause": wanted.cause,
    }


@dataclass(frozen=True, slots=True)
class Counted:
    """How many events of one state and reason, and one of them."""

    state: str
    reason: str
    events: int
    example: UUID


def count(conn: Conn, wanted: Filter) -> list[Counted]:
    """What a run would be about."""
    with conn.cursor(row_factory=class_row(Counted)) as cursor:
        return cursor.execute(COUNT, given(wanted)).fetchall()


# --- what was seen --------------------------------------------------------------------------------------------------

# A revision never changes, so these two tell which events are meant, and what each of them says.
CONTENTS = f"""
    SELECT event_id, (SELECT max(revision) FROM bodies WHERE event_id = m.event_id AND what = 'lead') AS revision
      FROM ({MATCHING}) AS m
"""  # noqa: S608
FINGERPRINT = """
    SELECT encode(sha256(convert_to(coalesce(
             string_agg(event_id || ':' || coalesce(revision, 0), ',' ORDER BY event_id), ''), 'UTF8')), 'hex')
      FROM ({0}) AS c
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """What somebody looked at before deciding.  `fingerprint` of the contents, None: only the number was looked at."""

    events: int
    fingerprint: str | None = None


def fingerprint(conn: Conn, wanted: Filter) -> str:
    """Of all that matches now: another one where another event matches, or one says something else."""
    return fingerprint_of(conn, CONTENTS, given(wanted))


def fingerprint_of(conn: Conn, contents: str, parameters: dict[str, object]) -> str:
    """`contents` is a SELECT of event_id and revision."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return str(cursor.execute(FINGERPRINT.format(contents), parameters).fetchone())
