"""Anything in any order, as often as Hypothesis wants, ends with each record once.

STATEFUL_RUNS: how many runs of how many steps each, `8x25` if it is not set.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.lab import lab
from tests.simulation.anything import Anything
from tests.simulation.anything_restored import Restored
from tests.simulation.crew import Crew

RUNS, STEPS = map(int, os.environ.get("STATEFUL_RUNS", "8x25").split("x"))


def bounded(runs: int) -> settings:
    return settings(
        max_examples=runs, stateful_step_count=STEPS, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip


def test_anything_in_any_order_ends_with_each_record_once(database_url: str, tmp_path: Path) -> None:
    runs = iter(range(10_000))
    with lab(database_url, tmp_path, debounce=20) as made, Crew(made) as crew:
        run_state_machine_as_test(lambda: Anything(crew, next(runs)), settings=bounded(RUNS))  # type: ignore[arg-type]
        sys.stdout.write(f"{RUNS} runs: {dict(crew.happened)}\n")


def test_anything_in_any_order_with_a_restore_in_it_ends_with_each_record_once(
    database_url: str, postgres_server: str, tmp_path: Path
) -> None:
    runs = iter(range(10_000))
    with ExitStack() as copies, lab(database_url, tmp_path, debounce=20) as made, Crew(made) as crew:
        run_state_machine_as_test(
            lambda: Restored(crew, next(runs), postgres_server, copies),  # type: ignore[arg-type]
            settings=bounded(RUNS // 2),
        )
