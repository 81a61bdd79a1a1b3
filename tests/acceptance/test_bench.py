"""bin/bench runs, and its JSON has what is asked of it.  No time is judged here: a busy machine is no bug.

INTAKE_BENCH=1 has all of its parts run, as small as they get.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import report
from tests.bench.figures import Figures

CHECKOUT = Path(__file__).resolve().parents[2]
LONG = bool(os.environ.get("INTAKE_BENCH"))
WRK = shutil.which("wrk") is not None

RATIOS = {
    "door": {"accepted_vs_null", "accepted_vs_ceiling", "cpu_vs_null", "paced_p99_vs_null"},
    "deliver": {"delivered_vs_bound"},
    "growth": {"growth_door", "claims_held_back"},
    "start": set[str](),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "section",
    [
        pytest.param("door", marks=pytest.mark.skipif(not WRK, reason="wrk is not installed")),
        pytest.param("deliver", marks=pytest.mark.skipif(WRK and not LONG, reason="INTAKE_BENCH is not set")),
        pytest.param("growth", marks=pytest.mark.skipif(not (WRK and LONG), reason="wrk, INTAKE_BENCH is not set")),
        pytest.param("start", marks=pytest.mark.skipif(not LONG, reason="INTAKE_BENCH is not set")),
    ],
)
def test_bench_measures_and_says_it_as_json(section: str, tmp_path: Path) -> None:
    file, picture = tmp_path / "bench.json", tmp_path / "bench.svg"
    options = ["--tiny", "--only", section, "--json", str(file), "--svg", str(picture)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", *options],
        cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=570,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    told = json.loads(file.read_text())
    assert told["ratios"].keys() >= RATIOS[section]
    assert told["figures"]
    assert picture.read_text().startswith("<svg")


def test_a_ratio_is_made_of_rounds_that_ran_side_by_side() -> None:
    figures = Figures()
    for over, under in ((10.0, 20.0), (50.0, 100.0), (9.0, 10.0)):
        figures.note("door", "events/s", over)
        figures.note("null", "events/s", under)
    figures.ratio("share", ("door", "events/s"), ("null", "events/s"))
    assert figures.ratios == {"share": 0.5}


def test_a_ratio_of_what_was_not_measured_is_none() -> None:
    figures = Figures()
    figures.note("door", "events/s", 1.0)
    figures.ratio("share", ("door", "events/s"), ("null", "events/s"))
    assert figures.ratios == {}


def test_the_picture_shows_what_has_a_rate() -> None:
    figures = Figures()
    figures.note("door <form>", "events/s", 12.0)
    figures.note("door <form>", "ms p99", 3.0)
    drawn = report.svg(figures)
    assert "door &lt;form&gt;" in drawn
    assert drawn.count("<rect") == 2  # the ground, and one bar
