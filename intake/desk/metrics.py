"""`/metrics` for Prometheus: counted in PostgreSQL when it is asked, so that every web process tells the same.

This host's spool is told beside it, also while PostgreSQL is away: that is when it fills.
Open to this host; from elsewhere (a proxy says so) it needs a token with the scope `read`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final, LiteralString

from flask import Flask, Response, request
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector, CollectorRegistry
from psycopg.rows import tuple_row

from intake.accept_times import BUCKETS
from intake.db import LOST, Conn
from intake.desk import tokens
from intake.desk.tools import LOOPBACK, connection, tools
from intake.spool import stock_of

# What a reverse proxy adds: the request comes from another host then, though the connection does not.
FORWARDED: Final = ("Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via")

OPEN_EVENTS: Final = """
    SELECT state, count(*) FROM deliveries WHERE state NOT IN ('confirmed', 'cancelled', 'superseded') GROUP BY state
"""
OPEN_ITEMS: Final = "SELECT kind, count(*) FROM items WHERE closed_at IS NULL GROUP BY kind"
ITEM_AGES: Final = """
    SELECT kind, extract(epoch FROM clock_timestamp() - min(opened_at)) FROM items WHERE closed_at IS NULL GROUP BY kind
"""
OVERDUE: Final = """
    SELECT coalesce(extract(epoch FROM clock_timestamp() - min(due_at)), 0) FROM lanes
     WHERE due_at <= statement_timestamp()
"""
IN_DOUBT: Final = "SELECT destination, count(*) FROM records WHERE state IN ('asked', 'in_doubt') GROUP BY destination"
PAUSED: Final = "SELECT destination, (paused_at IS NOT NULL)::integer FROM accounts"
REFUSED: Final = "SELECT source, reason, sum(count) FROM refusals GROUP BY source, reason"
ALIVE: Final = """
    SELECT process, count(*) FILTER (WHERE at > statement_timestamp() - interval '30 s')
      FROM heartbeats GROUP BY process
"""
LAST_TICK: Final = """
    SELECT extract(epoch FROM clock_timestamp() - max(at)) FROM heartbeats
     WHERE process = 'clock' HAVING max(at) IS NOT NULL
"""
RECONCILED: Final = """
    SELECT extract(epoch FROM clock_timestamp() - ended_at) FROM reconciliation_runs
     WHERE ended_at IS NOT NULL ORDER BY run_id DESC LIMIT 1
"""
LOOKS_DUE: Final = "SELECT count(*) FROM records WHERE look_at <= statement_timestamp()"
ACCEPTED: Final = "SELECT most, count, seconds FROM accept_times ORDER BY most"
# By indexes, so that it takes as long after years; what was before is in the CRM's figures, not a scraper's.
ATTEMPTS: Final = """
    SELECT destination, kind, outcome, count(*) FROM attempts a
     WHERE destination IN (SELECT destination FROM accounts) AND answered_at > statement_timestamp() - interval '10 min'
       AND outcome IS NOT NULL
     GROUP BY destination, kind, outcome
     UNION ALL
    SELECT destination, kind, 'unanswered', count(*) FROM attempts a
     WHERE destination IN (SELECT destination FROM accounts) AND answered_at IS NULL
       AND prepared_at > statement_timestamp() - interval '10 min' AND closed_at IS NOT NULL
     GROUP BY destination, kind
"""
RECEIPTS: Final = """
    SELECT source, verdict, count(*) FROM receipts
     WHERE source = ANY(%(sources)s) AND mode = 'live' AND received_at > statement_timestamp() - interval '10 min'
     GROUP BY source, verdict
"""
EVENTS: Final = """
    SELECT source, key, sum(value::bigint) FROM receipts, jsonb_each_text(counts)
     WHERE source = ANY(%(sources)s) AND mode = 'live' AND received_at > statement_timestamp() - interval '10 min'
       AND key IN ('events', 'new', 'updates', 'quarantined', 'ignored')
     GROUP BY source, key
"""
Numbers = list[tuple[tuple[str, ...], float]]


class FromDatabase(Collector):
    """One scrape."""

    def __init__(self, conn: Conn, sources: Sequence[str] = ()) -> None:
        self.conn = conn
        self.sources = list(sources)

    def collect(self) -> Iterator[Metric]:
        """Every family."""
        yield _gauge("intake_open_events", "Events that are not final.", ["state"], self._read(OPEN_EVENTS))
        yield _gauge("intake_open_items", "What waits for a person.", ["kind"], self._read(OPEN_ITEMS))
        yield _gauge("intake_oldest_item_seconds", "How long the oldest waits.", ["kind"], self._read(ITEM_AGES))
        yield _gauge("intake_overdue_seconds", "For how long a delivery has been due.", [], self._read(OVERDUE))
        yield _gauge("intake_records_in_doubt", "Records that may stand.", ["destination"], self._read(IN_DOUBT))
        yield _gauge("intake_account_paused", "1: nothing is delivered there.", ["destination"], self._read(PAUSED))
        yield _gauge("intake_processes", "Processes that beat lately.", ["process"], self._read(ALIVE))
        yield _gauge("intake_last_tick_seconds", "Since a clock ticked.", [], self._read(LAST_TICK))
        yield _gauge("intake_reconciled_seconds", "Since a reconciliation ended.", [], self._read(RECONCILED))
        yield _gauge("intake_looks_due", "Records that are to be looked for now.", [], self._read(LOOKS_DUE))
        yield from self._recent()
        yield self._accept_seconds()
        refused = CounterMetricFamily("intake_refused", "Refused at the door.", labels=["source", "reason"])
        for labels, number in self._read(REFUSED):
            refused.add_metric(labels, number)
        yield refused

    def _recent(self) -> Iterator[Metric]:
        """Of the last ten minutes."""
        labels = ["destination", "kind", "outcome"]
        yield _gauge("intake_recent_attempts", "Requests to CRMs in ten minutes.", labels, self._read(ATTEMPTS))
        receipts, events = self._read(RECEIPTS), self._read(EVENTS)
        yield _gauge("intake_recent_receipts", "Deliveries in ten minutes.", ["source", "verdict"], receipts)
        yield _gauge(
            "intake_recent_events", "What was in them; known ones are events less new.", ["source", "what"], events
        )

    def _accept_seconds(self) -> Metric:
        """Since the table was made; a histogram's buckets hold those below them, too."""
        told = {float(most): (number, seconds) for (most, number), seconds in self._read(ACCEPTED)}
        buckets, total = [], 0
        for most in BUCKETS:
            total += int(told.get(most, ("0", 0.0))[0])
            buckets.append(("+Inf" if most == float("inf") else repr(most), float(total)))
        family = HistogramMetricFamily("intake_accept_seconds", "From an accepted delivery's headers to its answer.")
        family.add_metric([], buckets, sum(seconds for _, seconds in told.values()))
        return family

    def _read(self, query: LiteralString) -> Numbers:
        """The last column is the number, those before it are labels."""
        with self.conn.cursor(row_factory=tuple_row) as cursor:
            rows = cursor.execute(query, {"sources": self.sources})
            return [(tuple(str(each) for each in row[:-1]), float(row[-1])) for row in rows]


@dataclass(frozen=True, slots=True)
class OfSpool(Collector):
    """What waits on this host's disk.  `spool_dir` None: nothing ever does."""

    spool_dir: Path | None
    limit: int  # bytes

    def collect(self) -> Iterator[Metric]:
        """Nothing where there is no spool."""
        if self.spool_dir is None:
            return
        stock = stock_of(self.spool_dir, self.limit)
        yield _gauge("intake_spool_bytes", "What waits on this host's disk.", [], [((), stock.bytes)])
        yield _gauge("intake_spool_limit_bytes", "From there on: 503.", [], [((), stock.limit)])
        yield _gauge("intake_spool_oldest_seconds", "How long the oldest waits.", [], [((), stock.oldest or 0)])
        yield _gauge("intake_spool_drained_bytes", "Kept for a restore.", [], [((), stock.drained_bytes)])


def _gauge(name: str, means: str, labels: list[str], numbers: Numbers) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, means, labels=labels)
    for each, number in numbers:
        family.add_metric(each, number)
    return family


def metrics() -> Response:
    """In the text format that the scraper asks for by default."""
    settings = tools().settings
    spool = OfSpool(settings.spool_dir, settings.spool_megabytes * 1024 * 1024)
    try:
        with connection() as conn:
            if not _is_here() and not _has_token(conn):
                return Response(
                    "a token with the scope read is needed\n", HTTPStatus.UNAUTHORIZED, mimetype="text/plain"
                )
            return _told(spool, FromDatabase(conn, list(settings.sources)))
    except LOST:
        # Without the database no token can be looked up, so this host alone is told what it has itself.
        if not _is_here():
            raise
        return _told(spool)


def _told(*collectors: Collector) -> Response:
    registry = CollectorRegistry(auto_describe=False)
    for each in collectors:
        registry.register(each)
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _is_here() -> bool:
    return request.remote_addr in LOOPBACK and not any(name in request.headers for name in FORWARDED)


def _has_token(conn: Conn) -> bool:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    found = tokens.find(conn, secret.strip()) if scheme.lower() == "bearer" else None
    return found is not None and "see" in found.permissions


def register(app: Flask) -> None:
    """Put it into an application."""
    app.add_url_rule("/metrics", "metrics", metrics, methods=["GET"])
