"""A door whose database may take its time: on a busy machine a commit takes seconds, and few tests are about that."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

from intake.at_rest import NONE, Keys
from intake.config import Settings
from intake.db import Pool, door_options, open_pool
from intake.reading import Post
from intake.receive import Door
from intake.spool import Spool

STORE_LIMIT = 30.0  # seconds


def door(
    settings: Settings,
    pool: Pool,
    *,
    on_refused: Callable[[Post, datetime], object] = lambda _post, _at: None,
    spool: Spool | None = None,
    patience: float = STORE_LIMIT,
) -> Door:
    """As `intake.app` makes it, but for its patience, in seconds."""
    return Door(
        settings,
        pool,
        now=lambda: datetime.now(UTC),
        new_id=uuid4,
        on_refused=on_refused,
        spool=spool,
        patience=patience,
    )


def door_pool(database_url: str, *, size: int, patience: float = STORE_LIMIT, payloads: Keys = NONE) -> Pool:
    """Its connections."""
    return open_pool(
        database_url,
        size=size,
        options=door_options(patience),
        connect_timeout=10,
        reconnect_timeout=0.2,
        payloads=payloads,
    )
