"""`intake recheck`: refused deliveries again, with today's secrets, as of the time when they came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from intake import installation, kept, refused
from intake.config import Settings, Source
from intake.db import Conn
from intake.identity import IdentityKey
from intake.kept import Broken, Kept
from intake.reading import is_authentic, is_readable_type
from intake.received import Acceptance
from intake.sealing import Seal, Sealed

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Rechecked:
    """Numbers of deliveries; `events` and `duplicates` of events in the accepted ones.

    `refused` are still not authentic, `unopened` were sealed with another key, `failed` met a fault of the database:
    all of them stay until `purged`, a week after they came.
    """

    accepted: int = 0
    events: int = 0
    duplicates: int = 0
    quarantined: int = 0
    refused: int = 0
    unopened: int = 0
    failed: int = 0
    purged: int = 0


def recheck(
    conn: Conn, settings: Settings, seal: Seal, source: Source, *, progress: Callable[[int, int], object]
) -> Rechecked:
    """All of one source, each in a transaction of its own.  `progress` is told how many of how many are done.

    Any number may run at once: what one has in hand, another leaves to it.
    """
    done = Rechecked(purged=refused.purge(conn))
    bench = _Bench(conn, settings, source, installation.read(conn).key)
    receipts = refused.waiting(conn, [source.name, source.renamed_from or source.name])
    for number, receipt_id in enumerate(receipts, 1):
        try:
            with conn.transaction():
                sealed = refused.take(conn, receipt_id)
                if sealed is not None:
                    done = bench.verify(_open(seal, sealed), done)
        except Exception as fault:  # One that fails in whatever way stops no other.
            if conn.closed:
                raise
            log.error("recheck failed", receipt_id=str(receipt_id), error=type(fault).__name__)  # noqa: TRY400  # it quotes values
            done = replace(done, failed=done.failed + 1)
        progress(number, len(receipts))
    return done


def _open(seal: Seal, sealed: bytes) -> Kept | None:
    try:
        return kept.unpack(seal.open(sealed))
    except (Sealed, Broken):
        return None


@dataclass(frozen=True, slots=True)
class _Bench:
    conn: Conn
    settings: Settings
    source: Source
    key: IdentityKey

    def verify(self, found: Kept | None, done: Rechecked) -> Rechecked:
        if found is None:
            return replace(done, unopened=done.unopened + 1)
        if not is_authentic(self.source, found.post, found.at) or not is_readable_type(self.source, found.post):
            return replace(done, refused=done.refused + 1)
        # Its row makes room for the one of the accepted delivery, in the same transaction: so it is accepted once.
        refused.forget(self.conn, [found.receipt_id])
        received = kept.read(self.settings, self.source, found)
        return _counted(done, kept.accept(self.conn, self.key, received))


def _counted(done: Rechecked, acceptance: Acceptance) -> Rechecked:
    again = sum(each.duplicate for each in acceptance.events)
    return replace(
        done,
        accepted=done.accepted + 1,
        events=done.events + len(acceptance.events) - again,
        duplicates=done.duplicates + again,
        quarantined=done.quarantined + acceptance.quarantined,
    )
