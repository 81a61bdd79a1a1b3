"""The whole pipeline in one process: the real door, the real workers, a real database, and the sandbox CRM.

Nothing runs by itself, and time passes when the stage says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from psycopg import sql
from psycopg.rows import dict_row, scalar_row

from crm_clients.sandbox import profiles
from crm_clients.sandbox.clock import Held
from crm_clients.sandbox.profiles import Profile
from crm_clients.sandbox.server import Running, running
from crm_clients.transport import Transport
from intake import installation
from intake.attempts import Patience
from intake.config import Settings, load
from intake.db import Pool, open_pool, transaction
from intake.installation import Installation
from intake.sources import PROVIDERS
from workers import checks
from workers.desk import Desk, Wired
from workers.prove import timetable
from workers.prove.commits import Ear, telling
from workers.prove.doors import Doors, doors
from workers.wiring import wire

Json = dict[str, object]

# What the account declares, in seconds.  The limit is longer than a step, so that what is executed late comes between
# the looks of a proof of absence.
LIMIT, LAG = 45.0, 5.0
STEP = timedelta(seconds=31)  # longer than the lease
PATIENCE = Patience(
    lease=timedelta(seconds=30), send_within=timedelta(seconds=5), call=timedelta(seconds=5), look=timedelta(seconds=5)
)
HELD_WITHIN = 10.0  # seconds in which a thread of this process does what is due

SECRET = "whsec_" + "c2VjcmV0LW9mLXR3ZW50eS1mb3VyLWJ5dGVz"  # it opens nothing but this stage
ENVIRON = {"PROVE_SECRET": SECRET, "PROVE_META": "meta-app-secret", "PROVE_VERIFY": "verify-me"}

CONFIG = """
[[destinations]]
name = "crm"
client = "sandbox"
base_url = "{url}"
currency = "PEN"
[destinations.owner]
rule = "affinity, round_robin"
users = ["ana", "luis"]
[destinations.options]
profile = "{profile}"
limit_seconds = "{limit}"
lag_seconds = "{lag}"

[defaults]
destination = "crm"

[[sources]]
name = "web"
kind = "form"
provider = "standard_webhooks"
secrets = ["env:PROVE_SECRET"]

[[sources]]
name = "wa"
kind = "whatsapp"
provider = "whatsapp_cloud"
secrets = ["env:PROVE_META"]
verify_token = "env:PROVE_VERIFY"
debounce_seconds = 0

[[sources]]
name = "quotes"
kind = "quote"
provider = "quote"
secrets = ["env:PROVE_SECRET"]
"""

# What a run leaves behind is removed before the next; the rest belongs to the stage.
KEPT = ("installation", "schema_migrations", "sentinels", "accounts", "made_by_prove")
# What refers to a table was made after it.
TABLES = """
    SELECT relname FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL(%(kept)s) ORDER BY oid DESC
"""


@dataclass(slots=True)
class Stage:
    """`watched`: connections whose commits are boundaries, of which `ear` is told; the doors' are such, too.

    `empty`: the statement that takes away what a run leaves behind.  `ours`: the ids of the sentinels in the CRM.
    `offset`: how far the CRM's clock was set on.
    `late`: the offset at which what the CRM holds back is executed; None: it holds nothing back.
    """

    profile: Profile
    settings: Settings
    pool: Pool
    watched: Pool
    ear: Ear
    doors: Doors
    here: Installation
    wired: Wired
    crm: Running
    empty: sql.Composed = field(default_factory=lambda: sql.Composed([]))
    ours: tuple[str, ...] = ()
    since: int = 0
    offset: timedelta = timedelta(0)
    late: timedelta | None = None

    def desk(self, transport: Transport, *, jitter: Callable[[], float], **tools: Callable[..., object]) -> Desk:
        """A worker's desk.  `tools`: its own `at` and `clock`."""
        made = Desk(
            self.pool, self.settings, self.here, {"crm": self.wired}, transport, patience=PATIENCE, jitter=jitter
        )
        return replace(made, **tools)  # type: ignore[arg-type]  # names of its fields

    def clean(self) -> None:
        """As if nothing had ever been sent."""
        sandbox = self.crm.sandbox
        sandbox.rules.replace([])
        sandbox.held.abandon()
        sandbox.held = Held(sandbox.clock)
        self.late = None
        sandbox.profile = self.profile
        self.doors.clean()
        kept = ", ".join("?" for _ in self.ours)
        sandbox.store.write(f"DELETE FROM records WHERE id NOT IN ({kept})", *self.ours)  # noqa: S608  # placeholders
        sandbox.store.write("DELETE FROM replays")
        self.since = self.newest_entry()
        with transaction(self.pool) as conn:
            conn.execute("SET LOCAL intake.purge = 'on'")
            conn.execute(self.empty)
            conn.execute("UPDATE accounts SET paused_at = NULL, paused_reason = NULL, control_at = NULL")
            # As old as they were for the run before.
            conn.execute("UPDATE sentinels SET seen_at = clock_timestamp()")

    def pass_time(self, span: timedelta) -> None:
        """For the pipeline and for the CRM, which executes by then what it held back and what has become due."""
        self.offset += span
        sandbox = self.crm.sandbox
        sandbox.clock.set_offset(self.offset)
        if self.late is not None and self.late <= self.offset:
            self.executed()
        with transaction(self.pool) as conn:
            timetable.pass_time(conn, span)

    def hold_next(self) -> None:
        """The next request is one that the CRM executes late, though within its declared limit."""
        self.late = self.offset + timedelta(seconds=LIMIT)

    def executed(self) -> None:
        """Return when what was held back is executed."""
        until = time.monotonic() + HELD_WITHIN
        while self.crm.sandbox.held.count() and time.monotonic() < until:
            time.sleep(0.002)
        self.late = None

    def newest_entry(self) -> int:
        """Where the CRM's ledger ends now."""
        (row,) = self.crm.sandbox.store.rows("SELECT coalesce(max(seq), 0) AS seq FROM ledger")
        return int(str(row["seq"]))

    def made(self) -> list[Json]:
        """What the CRM made in this run, by its ledger."""
        return self.crm.sandbox.store.rows(
            "SELECT kind, id, reference FROM ledger WHERE seq > ? AND what = 'created' ORDER BY seq", self.since
        )

    def found(self, reference: str) -> str | None:
        """The id of what lives in the CRM under a reference; None: nothing does."""
        rows = self.crm.sandbox.store.rows("SELECT id FROM records WHERE live AND reference = ?", reference)
        return str(rows[0]["id"]) if rows else None

    def records(self) -> list[Json]:
        """The records that live in the CRM, as they are stored, without the sentinels."""
        rows = self.crm.sandbox.store.rows("SELECT id, kind, parent_id, data FROM records WHERE live ORDER BY id")
        return [row for row in rows if str(row["id"]) not in self.ours]

    def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[Json]:
        """What the database says."""
        with self.pool.connection() as conn, conn.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query, parameters).fetchall()


@contextmanager
def stage(database_url: str, folder: Path, profile: str) -> Iterator[Stage]:
    """A stage with a CRM of its own.  The database has our tables, and nobody else uses it."""
    weak = not profiles.PROFILES[profile].states_lag
    lag = LAG if profile == "lagging" else profiles.PROFILES[profile].lag if weak else 0.0
    of = profiles.profile(profile, lag=0.0, limit=LIMIT)
    with running(of=of) as crm, Transport() as transport, ExitStack() as stack:
        file = folder / "intake.toml"
        file.write_text(CONFIG.format(url=crm.url, profile=profile, limit=LIMIT, lag=LAG), "utf-8")
        settings = load(file, ENVIRON, built_in=PROVIDERS.keys())
        ear = Ear()
        pool = open_pool(database_url, size=4)
        watched = open_pool(database_url, size=4, connection_class=telling(ear.hear))
        try:
            with pool.connection() as conn:
                here = installation.read(conn)
            there = stack.enter_context(doors(settings, database_url, folder, ear.hear))
            wired = wire(settings.destinations["crm"], ENVIRON)
            made = Stage(of, settings, pool, watched, ear, there, here, wired, crm)
            made.empty = _emptying(_tables(pool))
            _forget_sentinels(pool)
            _create_sentinels(made.desk(transport, jitter=lambda: 0.0), wired)
            made.ours = tuple(str(each["id"]) for each in crm.sandbox.store.rows("SELECT id FROM records"))
            # They are old when the lag begins, so that no run waits for them.
            made.profile = replace(of, lag=lag)
            yield made
        finally:
            watched.close()
            pool.close()


def _tables(pool: Pool) -> tuple[str, ...]:
    with pool.connection() as conn, conn.cursor(row_factory=scalar_row) as cursor:
        return tuple(cursor.execute(TABLES, {"kept": list(KEPT)}).fetchall())


def _emptying(tables: Sequence[str]) -> sql.Composed:
    """One statement that empties all of them, whichever refers to which."""
    each = sql.SQL("{} AS (DELETE FROM {})")
    emptied = [each.format(sql.Identifier(f"{table}_emptied"), sql.Identifier(table)) for table in tables]
    return sql.SQL("WITH {} SELECT").format(sql.SQL(", ").join(emptied))


def _forget_sentinels(pool: Pool) -> None:
    """Those of another stage stood in another CRM."""
    with pool.connection() as conn:
        conn.execute("DELETE FROM sentinels")


class NotReady(RuntimeError):
    """The sandbox CRM could not be prepared: something is broken before any fault."""


def _create_sentinels(desk: Desk, wired: Wired) -> None:
    wrong = [each for each in checks.check(desk, wired, create=True) if not each.ok]
    if wrong:
        raise NotReady(f"{wrong[0].what}: {wrong[0].detail}")
