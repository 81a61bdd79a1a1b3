"""Between the door and the spool: what is kept there, and what its sender is told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from intake import disks, identify, kept
from intake.config import ConfigError, Problem, Settings
from intake.kept import Kept
from intake.reading import Post
from intake.received import Acceptance, Accepted, Received
from intake.sealing import Seal
from intake.spool import Spool

SPOOLED = "spooled"


def open_spool(settings: Settings, seal: Seal) -> Spool | None:
    """The spool of this host; None: none is wanted.  Raises ConfigError where it would lose what it keeps."""
    folder = settings.spool_dir
    if folder is None:
        return None
    wrong = unfit(folder, persistent=settings.spool_persistent)
    if wrong is not None:
        raise ConfigError("configuration", [Problem(None, "intake.spool_dir", wrong)])
    return Spool(folder, seal, settings.spool_megabytes * 1024 * 1024)


def unfit(folder: Path, *, persistent: bool, mounts: str | None = None) -> str | None:
    """Why nothing can be kept there, in words; None: it can.  Makes the folder, whose parent must exist.

    `persistent`: a person says that it is there after a restart.  `mounts`: as in /proc/self/mountinfo, None: that.
    """
    kind = disks.file_system(folder, disks.MOUNTS.read_text("utf-8", "replace") if mounts is None else mounts)
    if kind in disks.FORGETFUL and not persistent:
        return (
            f"is on {kind}, which is gone after a restart: name a folder on a disk of this host (a volume, in a"
            " container), or say spool_persistent = true if you know that it stays"
        )
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        return f"cannot be made ({error.strerror}): its parent must exist, and be ours to write in"
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return "cannot be written in by this user"
    return None


def keep(spool: Spool, received: Received, at: datetime) -> Acceptance:
    """Put it on this host's disk; what is returned may be acknowledged.  Raises OSError: it may not."""
    foretold = identify.foretold(received)
    post = Post(received.source.name, received.mode, received.content_type, received.headers, received.body, url="")
    promised = tuple(event_id for event_id, _ in foretold)
    spool.append(kept.pack(Kept(received.receipt_id, at, post, promised, received.destination)))
    return Acceptance(
        events=tuple(Accepted(event_id, incoming.kind, SPOOLED) for event_id, incoming in foretold),
        updates=len(received.reading.updates),
        conflicts=0,
        quarantined=len(received.reading.quarantined),
        ignored=received.reading.ignored,
    )


def told(spool: Spool) -> Mapping[str, object]:
    """What the readiness check shows of it."""
    stock = spool.stock()
    return {
        "segments": stock.segments,
        "bytes": stock.bytes,
        "limit": stock.limit,
        "oldest_seconds": None if stock.oldest is None else round(stock.oldest, 1),
        "has_room": stock.has_room,
    }
