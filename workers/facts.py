"""What this worker knows of its accounts and people want to see, written where the desk reads it."""

from __future__ import annotations

import math
from contextlib import suppress

import psycopg
import psycopg_pool

from crm_clients import quotas
from crm_clients.abilities import HasLimits, HasPages
from crm_clients.base import Client, Kind, Response
from intake import account_facts
from intake.account_facts import Published
from intake.db import Conn
from workers.desk import Desk, Wired
from workers.limiter import milliseconds, share

# A quota is written down so often at most, in seconds.
EVERY = 60.0


def note(conn: Conn, wired: Wired) -> None:
    """Which client speaks to an account, whether it ever ran against a real server, its limits and its pages."""
    client = wired.client
    limits = client.limits() if isinstance(client, HasLimits) else ()
    published = [Published(each.bucket, each.calls, share(each), milliseconds(each.per)) for each in limits]
    account_facts.note(
        conn, wired.destination.name, client.name, verified=client.verified, limits=published,
        pages=pages_of(client, wired.account.base_url),
    )  # fmt: skip


def pages_of(client: Client, base_url: str) -> dict[str, str]:
    """Where people see an account's records, by kind, with "{id}" where the id goes."""
    if not isinstance(client, HasPages):
        return {}
    found = ((kind.value, client.page(kind, base_url)) for kind in Kind)
    return {kind: page for kind, page in found if page is not None}


def hear(desk: Desk, wired: Wired, response: Response) -> None:
    """What an answer says of the day's quota; nothing of a delivery hangs on its being kept."""
    quota, name = quotas.told(response), wired.destination.name
    if quota is None or desk.clock() < desk.quotas.get(name, -math.inf) + EVERY:
        return
    desk.quotas[name] = desk.clock()
    with suppress(psycopg.Error, psycopg_pool.PoolTimeout), desk.pool.connection() as conn:
        account_facts.note_quota(conn, name, left=quota.left, of=quota.of)
