"""One decision about many events.  Which events is fixed when it is made; each is decided in a transaction of its own.

whoever lives goes on with what is left · stop: what is not done yet is left as it was · a result stands beside each
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal, assert_never, get_args
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row
from psycopg.types.json import Jsonb

from intake import decided, decisions, spam
from intake.bulk_choice import CONTENTS, Counted, Filter, Seen, count, fingerprint, fingerprint_of, given
from intake.config import Settings
from intake.db import Conn
from intake.decided import Author, Refused
from intake.decisions import Approval
from intake.person_arrows import NotAllowed

__all__ = [
    "BULK_ACTIONS", "BulkAction", "Counted", "Filter", "OtherContent", "OtherNumber", "Run", "Seen", "begin", "count",
    "fingerprint", "go_on", "results", "results_after", "run", "runs", "step", "stop", "tally",
]  # fmt: skip

BulkAction = Literal["revive", "look", "approve", "decline", "cancel", "spam", "replay"]
BULK_ACTIONS: tuple[BulkAction, ...] = get_args(BulkAction)


# --- a run ----------------------------------------------------------------------------------------------------------

OPEN_RUN = """
    INSERT INTO bulk_runs (action, author, reason, filter) VALUES (%(action)s, %(author)s, %(reason)s, %(filter)s)
    RETURNING bulk_id
"""
FIX = f"INSERT INTO bulk_items (bulk_id, event_id, revision) SELECT %(bulk_id)s, c.* FROM ({CONTENTS}) AS c"  # noqa: S608
FIXED = "SELECT event_id, revision FROM bulk_items WHERE bulk_id = %(bulk_id)s"


class OtherNumber(Exception):
    """Nothing was begun: by now so many match, and another number was meant."""

    def __init__(self, events: int) -> None:
        super().__init__(str(events))
        self.events = events


class OtherContent(Exception):
    """Nothing was begun: as many match as were seen, and they are others, or one of them says something else by now."""


def begin(conn: Conn, author: Author, action: BulkAction, wanted: Filter, *, seen: Seen | None = None) -> int:
    """Fix the events of a run, and the content of each; returns its bulk_id.  Nothing is decided yet.

    `seen`: what somebody looked at, and means; None: whatever matches.  Raises OtherNumber, OtherContent.
    """
    shown = {name: str(value) for name, value in asdict(wanted).items() if value is not None}
    opened = {"action": action, "author": author.by, "reason": author.reason, "filter": Jsonb(shown)}
    with conn.transaction(), conn.cursor(row_factory=scalar_row) as cursor:
        bulk_id: int | None = cursor.execute(OPEN_RUN, opened).fetchone()
        assert bulk_id is not None  # noqa: S101  # RETURNING returns a row
        fixed = cursor.execute(FIX, given(wanted) | {"bulk_id": bulk_id}).rowcount
        if seen is not None and fixed != seen.events:
            raise OtherNumber(fixed)
        if seen is not None and seen.fingerprint not in {None, fingerprint_of(conn, FIXED, {"bulk_id": bulk_id})}:
            raise OtherContent
    return bulk_id


STOP = "UPDATE bulk_runs SET stopped_at = clock_timestamp() WHERE bulk_id = %(bulk_id)s AND stopped_at IS NULL"
GO_ON = "UPDATE bulk_runs SET stopped_at = NULL WHERE bulk_id = %(bulk_id)s"


def stop(conn: Conn, bulk_id: int) -> bool:
    """Leave what is not done yet as it is.  False: there is no such run, or it was stopped before."""
    return conn.execute(STOP, {"bulk_id": bulk_id}).rowcount == 1


def go_on(conn: Conn, bulk_id: int) -> bool:
    """Let a run that was stopped go on.  False: there is no such run."""
    return conn.execute(GO_ON, {"bulk_id": bulk_id}).rowcount == 1


@dataclass(frozen=True, slots=True)
class _Next:
    bulk_id: int
    event_id: UUID
    action: BulkAction
    author: str
    reason: str
    revision: int | None


# Two that work on one run do not wait for each other, nor do one event twice.
NEXT = """
    SELECT i.bulk_id, i.event_id, i.revision, r.action, r.author, r.reason
      FROM bulk_items i JOIN bulk_runs r USING (bulk_id)
     WHERE i.result IS NULL AND r.stopped_at IS NULL AND (%(bulk_id)s::bigint IS NULL OR i.bulk_id = %(bulk_id)s)
     ORDER BY i.bulk_id, i.event_id LIMIT 1 FOR UPDATE OF i SKIP LOCKED
"""
DONE = """
    UPDATE bulk_items SET result = %(result)s, done_at = clock_timestamp()
     WHERE bulk_id = %(bulk_id)s AND event_id = %(event_id)s
"""


def step(conn: Conn, settings: Settings, *, bulk_id: int | None = None) -> bool:
    """Decide about the next event, of this run or of any.  False: none is left, or others have what is left in hand."""
    with conn.transaction():
        with conn.cursor(row_factory=class_row(_Next)) as cursor:
            found = cursor.execute(NEXT, {"bulk_id": bulk_id}).fetchone()
        if found is None:
            return False
        result = _decide(conn, settings, found)
        conn.execute(DONE, {"bulk_id": found.bulk_id, "event_id": found.event_id, "result": result})
    return True


def _decide(conn: Conn, settings: Settings, item: _Next) -> str:
    """What became of it: done, or the word for why it was refused."""
    author = Author(item.author, item.reason)
    try:
        with conn.transaction():
            _take(conn, settings, author, item)
    except Refused as refused:
        return refused.why
    except NotAllowed:
        return "moved_meanwhile"
    except LookupError:
        return "missing"
    return "done"


def _take(conn: Conn, settings: Settings, author: Author, item: _Next) -> None:
    match item.action:
        case "revive":
            decisions.revive(conn, author, item.event_id)
        case "look":
            decisions.look(conn, author, item.event_id)
        case "approve":
            source = settings.sources.get(decided.view(conn, item.event_id).event.source)
            lasts = source.approval_lasts if source else None
            decisions.approve(conn, author, item.event_id, Approval(item.revision, lasts=lasts))
        case "decline" | "cancel":
            decisions.cancel(conn, author, item.event_id, action=item.action)
        case "spam":
            spam.mark(conn, author, item.event_id)
        case "replay":
            _replay(conn, author, item.event_id)
        case _:
            assert_never(item.action)


def _replay(conn: Conn, author: Author, event_id: UUID) -> None:
    """Try again what a person may try again; what is in doubt is looked for, and never sent."""
    if decided.view(conn, event_id).in_doubt:
        decisions.look(conn, author, event_id)
    else:
        decisions.revive(conn, author, event_id)


# --- how it stands --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """One run, and how far it is.  `left`: events not decided yet; `stopped_at` None: it goes on by itself."""

    bulk_id: int
    made_at: datetime
    action: str
    author: str
    reason: str
    filter: dict[str, str]
    stopped_at: datetime | None
    events: int
    left: int

    @property
    def is_going(self) -> bool:
        """Something is left, and nobody stopped it."""
        return self.left > 0 and self.stopped_at is None


RUNS = """
    SELECT r.bulk_id, r.made_at, r.action, r.author, r.reason, r.filter, r.stopped_at, count(i.event_id) AS events,
           count(i.event_id) FILTER (WHERE i.result IS NULL) AS left
      FROM bulk_runs r LEFT JOIN bulk_items i USING (bulk_id)
     WHERE %(bulk_id)s::bigint IS NULL OR r.bulk_id = %(bulk_id)s
     GROUP BY r.bulk_id ORDER BY r.bulk_id DESC LIMIT 50
"""
RESULTS = "SELECT event_id, result FROM bulk_items WHERE bulk_id = %(bulk_id)s ORDER BY event_id"
TALLY = """
    SELECT coalesce(result, 'left') AS result, count(*) AS events FROM bulk_items WHERE bulk_id = %(bulk_id)s
     GROUP BY 1 ORDER BY 2 DESC, 1
"""
RESULTS_AFTER = """
    SELECT event_id, result FROM bulk_items
     WHERE bulk_id = %(bulk_id)s AND (%(after)s::uuid IS NULL OR event_id > %(after)s) ORDER BY event_id LIMIT %(limit)s
"""


def runs(conn: Conn) -> list[Run]:
    """The latest, the newest first."""
    with conn.cursor(row_factory=class_row(Run)) as cursor:
        return cursor.execute(RUNS, {"bulk_id": None}).fetchall()


def run(conn: Conn, bulk_id: int) -> Run | None:
    """None: there is none of this number."""
    with conn.cursor(row_factory=class_row(Run)) as cursor:
        return cursor.execute(RUNS, {"bulk_id": bulk_id}).fetchone()


def results(conn: Conn, bulk_id: int) -> dict[UUID, str | None]:
    """What became of each event; None: not decided yet."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return {row["event_id"]: row["result"] for row in cursor.execute(RESULTS, {"bulk_id": bulk_id}).fetchall()}


def tally(conn: Conn, bulk_id: int) -> dict[str, int]:
    """How many events came to each result; "left": not decided yet."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return {row["result"]: row["events"] for row in cursor.execute(TALLY, {"bulk_id": bulk_id}).fetchall()}


def results_after(conn: Conn, bulk_id: int, after: UUID | None, limit: int) -> dict[UUID, str | None]:
    """One page of the results, by the events' ids."""
    given = {"bulk_id": bulk_id, "after": after, "limit": limit}
    with conn.cursor(row_factory=dict_row) as cursor:
        return {row["event_id"]: row["result"] for row in cursor.execute(RESULTS_AFTER, given).fetchall()}
