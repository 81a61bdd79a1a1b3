"""How everything is: the ways in, the CRM accounts, the processes, and what holds that somebody should know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import redis
from psycopg.rows import class_row, dict_row

from intake import account_facts, budgets, heartbeats, pauses, worklist
from intake.account_facts import Facts
from intake.alerts import changes
from intake.alerts.changes import Held
from intake.budgets import Budget
from intake.config import Destination, Settings, Source
from intake.db import Conn
from intake.desk import at_door, measured
from intake.desk.at_door import Refused
from intake.desk.measured import Measured
from intake.heartbeats import Pulse
from intake.worklist import LastDelivery

KINDS = 4  # of sentinels that an account has when it was checked


@dataclass(frozen=True, slots=True)
class Way:
    """A source.  `status`: whether it takes deliveries.  `open_events`: how many of its events are not final.

    `url`, `test_url`: what is registered at its sender.  `refused`: what the door did not let in lately.
    """

    source: Source
    url: str
    test_url: str
    status: Literal["open", "closed", "disabled", "unavailable"]
    paused: bool
    last: LastDelivery
    open_events: int
    refused: Sequence[Refused]


OPEN_BY_SOURCE = """
    SELECT source AS name, count(*) AS number FROM deliveries
     WHERE state NOT IN ('confirmed', 'cancelled', 'superseded') GROUP BY source
"""
OPEN_BY_DESTINATION = """
    SELECT destination AS name, count(*) AS number FROM deliveries
     WHERE state NOT IN ('confirmed', 'cancelled', 'superseded') GROUP BY destination
"""


def ways(conn: Conn, settings: Settings, *, since: datetime) -> list[Way]:
    """Every source of the configuration.  `since`: from when refusals count."""
    last, paused = worklist.last_deliveries(conn, settings.sources), set(pauses.paused_sources(conn))
    waiting, refused = _numbers(conn, "source"), at_door.refused(conn, since=since)
    return [
        Way(
            each,
            f"{settings.public_base_url}/hooks/{each.name}",
            f"{settings.public_base_url}/test/hooks/{each.name}",
            _status(each),
            each.name in paused,
            last[each.name],
            waiting.get(each.name, 0),
            [one for one in refused if one.source == each.name],
        )
        for each in settings.sources.values()
    ]


def _numbers(conn: Conn, of: Literal["source", "destination"]) -> dict[str, int]:
    query = OPEN_BY_SOURCE if of == "source" else OPEN_BY_DESTINATION
    with conn.cursor(row_factory=dict_row) as cursor:
        return {str(row["name"]): int(row["number"]) for row in cursor.execute(query)}


def _status(source: Source) -> Literal["open", "closed", "disabled", "unavailable"]:
    if not source.enabled:
        return "disabled"
    if not source.available:
        return "unavailable"
    return "closed" if source.closed_because else "open"


@dataclass(frozen=True, slots=True)
class Account:
    """A CRM account.  `paused_at` None: it is delivered to.  `sentinels`: how many of the four stand.

    `facts` None: no worker began with it yet.  `budgets` None: nobody can say, Redis is away.  `measured` None: never.
    """

    destination: Destination
    paused_at: datetime | None = None
    paused_reason: str | None = None
    sentinels: int = 0
    open_events: int = 0
    facts: Facts | None = None
    budgets: Sequence[Budget] | None = None
    measured: Measured | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    destination: str
    paused_at: datetime | None
    paused_reason: str | None
    sentinels: int


ACCOUNTS = """
    SELECT destination, paused_at, paused_reason,
           (SELECT count(*) FROM sentinels s WHERE s.destination = a.destination) AS sentinels
      FROM accounts a
"""


def accounts(conn: Conn, settings: Settings, counters: redis.Redis | None) -> list[Account]:
    """Those that a source delivers to.  `counters`: where the workers count their calls."""
    with conn.cursor(row_factory=class_row(_Row)) as cursor:
        known = {each.destination: each for each in cursor.execute(ACCOUNTS)}
    waiting, facts, contracts = _numbers(conn, "destination"), account_facts.all_known(conn), measured.newest(conn)
    used = {name for each in settings.sources.values() for name in (each.destination, each.test_destination)}
    made = []
    for name in sorted(used & settings.destinations.keys()):
        row = known.get(name) or _Row(name, None, None, 0)
        made.append(Account(
            settings.destinations[name], row.paused_at, row.paused_reason, row.sentinels, waiting.get(name, 0),
            facts.get(name), _budgets(counters, facts.get(name)), contracts.get(name),
        ))  # fmt: skip
    return made


def _budgets(counters: redis.Redis | None, facts: Facts | None) -> Sequence[Budget] | None:
    if facts is None or not facts.limits:
        return ()
    return None if counters is None else budgets.read(counters, facts.destination, facts.limits)


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The last reconciliation.  `incidents`: how many it found."""

    finished_at: datetime
    verified: bool
    incidents: int


RECONCILED = """
    SELECT finished_at, verified, jsonb_array_length(CASE jsonb_typeof(incidents) WHEN 'array' THEN incidents
                                                     ELSE jsonb_build_array() END) AS incidents
      FROM reconciliations ORDER BY reconciliation_id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Health:
    """`holds`: conditions that hold now.  `reconciled` None: never."""

    pulses: Sequence[Pulse]
    holds: Sequence[Held]
    reconciled: Reconciled | None
    states: dict[str, int]

    @property
    def silent(self) -> list[str]:
        """The kinds of process of which none lives, and without which nothing is delivered."""
        living = {each.process for each in self.pulses if each.alive}
        return [each for each in ("clock", "worker") if each not in living]


STATES = """
    SELECT state AS name, count(*) AS number FROM deliveries
     WHERE state NOT IN ('confirmed', 'cancelled', 'superseded') GROUP BY state
"""


def health(conn: Conn) -> Health:
    """How the processes and the queue are."""
    with conn.cursor(row_factory=class_row(Reconciled)) as cursor:
        reconciled = cursor.execute(RECONCILED).fetchone()
    with conn.cursor(row_factory=dict_row) as counts:
        states = {str(row["name"]): int(row["number"]) for row in counts.execute(STATES)}
    holds = [each for each in changes.held(conn) if each.ended_at is None]
    return Health(heartbeats.pulses(conn), holds, reconciled, states)
