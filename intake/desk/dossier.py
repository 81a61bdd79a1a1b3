"""All that there is to know of one event, in the order in which a person asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from psycopg.rows import class_row

from intake import at_rest, decided, fetches, lead_schema, masked, ops, record_pages, remaking, revisions, trail
from intake.config import Settings
from intake.db import Conn
from intake.desk import crm_reads, kin, shared_phones
from intake.desk.crm_reads import CrmRead, Wanted
from intake.desk.inbox import Mark
from intake.desk.kin import Relative
from intake.desk.shared_phones import Namesake
from intake.explain import Clock, Explanation, explain
from intake.lead import Lead
from intake.ops import EventRow
from intake.permitted import View
from intake.reason_texts import Language
from intake.trail import AttemptRow, DecisionRow, Move, RecordRow

# --- what happened, in order ------------------------------------------------------------------------------------------


# A decision is written down at the end of its transaction; what it moved, a moment before.
WRITTEN_AFTER: Final = timedelta(milliseconds=50)


@dataclass(frozen=True, slots=True)
class Received:
    """It came."""

    at: datetime
    source: str


@dataclass(frozen=True, slots=True)
class Moment:
    """One entry of the story: it came, it moved, the CRM was asked, somebody decided."""

    at: datetime
    of: Received | Move | AttemptRow | DecisionRow
    # Entries of one moment stand as they follow from each other; `sorted_at` None: by `at`.
    rank: int = 0
    sorted_at: datetime | None = None


def story(conn: Conn, event: EventRow) -> list[Moment]:
    """From the first to the last."""
    told = [Moment(event.received_at, Received(event.received_at, event.source), 0)]
    told += [Moment(each.at, each, 1, each.at - WRITTEN_AFTER) for each in trail.decisions(conn, event.event_id)]
    told += [Moment(each.prepared_at, each, 2) for each in trail.attempts(conn, event.event_id)]
    moves = trail.history(conn, event.event_id)
    told += [Moment(each.at, each, 3) for each in moves if (each.from_state, each.to_state) != (None, "received")]
    return sorted(told, key=lambda moment: (moment.sorted_at or moment.at, moment.rank))


# --- its records ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """A record, and how it stood in the CRM when somebody asked lately; `read` None: nobody did.

    `page`: where people see it in the CRM, None: nobody knows.
    """

    record: RecordRow
    read: CrmRead | None
    page: str | None

    @property
    def mark(self) -> Mark:
        """How far it is."""
        match self.record.state:
            case "none":
                return "empty"
            case "known":
                return "confirmed"
            case "gone":
                return "gone"
            case "asked" if self.record.being_asked:
                return "sent"
            case _:
                return "uncertain"

    @property
    def is_being_read(self) -> bool:
        """A worker was asked, and has not answered."""
        return self.read is not None and self.read.outcome is None


def standing(conn: Conn, settings: Settings, seen: View) -> list[Standing]:
    """The records of an event."""
    pages = record_pages.read(conn, settings)
    return [
        Standing(each, _latest(conn, seen, each), pages.of(each.destination, each.kind, each.crm_id))
        for each in seen.records
    ]


def _latest(conn: Conn, seen: View, record: RecordRow) -> CrmRead | None:
    if record.crm_id is None:
        return None
    return crm_reads.latest(conn, Wanted(seen.destination, record.kind, record.crm_id))


# --- what it says -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Content:
    """A revision of the lead.  `lead` None: purged, or not `readable`."""

    revision: int
    lead: Lead | None = field(repr=False)
    readable: bool = True


CONTENTS = """
    SELECT revision AS number, content FROM bodies
     WHERE event_id = %(event_id)s AND what = 'lead' ORDER BY revision DESC
"""


def contents(conn: Conn, event_id: UUID) -> list[Content]:
    """The newest first; the last is what came.  Whoever shows it notes that before."""
    with conn.cursor(row_factory=class_row(revisions.Revision)) as cursor:
        at_rest.sparing(cursor)
        found = cursor.execute(CONTENTS, {"event_id": event_id}).fetchall()
    return [_content(each) for each in found]


def _content(found: revisions.Revision) -> Content:
    if found.content is None:
        return Content(found.number, None)
    lead = lead_schema.legible(found.content)
    return Content(found.number, lead, readable=lead is not None)


# --- together ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dossier:
    """One event.  `person` is masked; "": purged.  `namesakes`: whom its telephone leads to, () where that is one."""

    event: EventRow
    view: View
    told: Explanation
    person: str
    revision: revisions.Named | None
    story: Sequence[Moment]
    standing: Sequence[Standing]
    relatives: Sequence[Relative]
    namesakes: Sequence[Namesake]
    fetches: Sequence[fetches.FetchRow]
    reissue_of: UUID | None

    @property
    def is_being_read(self) -> bool:
        """Somebody asked for how it stands in the CRM, and the answer is on its way."""
        return any(each.is_being_read for each in self.standing)


def open_destinations(settings: Settings) -> set[str]:
    """Those that can be delivered to."""
    return {each.name for each in settings.destinations.values() if each.closed_because is None}


def read(conn: Conn, settings: Settings, event_id: UUID, language: Language, now: datetime) -> Dossier | None:
    """None: there is no such event."""
    event = ops.event(conn, event_id)
    if event is None:
        return None
    view = decided.view_of(conn, event)
    return Dossier(
        event=event,
        view=view,
        told=explain(
            view, language, open_destinations=open_destinations(settings), clock=Clock(now, settings.timezone)
        ),
        person=masked.contacts(conn, [event_id]).get(event_id, ""),
        revision=revisions.named(conn, event_id),
        story=story(conn, event),
        standing=standing(conn, settings, view),
        relatives=kin.relatives(conn, settings, event),
        namesakes=shared_phones.namesakes(conn, event),
        fetches=fetches.of_event(conn, event_id),
        reissue_of=remaking.reissue_of(conn, event_id),
    )


def as_json(lead: Lead) -> bytes:
    """The form in which the API shows it."""
    return lead_schema.dump(lead)
