"""`intake prove` in its short form; and that it tells a worker that doubles from one that does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from workers.prove import matrix, place
from workers.prove.company import Company
from workers.prove.matrix import NoSuchRun, Run
from workers.prove.oracle import Verdict
from workers.prove.result import Result

ROOT = Path(__file__).parents[2]

SHORT = (
    "form:contact.committed:crash_after:stored",
    "form:opportunity.answered:crash_before:stored",
    "two_forms:contact.send.before_first_byte:lost_lease:stored",
    "quote:opportunity.update.committed:effect_without_answer:stored",
    "quote:opportunity.update.committed+opportunity.looked:no_effect_no_answer+crash_before:stored",
    "whatsapp:note.committed:error_without_effect:stored",
    "whatsapp:task.committed:answer_without_effect:stored",
    "duplicate:opportunity.committed:late_execution:stored",
    "duplicate:look.send.before_check:rate_limited:stored",
    "form:task.committed:lagging_search:stored",
    "form:contact.committed:false_absent:enforced",
    "two_forms:opportunity.answer.received:paused:enforced",
)


def test_a_dozen_runs_lose_and_double_nothing(empty_database_url: str) -> None:
    place.prepare(empty_database_url)
    result = Result(seed=1)
    with Company([empty_database_url], seed=1) as company:
        for played in company.play(matrix.of_path(each) for each in SHORT):
            result.add(played)
    assert [(each.run.path, each.verdict) for each in result.failures] == []
    assert (result.runs, result.unreached) == (len(SHORT), 0)


def test_a_run_is_the_same_again(empty_database_url: str) -> None:
    place.prepare(empty_database_url)
    run = matrix.of_path("form:contact.committed:no_effect_no_answer:stored")
    with Company([empty_database_url], seed=7) as company:
        first, second = (next(company.play([run])) for _ in range(2))
    assert (first.trail, first.verdict) == (second.trail, second.verdict)


def test_a_conflict_does_not_make_the_first_event_open(empty_database_url: str) -> None:
    place.prepare(empty_database_url)
    with Company([empty_database_url], seed=1) as company:
        (played,) = company.play([Run("duplicate", (), (), "stored")])
    assert played.verdict == Verdict(confirmed=1, uncertain=0, lost=(), doubled=())


def test_a_worker_that_creates_again_without_a_look_makes_it_fail_and_the_simplest_run_is_found(
    empty_database_url: str,
) -> None:
    path = "two_forms:opportunity.committed+task.noted:effect_without_answer+crash_before:stored"
    done = subprocess.run(
        [sys.executable, "-m", "tests.broken_prove", "--json", "--only", path],
        cwd=ROOT, env={**os.environ, "DATABASE_URL": empty_database_url}, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert (told["runs"], told["lost"], told["failures"][0]["path"]) == (1, 0, path)
    assert told["doubled"] >= 1
    assert "2 of one opportunity" in told["failures"][0]["doubled"]
    assert told["failures"][0]["simplest"] == "form:opportunity.committed:effect_without_answer:stored"


def test_a_database_with_something_in_it_is_left_alone(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as conn:
        conn.execute("CREATE TABLE theirs ()")
    with pytest.raises(place.NotEmpty):
        place.prepare(empty_database_url)


@pytest.mark.parametrize("path", ["form", "form:contact.committed:rain:stored", "rain:a:crash_before:stored"])
def test_a_path_that_names_nothing_is_refused(path: str) -> None:
    with pytest.raises(NoSuchRun):
        matrix.of_path(path)
