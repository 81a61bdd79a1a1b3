"""The erasure of a list of people, from its beginning to their certificates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
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
from intake.forgetting.people import people_of
from intake.lead import Contact
from intake.purge import NotOwner, is_owner
from intake.sealing import Seal
from intake.spool import Spool


class Nothing(Exception):
    """None of what was given of a person can be read as a phone number, an address or an id."""


@dataclass(frozen=True, slots=True)
class StillOpen:
    """Nothing of this person was erased.  `spooled`: how many of their lines wait in this host's spool."""

    forgotten_id: UUID
    waiting: tuple[Open, ...]
    spooled: int


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


Outcome = Certificate | StillOpen


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


def named(
    conn: Conn, author: Author, everybody: Iterable[Iterable[Contact]], new_id: Callable[[], UUID]
) -> list[Forgetting]:
    """Who is to be forgotten, from now on back; several contacts may be of one person.  Raises Nothing."""
    key = installation.read(conn).key
    with conn.cursor(row_factory=scalar_row) as cursor:
        at: datetime | None = cursor.execute(NOW).fetchone()
    assert at is not None  # noqa: S101  # a SELECT without FROM returns a row
    hashes = [{digest for each in person for digest in contacts.digests_of(each, key)} for person in everybody]
    if not all(hashes):
        raise Nothing
    return [Forgetting(new_id(), at, author.by, author.reason, tuple(sorted(each))) for each in hashes]


def forget(
    conn: Conn, place: Place, everybody: Sequence[Forgetting], *, cancel_open: bool, dry: bool = False
) -> list[Outcome]:
    """Erase each of them, and note it first; who has something open stops no other.  In the order of the list.

    Raises NotOwner, ledger.Unreadable, OSError.
    """
    if not is_owner(conn):
        raise NotOwner
    if not everybody:
        return []
    people = people_of(everybody, installation.read(conn).key, place.settings.region)
    # Read first: what is drained meanwhile is found in the database.
    in_spool = spooled.waiting(place.spool, people) if place.spool and not dry else Counter()
    found = finding.find(conn, people, place.seal, told=place.told)
    if dry:
        return [_foreseen(conn, each, its) for each, its in zip(everybody, found, strict=True)]
    works = [
        _Work(forgetting, its, in_spool[one])
        for one, (forgetting, its) in enumerate(zip(everybody, found, strict=True))
    ]
    in_file = {each.forgotten_id for each in ledger.of_file(place.file)}
    done = [_erase(conn, place, work, in_file, cancel_open=cancel_open) for work in works]
    erased = {one for one, each in enumerate(done) if isinstance(each, Counter)}
    from_spool = spooled.erase(place.spool, people, erased) if place.spool else Counter()
    return [
        each if isinstance(each, StillOpen) else _ended(conn, work, each + Counter(spooled=from_spool[one]))
        for one, (work, each) in enumerate(zip(works, done, strict=True))
    ]


@dataclass(frozen=True, slots=True)
class _Work:
    """One person.  `in_spool`: how many lines of theirs wait there."""

    forgetting: Forgetting
    found: Found
    in_spool: int


def _foreseen(conn: Conn, forgetting: Forgetting, found: Found) -> Certificate:
    return _certificate(conn, forgetting, found, {"open": len(opened.of(conn, found))}, dry=True)


def _erase(
    conn: Conn, place: Place, work: _Work, in_file: Container[UUID], *, cancel_open: bool
) -> Counter[str] | StillOpen:
    forgetting = work.forgetting
    waiting = opened.of(conn, work.found)
    if waiting and cancel_open and not work.in_spool:
        author = Author(forgetting.author, forgetting.reason)
        waiting = opened.cancel(conn, place.settings, author, waiting)
    if waiting or work.in_spool:
        return StillOpen(forgetting.forgotten_id, tuple(waiting), work.in_spool)
    ledger.begin(conn, place.file, forgetting, in_file=in_file)
    return erasing.erase(conn, work.found)


def _ended(conn: Conn, work: _Work, counts: Counter[str]) -> Certificate:
    ledger.end(conn, work.forgetting, counts)
    return _certificate(conn, work.forgetting, work.found, counts, dry=False)


# Each as a row of its own: before version 18 PostgreSQL may read all records for a list of columns.
IN_CRM: Final = """
    SELECT DISTINCT r.destination, r.kind, r.crm_id FROM deliveries d
      CROSS JOIN LATERAL (
            VALUES (d.contact_record), (d.opportunity_record), (d.task_record), (d.note_record)) AS its (record_id)
      JOIN records r USING (record_id)
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


def again(conn: Conn, place: Place, *lists: Path) -> list[Outcome]:
    """Everybody of the list once more: an earlier copy of the database has them again.

    What is open of them is cancelled.  Raises NotOwner, ledger.Unreadable, OSError.
    """
    return forget(conn, place, ledger.everybody(conn, place.file, *lists), cancel_open=True)
