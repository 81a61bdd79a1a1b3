"""The answers of leads that a webhook only named: one fetch at a time, in a lane for each source.

claimed ─> GET /<leadgen_id> ─ answers ─> a new revision of the lead; its delivery goes on
                             ├ not now ─> again later, for about two days
                             ├ gone, or never ─> over: its delivery is a person's
                             └ the token works no more ─> the lane is parked, and one fetch tries it every minute
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import assert_never

import structlog
from psycopg.errors import UniqueViolation
from psycopg.rows import scalar_row

from crm_clients.base import Request
from intake import fetches, person_arrows, revisions, spam
from intake.config import Source
from intake.config.settings import LEAD_ADS
from intake.db import Conn, transaction
from intake.fetches import Claimed
from intake.identity import Mode
from intake.lead import FETCH_PENDING, Lead
from intake.sources import meta_answers
from intake.sources.base import Unreadable
from workers import files, graph
from workers.desk import Desk
from workers.standing import ForPerson, Later
from workers.work import Work

log = structlog.get_logger()

# A parked lane is tried this often.
CONTROL_AGAIN = timedelta(minutes=1)
FIRST = timedelta(seconds=5)
LONGEST = timedelta(hours=1)
# By waits of up to an hour, about half of it on average: two days.  Meta keeps leads for 90 days.
MOST_TRIES = 100
# A delivery is woken when its fetch is over; should that be missed, it comes back after this.
WAITS = timedelta(hours=1)


def sources_of(desk: Desk) -> Mapping[str, Source]:
    """The sources whose leads or files have to be fetched, also by the names that they had before."""
    found = [
        each for each in desk.settings.sources.values() if each.provider == LEAD_ADS or (each.media_token and desk.seal)
    ]
    return {each.renamed_from: each for each in found if each.renamed_from} | {each.name: each for each in found}


# --- the delivery's side --------------------------------------------------------------------------------------------


def halt(desk: Desk, work: Work) -> Later | ForPerson | None:
    """Why a delivery cannot go on without its answers; None: it can."""
    if FETCH_PENDING not in work.lead.flags:
        return None
    with desk.pool.connection() as conn:
        fetch = fetches.of_lead(conn, work.event_id)
    if fetch.pending:
        reason = "fetch_parked" if fetch.parked else "fetch_failed" if fetch.tries else "fetch_pending"
        return Later(reason, WAITS)
    # What a person typed in instead is enough.
    return None if fetch.revised else ForPerson(fetch.reason or "fetch_used_up")


# --- the worker's side ----------------------------------------------------------------------------------------------


def fetch_due(desk: Desk) -> bool:
    """Read the answers of the next lead, or the next file.  False: none is due."""
    sources = sources_of(desk)
    with transaction(desk.pool) as conn:
        held = fetches.claim(conn, sources=list(sources), lease=desk.patience.lease, again=CONTROL_AGAIN)
        unknown = [] if held else fetches.park_unknown(conn, sources=list(sources), again=CONTROL_AGAIN)
    for source in unknown:
        log.warning("fetching parked", source=source, by="configuration")
    if held is None:
        return False
    if held.what == "media":
        read = files.read(desk, held, sources[held.source])
    else:
        read = _read(desk, held, sources[held.source])
    desk.at("fetch.read")
    # Should a person have corrected the lead in this moment, the fetch comes back when its lease is over.
    with suppress(UniqueViolation), transaction(desk.pool) as conn:
        _settle(desk, conn, held, sources[held.source], read)
        fetches.wake(conn)
    return True


def _read(desk: Desk, held: Claimed, source: Source) -> graph.Read:
    with desk.pool.connection() as conn:
        found = _newest(conn, held)
    leadgen_id = found.leadgen_id if found else None
    if leadgen_id is None:
        return graph.Gone()
    there = graph.account(source, source.page_token)
    if there is None:
        return graph.Locked("token")
    return graph.read(desk, there, Request("GET", f"/{leadgen_id}"))


def _settle(desk: Desk, conn: Conn, held: Claimed, source: Source, read: files.FileRead) -> None:
    match read:
        case graph.Got(body):
            _works(conn, held.source)
            _got(desk, conn, held, source, body)
        case graph.GotFile():
            _works(conn, held.source)
            files.keep(desk, conn, held, read)
        case graph.Never(reason):
            fetches.end(conn, held, reason=reason)
        case graph.Gone():
            _works(conn, held.source)
            fetches.end(conn, held, reason=f"{held.what}_gone")
        case graph.Locked(by):
            _locked(desk, conn, held, by)
        case graph.Again(reason, after):
            _again(desk, conn, held, reason, after)
        case _:
            assert_never(read)


def _works(conn: Conn, source: str) -> None:
    if fetches.resume(conn, source):
        log.info("fetching resumed", source=source)


def _locked(desk: Desk, conn: Conn, held: Claimed, by: str) -> None:
    """A dead token is dead for all; a missing right may be about the one, which is then tried ever more seldom."""
    fetches.park(conn, held, reason=f"{by}_refused", again=CONTROL_AGAIN)
    log.warning("fetching parked", source=held.source, by=by)
    if by == "token":
        fetches.again(conn, held, reason="token_refused", after=CONTROL_AGAIN, counts=False)
    else:
        _again(desk, conn, held, "right_refused", None)


def _again(desk: Desk, conn: Conn, held: Claimed, reason: str, after: timedelta | None) -> None:
    if held.tries >= MOST_TRIES:
        fetches.end(conn, held, reason="fetch_used_up")
        return
    ceiling = min(LONGEST, FIRST * (1 << min(held.tries, 12)))
    wait = min(after, LONGEST) if after else max(timedelta(seconds=1), ceiling * desk.jitter())
    fetches.again(conn, held, reason=reason, after=wait)
    log.info("fetch failed", event_id=str(held.event_id), why=reason)


# --- the lead -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Newest:
    revision: int
    lead: Lead = field(repr=False)

    @property
    def leadgen_id(self) -> str | None:
        """How Meta calls it; None: by nothing that could be asked for."""
        named = dict(self.lead.answers).get("leadgen_id", "")
        return named if named.isascii() and named.isdigit() else None


def _newest(conn: Conn, held: Claimed) -> _Newest | None:
    """None: its content was purged."""
    found = revisions.newest(conn, held.event_id)
    lead = found.lead if found else None
    return _Newest(found.number, lead) if found and lead else None


def _got(desk: Desk, conn: Conn, held: Claimed, source: Source, body: bytes) -> None:
    found = _newest(conn, held)
    if found is None:
        fetches.end(conn, held, reason="payload_purged")
        return
    try:
        lead = meta_answers.complete(
            found.lead, body, leadgen_id=found.leadgen_id or "", region=desk.settings.region, pointers=source.fields
        )
    except Unreadable:
        _again(desk, conn, held, "fetch_unreadable", None)
        return
    revision = found.revision + 1
    if fetches.end(conn, held, revision=revision):
        revisions.keep(conn, held.event_id, revision, lead)
        _hold(desk, conn, held, source, (revision, lead))
        log.info("lead fetched", event_id=str(held.event_id), revision=revision)


MODE = "SELECT mode FROM events WHERE event_id = %(event_id)s"


def _hold(desk: Desk, conn: Conn, held: Claimed, source: Source, came: tuple[int, Lead]) -> None:
    """What the source's rules hold at the door is known only now that the answers are there."""
    revision, lead = came
    with conn.cursor(row_factory=scalar_row) as cursor:
        mode: Mode | None = cursor.execute(MODE, {"event_id": held.event_id}).fetchone()
    if mode is not None:
        holds = spam.held(conn, desk.installation.key, source, mode, {held.event_id: lead})
        person_arrows.hold_completed(conn, held.event_id, revision=revision, hold=holds.get(held.event_id))
