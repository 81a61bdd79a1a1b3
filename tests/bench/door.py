"""The door: a null view, its work added stage by stage, and what is shipped, round after round side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.bench import ceiling, letters, paced, stages
from tests.bench.figures import Figures
from tests.bench.letters import BATCH, BATCH_OF_50, DUPLICATE, FORM, MESSAGE, REFUSED, Kind
from tests.bench.load import Knock, hammer
from tests.bench.place import STAGES, Servers, Web, environ, gunicorn, new_database
from tests.bench.sizes import Sizes

A_SECOND = 20.0
HOOKS = "/hooks/{source}"
FIRST = Kind(letters.a_form, again=True)


@dataclass(frozen=True, slots=True)
class Knocked:
    """One row of the table: what is sent where.  `few`: measured with the fewest clients only."""

    name: str
    web: Web
    path: str
    kind: Kind
    few: bool = False


@dataclass(frozen=True, slots=True)
class Bench:
    """What the cells share."""

    servers: Servers
    database_url: str
    sizes: Sizes
    figures: Figures


def measure(servers: Servers, sizes: Sizes, figures: Figures, against: Path | None) -> None:
    """`against`: another checkout, whose door is measured beside this one's."""
    bench = Bench(servers, new_database(servers), sizes, figures)
    with psycopg.connect(bench.database_url, autocommit=True) as conn:
        conn.execute(stages.TABLE)
    given = environ(servers, bench.database_url, servers.folder / "door")
    with ExitStack() as stack:
        staged = stack.enter_context(gunicorn(given, app=STAGES))
        door = stack.enter_context(gunicorn(given))
        knocked = [*_stages(staged), *_shipped(door, "door")]
        if against is not None:
            knocked += _shipped(stack.enter_context(gunicorn(given, checkout=against)), "other")
        if sizes.brief:
            knocked = [each for each in knocked if each.name in {"null", "door: form"}]
        for _ in range(sizes.rounds):
            for clients in sizes.clients:
                _round(bench, knocked, clients)
                _ceiling(bench, clients)
        _paced(staged, door, sizes, figures)
    _ratios(sizes, figures, against=against is not None)


def _stages(web: Web) -> Iterator[Knocked]:
    for path in stages.PATHS:
        kind = FORM if path.startswith("/row") else FIRST
        name = path.split("/")[1]
        yield Knocked(name, web, path, kind, few=name not in {"null", "row"})


def _shipped(web: Web, name: str) -> Iterator[Knocked]:
    yield Knocked(f"{name}: form", web, HOOKS, FORM)
    yield Knocked(f"{name}: message", web, HOOKS, MESSAGE)
    yield Knocked(f"{name}: batch of {BATCH}", web, HOOKS, BATCH_OF_50)
    yield Knocked(f"{name}: duplicate", web, HOOKS, DUPLICATE)
    yield Knocked(f"{name}: refused", web, HOOKS, REFUSED)


def _round(bench: Bench, knocked: Sequence[Knocked], clients: int) -> None:
    for each in knocked:
        if each.few and clients != bench.sizes.clients[0]:
            continue
        knock = Knock(each.kind, each.path, clients, bench.sizes.seconds)
        seen = hammer(each.web, knock, postgres=bench.servers.postgres, folder=bench.servers.folder)
        name, events = f"{each.name}, {clients} clients", each.kind.events
        bench.figures.note(name, "events/s", seen.rate * events)
        bench.figures.note(name, "ms p50", seen.p50 * 1000)
        bench.figures.note(name, "ms p99", seen.p99 * 1000)
        bench.figures.note(name, "ms CPU web/event", seen.web_cpu * 1000 / events)
        bench.figures.note(name, "ms CPU/event", seen.cpu * 1000 / events)
        if seen.wrong:
            bench.figures.note(name, "answered otherwise, each", seen.wrong)


def _ceiling(bench: Bench, clients: int) -> None:
    for name, script, events in (
        ("form", ceiling.FORM, 1),
        (f"batch of {BATCH}", ceiling.batch_of(BATCH), BATCH),
    ):
        reached = ceiling.reach(
            bench.database_url, script, clients=clients, seconds=bench.sizes.seconds, folder=bench.servers.folder
        )
        bench.figures.note(f"database alone: {name}, {clients} clients", "events/s", reached.rate * events)


def _paced(staged: Web, door: Web, sizes: Sizes, figures: Figures) -> None:
    count = max(2, round(A_SECOND * sizes.paced_for))
    for name, web, path in (("null", staged, "/null"), ("door: form", door, HOOKS)):
        sent = paced.send(web.port, list(letters.requests(door.settings, FORM, count, path)), a_second=A_SECOND)
        for part in (0.5, 0.99):
            figures.note(f"{name}, paced", f"ms p{part * 100:.0f}", paced.share(sent.waits, part) * 1000)


def _ratios(sizes: Sizes, figures: Figures, *, against: bool) -> None:
    for clients in sizes.clients:
        at = f", {clients} clients"
        null, form, rate = "null" + at, "door: form" + at, "events/s"
        batch = f"door: batch of {BATCH}{at}"
        figures.ratio("accepted_vs_null" + at, (form, rate), (null, rate))
        figures.ratio("row_vs_null" + at, ("row" + at, rate), (null, rate))
        figures.ratio("cpu_vs_null" + at, (form, "ms CPU/event"), (null, "ms CPU/event"))
        figures.ratio("web_cpu_vs_null" + at, (form, "ms CPU web/event"), (null, "ms CPU web/event"))
        figures.ratio("accepted_vs_ceiling" + at, (form, rate), ("database alone: form" + at, rate))
        figures.ratio("batch_vs_ceiling" + at, (batch, rate), (f"database alone: batch of {BATCH}{at}", rate))
        figures.ratio("duplicate_vs_first" + at, ("door: duplicate" + at, rate), (form, rate))
        figures.ratio("refused_vs_null" + at, ("door: refused" + at, rate), (null, rate))
        if against:
            for what in ("form", "message", f"batch of {BATCH}", "duplicate", "refused"):
                for unit in (rate, "ms CPU web/event", "ms CPU/event"):
                    pair = (f"door: {what}{at}", unit), (f"other: {what}{at}", unit)
                    figures.ratio(f"this_vs_other: {what}{at}, {unit}", *pair)
    figures.ratio("paced_p99_vs_null", ("door: form, paced", "ms p99"), ("null, paced", "ms p99"))
    for name in (
        "accepted_vs_null",
        "accepted_vs_ceiling",
        "batch_vs_ceiling",
        "duplicate_vs_first",
        "refused_vs_null",
    ):
        figures.worst(name, [f"{name}, {clients} clients" for clients in sizes.clients])
    for name in ("cpu_vs_null", "web_cpu_vs_null"):
        figures.worst(name, [f"{name}, {clients} clients" for clients in sizes.clients], least=False)
