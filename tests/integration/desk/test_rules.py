"""The alert rules and the page about metrics name what `/metrics` tells, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from intake.accept_times import BUCKETS, AcceptTimes, Timed
from intake.db import transaction
from tests.integration.desk.conftest import Scene
from tests.integration.desk.test_metrics import scraper, spool_dir  # noqa: F401  # a fixture
from workers import clock

DOCS = Path(__file__).parents[3] / "docs"
RULES = yaml.safe_load((DOCS / "examples" / "prometheus" / "lead-intake.rules.yml").read_text("utf-8"))
NAME = re.compile(r"\bintake_\w+")
SUFFIX = re.compile(r"_(bucket|count|sum)$")


def rules() -> Iterator[dict[str, object]]:
    for group in RULES["groups"]:
        yield from group["rules"]


@pytest.fixture
def told(scene: Scene, spool_dir: Path) -> dict[str, set[str]]:  # noqa: F811  # as pytest wants it
    """The names of what is told, with their labels."""
    clock.tick(scene.lab.pool, name="lab")
    with transaction(scene.lab.pool) as conn:
        conn.execute("INSERT INTO reconciliation_runs (due_at, ended_at) VALUES (NULL, clock_timestamp())")
    text = scraper(scene, spool_dir, scene.lab.pool).get("/metrics").get_data(as_text=True)
    families = {each.name: each for each in text_string_to_metric_families(text)}
    return {
        f"{name}_total" if each.type == "counter" else name: {key for sample in each.samples for key in sample.labels}
        for name, each in families.items()
    }


def test_every_metric_of_a_rule_is_told(told: dict[str, set[str]]) -> None:
    used = {SUFFIX.sub("", name) for rule in rules() for name in NAME.findall(str(rule["expr"]))}
    assert len(used) > 10
    assert used <= told.keys()


def test_the_page_names_every_metric_and_no_other(told: dict[str, set[str]]) -> None:
    named = set(re.findall(r"`(intake_\w+)`", (DOCS / "monitoring.md").read_text("utf-8")))
    assert named == told.keys()


def test_every_rule_says_how_urgent_it_is_and_what_it_means() -> None:
    names = [str(rule["alert"]) for rule in rules()]
    assert len(names) == len(set(names))
    for rule in rules():
        labels, annotations = rule["labels"], rule["annotations"]
        assert isinstance(labels, dict)
        assert isinstance(annotations, dict)
        assert labels["severity"] in {"page", "ticket"}
        assert annotations["summary"]


def test_the_parentheses_of_every_expression_are_closed() -> None:
    for rule in rules():
        text = re.sub(r'"[^"]*"', "", str(rule["expr"]))
        assert [text.count(each) for each in "([{"] == [text.count(each) for each in ")]}"], rule["alert"]


# --- how long an acceptance takes -----------------------------------------------------------------------------------


def test_acceptances_are_told_as_a_histogram_of_all_processes(scene: Scene, spool_dir: Path) -> None:  # noqa: F811
    for seconds in ((0.003, 0.3), (0.3, 40.0)):
        process = AcceptTimes(scene.lab.pool)
        for each in seconds:
            process.note(each)
        process.write()
    text = scraper(scene, spool_dir, scene.lab.pool).get("/metrics").get_data(as_text=True)
    (family,) = (each for each in text_string_to_metric_families(text) if each.name == "intake_accept_seconds")
    told = {sample.labels.get("le", sample.name): sample.value for sample in family.samples}
    assert (told["0.005"], told["0.25"], told["0.5"], told["2.5"], told["+Inf"]) == (1, 1, 3, 3, 4)
    assert told["intake_accept_seconds_sum"] == pytest.approx(40.603)
    assert len(family.samples) == len(BUCKETS) + 2


@pytest.mark.parametrize(
    ("method", "path", "status", "noted"),
    [
        ("POST", "/hooks/web", "200 OK", [2.0]),
        ("POST", "/hooks/web", "202 Accepted", [2.0]),
        ("POST", "/hooks/web", "401 Unauthorized", []),
        ("GET", "/hooks/web", "200 OK", []),
        ("POST", "/test/hooks/web", "200 OK", []),
    ],
)
def test_only_live_deliveries_that_were_accepted_are_timed(
    method: str, path: str, status: str, noted: list[float]
) -> None:
    seen: list[float] = []
    readings = iter((10.0, 12.0))
    timed = Timed(lambda _environ, start: (start(status, []), [b""])[1], seen.append, lambda: next(readings))
    timed({"REQUEST_METHOD": method, "PATH_INFO": path}, lambda *_: lambda _content: None)
    assert seen == noted
