"""One erasure from its beginning to its certificate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake import contacts, installation
from intake.config import Settings
from intake.db import Conn
from intake.decided import Author
from intake.forgetting import erasing, finding, ledger, opened, spooled
from intake.forgetting.finding import Found, Told
from intake.forgetting.ledger import Forgetting
from intake.forgetting.opened import Open
from intake.forgetting.person import Person
from intake.forgetting.spooled import Wanted
from intake.lead import Contact
from intake.purge import NotOwner, is_owner
from intake.sealing import Seal
from intake.spool import Spool


class StillOpen(Exception):
    """Nothing was erased."""

    def __init__(self, waiting: list[Open], spooled_lines: int) -> None:
        super().__init__(f"{len(waiting)} open, {spooled_lines} in the spool")
        self.waiting = waiting
        self.spooled = spooled_lines


class Nothing(Exception):
    """None of what was given can be read as a phone number, an address or an id."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A record in a CRM, which is erased there."""

    destination: str
    kind: str
    crm_id: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was erased: no personal data.  `keys`: how the keyed hashes begin.  `counts`: rows by what they were.

    `mentions`: events of others whose words name the person; a person reads them.  `unopened`: sealed bodies that no
    key of this host opens.  `in_crm`: what stands there still.  `dry`: nothing was erased yet.
    """

    forgotten_id: UUID
    at: datetime
    by: str
    reason: str
    keys: tuple[str, ...]
    events: int
    counts: Mapping[str, int]
    mentions: tuple[UUID, ...]
    unopened: int
    in_crm: tuple[Standing, ...]
    dry: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is erased.  `file`: the list beside the database.  `spool` None: this host has none."""

    settings: Settings
    seal: Seal
    file: Path
    spool: Spool | None
    told: Told = field(default=lambda _done, _total: None)


NOW: Final = "SELECT clock_timestamp()"
SHOWN: Final = 16  # hexadecimal digits of a keyed hash


def named(conn: Conn, author: Author, contact: Iterable[Contact], new_id: UUID) -> Forgetting:
    """Who is to be forgotten, from now on back.  Raises Nothing."""
    key = installation.read(conn).key
    keys = {found.key for each in contact for found in contacts.keys_of(each, "live", key)}
    if not keys:
        raise Nothing
    with conn.cursor(row_factory=scalar_row) as cursor:
        at: datetime | None = cursor.execute(NOW).fetchone()
    assert at is not None  # noqa: S101  # a SELECT without FROM returns a row
    return Forgetting(new_id, at, author.by, author.reason, tuple(sorted(keys)))


def forget(conn: Conn, place: Place, forgetting: Forgetting, *, cancel_open: bool, dry: bool = False) -> Certificate:
    """Erase them, and note it first.  Raises StillOpen, NotOwner, OSError."""
    if not is_owner(conn):
        raise NotOwner
    person = Person(frozenset(forgetting.keys), installation.read(conn).key, place.settings.region)
    wanted = Wanted(person, forgetting.at)
    found = finding.find(conn, person, place.seal, until=forgetting.at, told=place.told)
    if dry:
        return _certificate(conn, forgetting, found, {"open": len(opened.of(conn, found))}, dry=True)
    _settle(conn, place, forgetting, found, wanted, cancel_open=cancel_open)
    ledger.begin(conn, place.file, forgetting)
    counts = erasing.erase(conn, found)
    counts["spooled"] += spooled.erase(place.spool, wanted) if place.spool else 0
    counts = Counter({name: count for name, count in counts.items() if count})
    ledger.end(conn, forgetting, counts)
    return _certificate(conn, forgetting, found, counts, dry=False)


def _settle(  # noqa: PLR0913  # all of one erasure
    conn: Conn, place: Place, forgetting: Forgetting, found: Found, wanted: Wanted, *, cancel_open: bool
) -> None:
    in_spool = spooled.waiting(place.spool, wanted) if place.spool else 0
    waiting = opened.of(conn, found)
    if waiting and cancel_open and not in_spool:
        author = Author(forgetting.author, forgetting.reason)
        waiting = opened.cancel(conn, place.settings, author, waiting)
    if waiting or in_spool:
        raise StillOpen(waiting, in_spool)


IN_CRM: Final = """
    SELECT DISTINCT r.destination, r.kind, r.crm_id FROM deliveries d
      JOIN records r ON r.record_id IN (d.contact_record, d.opportunity_record, d.task_record, d.note_record)
     WHERE d.event_id = ANY(%(events)s) AND r.state = 'known' ORDER BY 1, 2, 3
"""


def _certificate(
    conn: Conn, forgetting: Forgetting, found: Found, counts: Mapping[str, int], *, dry: bool
) -> Certificate:
    with conn.cursor(row_factory=class_row(Standing)) as cursor:
        in_crm = cursor.execute(IN_CRM, {"events": list(found.events)}).fetchall()
    return Certificate(
        forgotten_id=forgetting.forgotten_id,
        at=forgetting.at,
        by=forgetting.author,
        reason=forgetting.reason,
        keys=tuple(each.hex()[:SHOWN] for each in forgetting.keys),
        events=len(found.events),
        counts=dict(counts),
        mentions=tuple(sorted(found.mentions)),
        unopened=found.unopened,
        in_crm=tuple(in_crm),
        dry=dry,
    )


def again(conn: Conn, place: Place, *lists: Path) -> list[Certificate]:
    """Everybody of the list once more: an earlier copy of the database has them again.

    What is open of them is cancelled.  Raises StillOpen, NotOwner, ledger.Unreadable, OSError.
    """
    everybody = ledger.everybody(conn, place.file, *lists)
    return [forget(conn, place, each, cancel_open=True) for each in everybody]
