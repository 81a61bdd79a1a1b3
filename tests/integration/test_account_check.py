"""The preflight of an account tells everything that is missing in one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from crm_clients.sandbox.profiles import profile
from crm_clients.sandbox.server import running as sandbox
from tests.commands import beside, intake, listed
from tests.lab import Lab, lab
from tests.simulation.world import People


@pytest.fixture
def stored(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as made:
        yield made


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


def told(environ: Mapping[str, str], *options: str) -> dict[str, tuple[object, object]]:
    """What is said of each line of the account: whether it is in order, and the detail."""
    done = intake(environ, "crm", "check", "--destination", "crm", "--json", *options)
    return {str(each["what"]): (each["ok"], each["detail"]) for each in listed(done.document, "checks")}


def hide(lab: Lab, *kinds: str) -> None:
    """The CRM finds nothing of these kinds."""
    for kind in kinds:
        lab.dials.fault("false_absent", match={"what": "find", "kind": kind}, times=None)


def test_all_missing_sentinels_are_told_at_once(stored: Lab, environ: Mapping[str, str]) -> None:
    hide(stored, "contact", "task")
    assert told(environ) == {
        "account": (True, "the credential works"),
        "owner ana": (True, "can own records"),
        "owner luis": (True, "can own records"),
        "sentinel contact": (False, "missing"),
        "sentinel opportunity": (True, "found by its reference"),
        "sentinel task": (False, "missing"),
        "sentinel note": (True, "found by its reference"),
    }


def test_what_stands_below_a_missing_sentinel_is_told_as_not_looked_for(
    stored: Lab, environ: Mapping[str, str]
) -> None:
    hide(stored, "opportunity")
    assert [told(environ)[f"sentinel {kind}"] for kind in ("opportunity", "task", "note")] == [
        (False, "missing"), (False, "not looked for"), (False, "not looked for"),
    ]  # fmt: skip


def test_a_sentinel_in_the_trash_is_told(stored: Lab, environ: Mapping[str, str]) -> None:
    (note,) = [each for each in stored.dials.records() if each["reference"] == "intake-sentinel-note"]
    People(stored).trash_one("notes", str(note["id"]))
    assert told(environ)["sentinel note"] == (False, "in the CRM's trash, or merged")


def test_an_owner_who_has_left_is_told(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.dials.owners_away("luis")
    assert told(environ)["owner luis"] == (False, "is not there, or may not own records")


def test_what_is_missing_is_made_in_one_run(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path) as made, sandbox(of=profile("stored", lag=0.0, limit=20.0)) as empty:
        file = tmp_path / "intake.toml"
        file.write_text(file.read_text().replace(made.dials.url, empty.url))
        environ = beside(made, tmp_path)
        assert {ok for ok, _ in told(environ).values()} == {True, False}
        assert {ok for ok, _ in told(environ, "--create").values()} == {True}


def test_an_account_that_is_closed_is_not_ready(environ: Mapping[str, str], tmp_path: Path) -> None:
    file = tmp_path / "intake.toml"
    file.write_text(file.read_text() + '\n[[destinations]]\nname = "other"\nclient = "hubspot"\n')
    done = intake(environ, "crm", "check", "--destination", "other", "--json")
    (only,) = listed(done.document, "checks")
    assert (done.status, only["what"], only["ok"]) == (1, "configuration", False)
    assert "base_url is missing" in str(only["detail"])
