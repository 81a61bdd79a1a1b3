"""What was refused at the door, counted by source and reason; and what is kept of it, to be verified again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg.rows import class_row, dict_row

from intake.db import Conn

# So far back refusals are shown, today included.
DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class Refused:
    """What was refused of a source for one reason.  `source` "": none of ours.

    `first`, `last`: when those hours began.
    """

    source: str
    reason: str
    number: int
    first: datetime
    last: datetime


REFUSED: Final = """
    SELECT source, reason, sum(count)::bigint AS number, min(hour) AS first, max(hour) AS last
      FROM refusals WHERE hour >= %(since)s AND (%(source)s::text IS NULL OR source = %(source)s)
     GROUP BY source, reason ORDER BY max(hour) DESC, sum(count) DESC LIMIT 200
"""
KEPT: Final = """
    SELECT source, count(*) AS number FROM receipts WHERE verdict = 'refused' AND received_at >= %(since)s
     GROUP BY source
"""


def refused(conn: Conn, *, since: datetime, source: str | None = None) -> list[Refused]:
    """By source and reason, the latest first; hours are as fine as it is counted."""
    with conn.cursor(row_factory=class_row(Refused)) as cursor:
        return cursor.execute(REFUSED, {"since": since, "source": source}).fetchall()


def kept(conn: Conn, *, since: datetime) -> dict[str, int]:
    """How many refused bodies are kept of each source, to be verified again."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return {str(row["source"]): int(row["number"]) for row in cursor.execute(KEPT, {"since": since}).fetchall()}
