"""A long history of deliveries of any kind, accepted twice: at once where that may be, and always the long way.

Both databases begin as the same, and hold the same at every step.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import dict_row, scalar_row

from intake import at_once, events, installation, spam
from intake.config import Settings
from intake.db import Conn
from intake.identity import IdentityKey, Mode
from intake.reading import Arrival, Post, Reader, not_storable
from intake.received import Acceptance, Received
from tests import doorway
from tests.conftest import fresh_database

Way = Callable[[Conn, IdentityKey, Received], Acceptance]

# Deliveries of a history.
STEPS = int(os.environ.get("INTAKE_BOTH_WAYS") or 400)

SOURCES = {
    name: doorway.SOURCES[name]
    for name in ("web", "generic", "quotes", "wa", "wa-per-message", "keyed", "keyed-gated", "by-body", "by-header")
} | {
    "gated": doorway.FORM + 'approval = "required"\n',
    "gated-quotes": doorway.QUOTE + 'approval = "required"\n',
    "links": doorway.FORM + 'hold = "links"\n',
    "repeated": doorway.FORM + 'hold = "repeated"\n',
    "keeps-short": doorway.FORM
    + "".join(f"{what}_retention_days = 30\n" for what in ("payload", "attempt", "decision", "key")),
    "owned": doorway.FORM + 'assignee = "luz"\n',
    "shared-a": doorway.FORM + 'identity_group = "both"\n',
    "shared-b": doorway.FORM + 'identity_group = "both"\n',
    "answers": 'kind = "form"\nprovider = "opnform"\nsecrets = ["env:TOKEN"]\n',
}
LONG = "Quisiera saber el precio de cien sillas para una oficina"
TEXTS = ("Hola", LONG, "Mire www.example.com", "nul \x00 aquí", "medio \ud800 carácter", "x" * 3000, "", " ")
PEOPLE = ("ana@example.com", "luis@example.com", "blocked@example.com", "no e-mail \x00")
TIMES = (None, "2026-11-20T15:04:05-05:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "2099-01-01", 7)
VERSIONS = (1, 2, 3, 2**62, 2**64)
IDS = ("msg_1", "msg_2", "msg_3", "x" * 500, "con espacio")


@dataclass(frozen=True, slots=True)
class Sent:
    """One delivery of the history."""

    source: str
    mode: Mode
    delivery_id: str
    body: bytes
    receipt_id: UUID


def form(random: random.Random) -> object:
    answers = {"name": "Ana Prueba", "email": random.choice(PEOPLE), "message": random.choice(TEXTS)}
    return answers | ({} if (at := random.choice(TIMES)) is None else {"timestamp": at})


def quote(random: random.Random) -> object:
    changes: dict[str, object] = {
        "number": random.choice(["COT-1", "COT-2", "COT\x003"]),
        "version": random.choice(VERSIONS),
        "message": random.choice(TEXTS),
    }
    return doorway.quote(**changes)


def sent(random: random.Random) -> Sent:
    """Few ids and few words, so that the same comes again, and other content under a known id."""
    source = random.choice(list(SOURCES))
    if source.startswith("wa"):
        wamids = [random.choice(["w1", "w2", "w3", "w4", "w5"]) for _ in range(random.choice([1, 1, 2]))]
        at = 1_790_000_000 - random.randrange(100) * 3600
        body = doorway.whatsapp(*(doorway.message(each, random.choice(TEXTS), at=at) for each in wamids))
    elif source == "answers":
        body = doorway.as_json({"edit_link": random.choice(IDS), "data": form(random)})
    else:
        body = doorway.as_json(quote(random) if "quotes" in source else form(random))
    body = random.choice([body] * 9 + [b"{", b"[]", b'{"a": 1}'])
    modes: list[Mode] = ["live", "live", "test"]
    receipt_id = UUID(int=random.getrandbits(128), version=4)
    return Sent(source, random.choice(modes), random.choice(IDS), body, receipt_id)


def read(settings: Settings, given: Sent) -> Received:
    """As the door reads it."""
    headers = doorway.signed(settings, given.source, given.body, delivery_id=given.delivery_id, mode=given.mode)
    lower = {name.lower(): value for name, value in headers.items()}
    lower |= {"idempotency-key": given.delivery_id, "x-request-id": given.delivery_id}
    post = Post(given.source, given.mode, lower["content-type"], lower, given.body, "")
    reader = Reader(settings, settings.sources[given.source], datetime.now(UTC))
    return reader.received(post, reader.read(post), Arrival(given.receipt_id))


def long_way(conn: Conn, key: IdentityKey, received: Received) -> Acceptance:
    """Within somebody's transaction nothing is done at once."""
    with conn.transaction():
        return events.accept(conn, key, received)


def as_the_door(conn: Conn, key: IdentityKey, received: Received, way: Way) -> Acceptance:
    """What the database cannot store is quarantined."""
    try:
        return way(conn, key, received)
    except (psycopg.DataError, psycopg.IntegrityError):
        return way(conn, key, not_storable(received))


# --- what is stored -------------------------------------------------------------------------------------------------

AS_OF = re.compile(rb'"as_of":"[^"]*"')
TABLES = """
    SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
"""


def stored(conn: Conn) -> Mapping[str, list[str]]:
    """Every row of every table, sorted, with its times to whether they are and numbers of ours left out."""
    tables = conn.cursor(row_factory=scalar_row).execute(TABLES).fetchall()
    kept = [table for table in tables if table not in {"installation", "schema_migrations"}]
    return {table: sorted(map(repr, rows(conn, table))) for table in kept}


def rows(conn: Conn, table: str) -> Iterator[Mapping[str, object]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(psycopg.sql.SQL("SELECT * FROM {}").format(psycopg.sql.Identifier(table))):
            yield {name: told(name, value) for name, value in row.items()}


def told(name: str, value: object) -> object:
    if name in {"need_id", "conversation_id", "item_id", "history_id", "body_id"}:
        return value is not None  # Sequences count what was rolled back, too.
    if isinstance(value, datetime):
        recent = abs(datetime.now(UTC) - value) < timedelta(hours=1)
        return "now" if recent else value
    return AS_OF.sub(b'"as_of":"now"', value) if isinstance(value, bytes) else value


@contextmanager
def connected(server: str, template: str) -> Iterator[Conn]:
    with fresh_database(server, template=template) as (_, url), psycopg.connect(url, autocommit=True) as conn:
        yield conn


def begin(conn: Conn, received: Received) -> IdentityKey:
    """Its sender is blocked."""
    key = installation.read(conn).key
    event_id = long_way(conn, key, received).events[0].event_id
    for each in spam.keys_of(received.reading.events[0].lead, key):
        conn.execute(spam.BLOCK, {"mode": "live", "key": each, "event_id": event_id})
    return key


@pytest.mark.parametrize("seed", range(2))
def test_both_ways_store_and_answer_the_same(
    postgres_server: str, migrated_template: str, tmp_path: Path, seed: int
) -> None:
    settings = doorway.read_config(doorway.write_config(tmp_path, SOURCES))
    chance, at_once_taken = random.Random(seed), 0

    def short_way(conn: Conn, key: IdentityKey, received: Received) -> Acceptance:
        nonlocal at_once_taken
        taken = at_once.take(conn, key, received)
        at_once_taken += taken is not None
        return taken or events.accept(conn, key, received)

    with ExitStack() as stack:
        short, long = (stack.enter_context(connected(postgres_server, migrated_template)) for _ in range(2))
        body = doorway.as_json(doorway.ANSWERS | {"email": "blocked@example.com"})
        # Read once: another second would stand in its headers.
        blocked = read(settings, Sent("web", "live", "msg_0", body, UUID(int=1)))
        key = begin(short, blocked)
        assert begin(long, blocked) == key
        for _ in range(STEPS):
            given = read(settings, sent(chance))
            assert as_the_door(short, key, given, short_way) == as_the_door(long, key, given, long_way)
        assert stored(short) == stored(long)
    assert at_once_taken > STEPS / 20
