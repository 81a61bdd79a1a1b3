"""Accepting what was read: one transaction from identities to deliveries, for the usual one a single statement.

    identify ──> insert events (sorted; the primary key decides) ──new──> need ──> delivery
                                   └─known─> same fingerprint: duplicate · a later state: the event takes it on
                                             other: conflict, kept, nothing overwritten

Locks are taken in one order everywhere (windows, conversations, events, needs, each sorted), so that a batch sent again
at once in another order cannot deadlock with the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import class_row, scalar_row, tuple_row
from psycopg.types.json import Jsonb

from intake import (
    at_once,
    fetches,
    first_deliveries,
    identify,
    items,
    lead_schema,
    media,
    needs,
    receipts,
    replays,
    talks,
    updates,
)
from intake.at_rest import Payload
from intake.db import Conn
from intake.identify import Identified
from intake.identity import IdentityKey
from intake.lead import FETCH_PENDING
from intake.needs import Asked
from intake.received import Acceptance, Accepted, Received, scope_of
from intake.talks import Message


def accept(conn: Conn, key: IdentityKey, received: Received) -> Acceptance:
    """Store a delivery.  When this returns and its transaction is committed, it may be acknowledged."""
    usual = at_once.take(conn, key, received)
    if usual is not None:
        return usual
    with conn.transaction():
        received = updates.settled(conn, received)
        now = received.received_at or _now(conn)
        received, replayed = replays.set_aside(conn, received, now)
        # Statements that nobody waits for go to the database together with the next one whose answer is wanted.
        with conn.pipeline():
            identified = identify.identify(conn, key, received, now)
            _lock_talks(conn, key, received, identified)
            fresh = _insert_events(conn, received, identified)
            first = {id(each) for each in _first_of_each(identified) if each.event_id in fresh}
            known = [each for each in identified if id(each) not in first]
            changed = _compare(conn, key, received, known)
            verdict = receipts.verdict_of(received, fresh, changed)
            stored = receipts.store(conn, received, verdict=verdict, new=len(fresh), changed=bool(changed))
            states = _deliver_all(conn, key, received, [each for each in identified if id(each) in first], now)
        updates.apply(conn, key, received, updates.states(received, known, changed, now))
        items.open_conflicts(conn, received, changed)
        if stored.rowcount == 1:  # A receipt that is read again has its item already.
            items.quarantine(conn, received)
        if known or _may_move(received):
            states = _states(conn, identified)
        return replace(_acceptance(received, identified, known, changed, states), replays=replayed)


def _now(conn: Conn) -> datetime:
    with conn.cursor(row_factory=scalar_row) as cursor:
        now: datetime | None = cursor.execute("SELECT clock_timestamp()").fetchone()
    assert now is not None  # noqa: S101  # a SELECT without FROM returns a row
    return now


def _lock_talks(conn: Conn, key: IdentityKey, received: Received, identified: Iterable[Identified]) -> None:
    named = [each.incoming.conversation for each in identified if each.incoming.conversation]
    named += [each.moved.conversation for each in received.reading.updates if each.moved]
    if named:
        talks.lock(conn, received.place, key, named)


# --- new, duplicate or conflict -------------------------------------------------------------------------------------

INSERT_EVENTS = """
    INSERT INTO events (event_id, mode, source, scope, kind, request_id, version, minted, fingerprint, receipt_id,
                        received_at, occurred_at)
    SELECT event_id, %(mode)s, %(source)s, %(scope)s, kind, request_id, version, minted, decode(fingerprint, 'hex'),
           %(receipt_id)s, coalesce(%(received_at)s, clock_timestamp()), occurred_at
      FROM jsonb_to_recordset(%(rows)s) AS r (event_id uuid, kind text, request_id text, version bigint, minted boolean,
                                              fingerprint text, occurred_at timestamptz)
     ORDER BY event_id
    ON CONFLICT DO NOTHING
    RETURNING event_id
"""


def _insert_events(conn: Conn, received: Received, identified: Sequence[Identified]) -> frozenset[UUID]:
    """The ids that are new; whoever waits here for another transaction's same id finds it known afterwards."""
    rows = [_event_row(each) for each in _first_of_each(identified) if not each.seen]
    if not rows:
        return frozenset()
    given = {
        "mode": received.mode,
        "source": received.source.name,
        "scope": scope_of(received.source),
        "receipt_id": received.receipt_id,
        "received_at": received.received_at,
        "rows": Jsonb(rows),
    }
    with conn.cursor(row_factory=scalar_row) as cursor:
        return frozenset(cursor.execute(INSERT_EVENTS, given))


def _event_row(each: Identified) -> dict[str, object]:
    occurred = each.incoming.lead.occurred_at
    return {
        "event_id": str(each.event_id),
        "kind": each.incoming.kind,
        "request_id": each.request_id,
        "version": each.incoming.version,
        "minted": each.minted,
        "fingerprint": each.fingerprint.hex(),
        "occurred_at": occurred.isoformat() if occurred else None,
    }


def _first_of_each(identified: Iterable[Identified]) -> list[Identified]:
    """The same id may stand twice in one body: the first counts."""
    first: dict[UUID, Identified] = {}
    for each in identified:
        first.setdefault(each.event_id, each)
    return list(first.values())


# OFFSET 0 has each event looked up, also by a plan that PostgreSQL before 17 made while there were few, and keeps.
PRINTS = """
    SELECT e.event_id, e.fingerprint FROM unnest(%(ids)s::uuid[]) AS asked (event_id)
           CROSS JOIN LATERAL (
           SELECT event_id, fingerprint FROM events WHERE event_id = asked.event_id OFFSET 0) AS e
"""


def _compare(conn: Conn, key: IdentityKey, received: Received, known: Sequence[Identified]) -> list[Identified]:
    """Those whose content is not what stands under their identity, also when that is read with today's reader."""
    if not known:
        return []
    with conn.cursor(row_factory=tuple_row) as cursor:
        cursor.execute(PRINTS, {"ids": [each.event_id for each in known]})
        prints: dict[UUID, bytes] = dict(cursor.fetchall())
    other = [
        each for each in known if not each.seen and prints.get(each.event_id, each.fingerprint) != each.fingerprint
    ]
    return [each for each in other if not _read_alike(conn, key, received, each)]


@dataclass(frozen=True, slots=True)
class Stored:
    """The raw body in which an event came; None: it was purged."""

    body: bytes | None
    content_type: str | None
    headers: dict[str, str] | None


STORED = """
    SELECT b.content AS body, r.content_type, r.headers
      FROM events e LEFT JOIN receipts r USING (receipt_id) LEFT JOIN bodies b ON b.receipt_id = e.receipt_id
     WHERE e.event_id = %(event_id)s
"""


def _read_alike(conn: Conn, key: IdentityKey, received: Received, each: Identified) -> bool:
    """An earlier reader may have understood the same otherwise."""
    with conn.cursor(row_factory=class_row(Stored)) as cursor:
        stored = cursor.execute(STORED, {"event_id": each.event_id}).fetchone()
    if stored is None or stored.body is None:
        return False
    again = received.read_again(stored.body, stored.content_type or "", stored.headers or {}).events
    # Where it is the only event of its body, the source's `dedupe` may have named it, and not the provider's id.
    return any(
        (len(again) == 1 or incoming.request_id == each.incoming.request_id)
        and incoming.version == each.incoming.version
        and key.fingerprint(incoming.content) == each.fingerprint
        for incoming in again
    )


# --- new events become deliveries -----------------------------------------------------------------------------------

KEEP_LEADS = """
    INSERT INTO bodies (what, event_id, revision, content)
    SELECT 'lead', event_id, 1, lead FROM unnest(%(ids)b::uuid[], %(leads)b::bytea[]) AS l (event_id, lead)
"""


def _deliver_all(
    conn: Conn, key: IdentityKey, received: Received, fresh: Sequence[Identified], now: datetime
) -> Mapping[UUID, str]:
    """The states of their deliveries."""
    if not fresh:
        return {}
    # Messages in their own order, so that the first one opens; numbered needs in sorted order, for the locks.
    ordered = sorted(fresh, key=lambda each: (each.incoming.need_key or "", _at(each, now)))
    asked = [(each, _ask_need(conn, key, received, each, now)) for each in ordered]
    kept = {each.event_id: media.referenced(received.source, each.incoming.lead) for each in fresh}
    leads = [Payload(lead_schema.dump(lead)) for lead in kept.values()]
    conn.execute(KEEP_LEADS, {"ids": list(kept), "leads": leads})
    states = first_deliveries.insert(conn, key, received, asked)
    fetches.ask(conn, [each.event_id for each in fresh if FETCH_PENDING in each.incoming.lead.flags])
    media.ask(conn, kept)
    return states


def _at(each: Identified, now: datetime) -> datetime:
    """When it was said, by the sender's clock if that is credible (not in the future)."""
    occurred = each.incoming.lead.occurred_at
    return occurred if occurred is not None and occurred <= now else now


def _ask_need(conn: Conn, key: IdentityKey, received: Received, each: Identified, now: datetime) -> Asked:
    incoming, at = each.incoming, _at(each, now)
    if incoming.need_key is not None:
        return needs.of_number(conn, received.place, incoming.need_key, at)
    if incoming.conversation is None or received.source.opportunity_per == "message":
        return needs.of_event(conn, received.place, each.event_id, at)
    message = Message(each.event_id, at, incoming.conversation)
    window = timedelta(hours=received.source.conversation_hours)
    return talks.of_message(conn, received.place, key, message, window)


# --- the answer -----------------------------------------------------------------------------------------------------

STATES = """
    SELECT asked.event_id, d.state FROM unnest(%(ids)s::uuid[]) AS asked (event_id)
           CROSS JOIN LATERAL (
           SELECT state FROM deliveries WHERE event_id = asked.event_id ORDER BY generation DESC LIMIT 1) AS d
"""


def _may_move(received: Received) -> bool:
    """Whether the same delivery may have moved what it brought: news of it, or a newer version that waits, too."""
    reading = received.reading
    return bool(reading.updates or reading.if_known) or received.source.approval == "required"


def _states(conn: Conn, identified: Iterable[Identified]) -> Mapping[UUID, str]:
    with conn.cursor(row_factory=tuple_row) as cursor:
        cursor.execute(STATES, {"ids": [each.event_id for each in identified]})
        return dict(cursor.fetchall())


def _acceptance(
    received: Received,
    identified: Sequence[Identified],
    known: Sequence[Identified],
    changed: Sequence[Identified],
    states: Mapping[UUID, str],
) -> Acceptance:
    # By identity, not by equality: the same message twice in one body is a first and a duplicate.
    again, other = {id(each) for each in known}, {id(each) for each in changed}
    news = {id(each) for each in changed if each.incoming.on_change != "conflict"}
    return Acceptance(
        events=tuple(
            Accepted(
                each.event_id,
                each.incoming.kind,
                states.get(each.event_id, "received"),
                duplicate=id(each) in again - other,
                conflict=id(each) in other,
            )
            for each in identified
            if id(each) not in news
        ),
        updates=len(received.reading.updates) + len(news),
        conflicts=len(changed) - len(news),
        quarantined=len(received.reading.quarantined),
        ignored=received.reading.ignored,
    )
