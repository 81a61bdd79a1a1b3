"""Workers against the sandbox CRM: deliveries a second against what the CRM's own time allows, CPU and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import permutations
from uuid import uuid4

import psycopg
from psycopg.rows import scalar_row

from intake.db import open_pool
from intake.reading import Post
from intake.receive import Door
from tests import doorway
from tests.bench import letters, paced
from tests.bench.crm import Company, company, workers
from tests.bench.effort import cpu_seconds, family_mib
from tests.bench.figures import Figures
from tests.bench.load import CannotMeasure
from tests.bench.paced import share
from tests.bench.place import CHECKOUT, Servers, gunicorn
from tests.bench.sizes import Cell, Sizes

PATIENCE = 90.0  # seconds for all deliveries of one cell
PLAIN = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT)}

CONFIRMED = "SELECT count(*) FROM deliveries WHERE state = 'confirmed'"
CLAIMED = "SELECT count(*) FROM delivery_history WHERE to_state = 'delivering'"
CLAIMS = "SELECT at FROM delivery_history WHERE to_state = 'delivering' ORDER BY at"
TOOK = """
    SELECT extract(epoch FROM done.at - claimed.at)::float
      FROM delivery_history done JOIN delivery_history claimed USING (event_id, generation)
     WHERE done.to_state = 'confirmed' AND claimed.to_state = 'delivering'
"""
ARRIVED = """
    SELECT extract(epoch FROM changed_at - received_at)::float FROM deliveries WHERE state = 'confirmed'
"""


def measure(servers: Servers, sizes: Sizes, figures: Figures) -> None:
    for cell in sizes.cells:
        with company(servers, cell) as ours:
            _cell(ours, cell, sizes, figures)
    for rate in sizes.flows:
        with company(servers, sizes.flow_cell) as ours:
            _flow(ours, rate, sizes, figures)
    _ratios(sizes, figures)


def name_of(cell: Cell) -> str:
    return f"{cell.processes}x{cell.threads} threads, {cell.latency * 1000:.0f} ms a call"


def _cell(ours: Company, cell: Cell, sizes: Sizes, figures: Figures) -> None:
    count = cell.at_once * sizes.waves
    _fill(ours, count)
    by_requests = _calls_alone(ours, cell)
    before = ours.calls()
    with workers(ours, cell.processes) as pids:
        _wait_until(ours, CLAIMED, 1)
        cpu = cpu_seconds(*pids)
        _wait_until(ours, CLAIMED, cell.at_once)
        mib = family_mib(*pids)  # Every thread has one in flight.
        _wait_until(ours, CONFIRMED, count)
        cpu = cpu_seconds(*pids) - cpu
    calls = (ours.calls() - before) / count
    rate = _rate(_values(ours, CLAIMS), cell.at_once)
    name = f"deliver: {name_of(cell)}"
    figures.note(name, "events/s", rate)
    figures.note(name, "calls/event", calls)
    figures.note(name, "s p50", share(_values(ours, TOOK), 0.5))
    figures.note(name, "ms CPU worker/event", cpu * 1000 / count)
    figures.note(name, "ms CPU requests alone/event", by_requests)
    figures.note(name, "ms CPU beyond requests/event", cpu * 1000 / count - by_requests)
    figures.note(name, "MiB", mib)
    figures.note(name, "events/s of the bound", cell.at_once / (calls * cell.latency))
    figures.note(name, "events/s per MiB", rate / mib)


def _fill(ours: Company, count: int) -> None:
    """So many forms, accepted and due."""
    settings = doorway.read_config(ours.home / "intake.toml")
    with open_pool(ours.database_url, size=1) as pool:
        door = Door(settings, pool, now=lambda: datetime.now(UTC), new_id=uuid4, patience=30.0)
        for _ in range(count):
            letter = letters.a_form()
            headers = doorway.signed(settings, letter.source, letter.body, delivery_id=letter.delivery_id)
            lower = {name.lower(): value for name, value in headers.items()}
            told = door.receive(Post(letter.source, "live", lower["content-type"], lower, letter.body, ""))
            if not told.accepted:
                raise CannotMeasure(f"the door answers {told.status}")


def _calls_alone(ours: Company, cell: Cell) -> float:
    """Milliseconds of CPU that `requests` takes of one event, as many calls at once as the workers make."""
    command = [sys.executable, "-P", "-m", "tests.bench.plain", ours.dials.url, str(cell.threads)]
    with ExitStack() as stack:
        made = [
            stack.enter_context(subprocess.Popen(command, cwd=CHECKOUT, env=PLAIN, stdout=subprocess.PIPE, text=True))
            for _ in range(cell.processes)
        ]
        told = [each.communicate(timeout=PATIENCE)[0] for each in made]
    if any(each.returncode for each in made):
        raise CannotMeasure("the calls of a form, by requests alone, failed")
    return sum(map(float, told)) / len(told)


def _wait_until(ours: Company, query: str, reached: int) -> None:
    until = time.monotonic() + PATIENCE
    while (now := ours.count(query)) < reached:
        if time.monotonic() > until:
            log = (ours.home / "workers.log").read_text()[-300:]
            raise CannotMeasure(f"after {PATIENCE:.0f} s {now} of {reached}: {query}: {log}")
        time.sleep(0.1)


def _values(ours: Company, query: str) -> list[float]:
    with psycopg.connect(ours.database_url) as conn, conn.cursor(row_factory=scalar_row) as cursor:
        rows = cursor.execute(query.encode()).fetchall()
    return [each.timestamp() if isinstance(each, datetime) else float(each) for each in rows]


def _rate(claims: Sequence[float], at_once: int) -> float:
    """Deliveries a second while all threads had one: each claim but the first ones followed a delivery's end."""
    return (len(claims) - at_once) / max(0.001, claims[-1] - claims[at_once - 1])


# --- at an even pace ------------------------------------------------------------------------------------------------


def _flow(ours: Company, rate: float, sizes: Sizes, figures: Figures) -> None:
    """Forms at an even pace, delivered meanwhile: from accepted to delivered, and how long senders wait."""
    cell = sizes.flow_cell
    count = max(2, round(rate * sizes.paced_for))
    with gunicorn(ours.given) as door:
        alone = paced.send(door.port, _forms(ours, count), a_second=rate)
        held = psycopg.connect(ours.database_url, autocommit=True)
        with held:
            held.execute("UPDATE deliveries SET due_at = due_at + interval '1 day' WHERE state = 'received'")
        with workers(ours, cell.processes):
            time.sleep(2.0)  # Until they have begun; what they cost then is nobody's.
            began = ours.calls()
            sent = paced.send(door.port, _forms(ours, count), a_second=rate)
            _wait_until(ours, CONFIRMED, count)
    calls = (ours.calls() - began) / count
    name = f"flow: {rate:.0f} a second, {name_of(cell)}"
    arrived = share(_values(ours, ARRIVED), 0.5)
    figures.note(name, "s p50 accepted to delivered", arrived)
    figures.note(name, "calls/event", calls)
    figures.note(name, "ms p99 door", share(sent.waits, 0.99) * 1000)
    figures.note(name, "ms p99 door alone", share(alone.waits, 0.99) * 1000)
    figures.ratios[f"arrival_vs_calls, {rate:.0f} a second"] = arrived / (calls * cell.latency)
    figures.ratio(f"flow_p99_vs_alone, {rate:.0f} a second", (name, "ms p99 door"), (name, "ms p99 door alone"))


def _forms(ours: Company, count: int) -> list[bytes]:
    settings = doorway.read_config(ours.home / "intake.toml")
    return list(letters.requests(settings, letters.FORM, count))


def _ratios(sizes: Sizes, figures: Figures) -> None:
    for cell in sizes.cells:
        name = f"deliver: {name_of(cell)}"
        ratio = f"delivered_vs_bound, {name_of(cell)}"
        figures.ratio(ratio, (name, "events/s"), (name, "events/s of the bound"))
    figures.worst("delivered_vs_bound", _wanted(sizes))
    _memory(sizes, figures)


def _memory(sizes: Sizes, figures: Figures) -> None:
    """What more deliveries at once took, in as many processes and at the same pace."""
    for few, many in permutations(sizes.cells, 2):
        below, above = (figures.of(f"deliver: {name_of(cell)}", "MiB") for cell in (few, many))
        alike = (few.processes, few.latency) == (many.processes, many.latency) and few.threads < many.threads
        if alike and below is not None and above is not None:
            each = (above.median - below.median) * 1024 / (many.at_once - few.at_once)
            figures.note(f"memory: {name_of(many)}, over {few.threads}", "KiB/delivery in flight", each)


def _wanted(sizes: Sizes) -> Iterator[str]:
    """At a usual CRM's pace; where only others were measured, at those."""
    usual = [cell for cell in sizes.cells if cell.latency == 0.2] or list(sizes.cells)
    return (f"delivered_vs_bound, {name_of(cell)}" for cell in usual)
