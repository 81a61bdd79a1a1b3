"""What workers know of CRM accounts and people want to see: written by a worker, shown at the desk.

a worker begins: client, verified, limits, pages · a CRM's answer says so: a day's quota, once a minute at most
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final, TypedDict

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from intake.db import Conn


@dataclass(frozen=True, slots=True)
class Published:
    """At most `calls` of one bucket in so many milliseconds, by the vendor's page; `ours`: how many of them we use."""

    bucket: str
    calls: int
    ours: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Facts:
    """`verified`: the client ran against a server that keeps state.  `quota_left` None: the CRM said nothing of it.

    `quota_of` None: it does not say of how many.
    """

    destination: str
    client: str
    verified: bool
    limits: tuple[Published, ...]
    noted_at: datetime
    quota_left: int | None = None
    quota_of: int | None = None
    quota_at: datetime | None = None


NOTE: Final = """
    INSERT INTO account_facts (destination, client, verified, limits)
    VALUES (%(destination)s, %(client)s, %(verified)s, %(limits)s)
    ON CONFLICT (destination) DO UPDATE
       SET client = EXCLUDED.client, verified = EXCLUDED.verified, limits = EXCLUDED.limits,
           noted_at = clock_timestamp()
"""

PAGES: Final = """
    INSERT INTO record_pages (destination, pages) VALUES (%(destination)s, %(pages)s)
    ON CONFLICT (destination) DO UPDATE SET pages = EXCLUDED.pages
"""


def note(  # noqa: PLR0913  # one parameter a fact
    conn: Conn,
    destination: str,
    client: str,
    *,
    verified: bool,
    limits: Sequence[Published],
    pages: Mapping[str, str],
) -> None:
    """As the worker that begins just now knows it.  `pages`: by kind of record, with "{id}" where its id goes."""
    told = Jsonb([asdict(each) for each in limits])
    conn.execute(NOTE, {"destination": destination, "client": client, "verified": verified, "limits": told})
    conn.execute(PAGES, {"destination": destination, "pages": Jsonb(dict(pages))})


QUOTA: Final = """
    UPDATE account_facts SET quota_left = %(left)s, quota_of = %(of)s, quota_at = clock_timestamp()
     WHERE destination = %(destination)s
"""


def note_quota(conn: Conn, destination: str, *, left: int, of: int | None) -> None:
    """What the CRM said just now."""
    conn.execute(QUOTA, {"destination": destination, "left": left, "of": of})


class _Limit(TypedDict):
    """One of `limits` as it is stored."""

    bucket: str
    calls: int
    ours: int
    milliseconds: int


def all_known(conn: Conn) -> dict[str, Facts]:
    """By the name of the account."""
    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("SELECT * FROM account_facts").fetchall()
    return {row["destination"]: Facts(**row | {"limits": _limits(row["limits"])}) for row in rows}


def _limits(stored: Sequence[_Limit]) -> tuple[Published, ...]:
    return tuple(Published(**each) for each in stored)
