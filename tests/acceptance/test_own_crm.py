"""Real deliveries into a CRM that is described in `intake.toml` alone: our sandbox plays it, and its ledger judges."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from crm_clients.sandbox.dials import Dials, Json
from crm_clients.sandbox.profiles import profile
from crm_clients.sandbox.server import running
from tests.crm_lab import CrmLab, crm_lab
from workers import drain

DESTINATION = """
[[destinations]]
name = "crm"
client = "http"
base_url = "{url}"
credential = "env:OWN_TOKEN"
currency = "USD"
[destinations.owner]
rule = "affinity, round_robin"
users = ["ana", "luis"]
[destinations.options]
limit_seconds = "5"
"""

MARKING = """
marker = "task, note"
task_body = '{"title": "{marked_title}", "opportunity_id": "{opportunity}", "due_at": "{due_at}"}'
task_find = "GET /api/tasks?opportunity_id={opportunity}"
note_body = '{"text": "{marked_text}", "opportunity_id": "{opportunity}"}'
note_find = "GET /api/notes?opportunity_id={opportunity}"
"""

DOUBTED_AND_FOUND = [("create", "uncertain", "look")]
KINDS = ("contact", "opportunity", "task")


@dataclass(frozen=True, slots=True)
class OwnLab:
    """A pipeline, and the sandbox that plays a CRM of one's own."""

    made: CrmLab
    dials: Dials

    def records(self, kind: str) -> list[Json]:
        """All live ones but the sentinel."""
        ours = [each for each in self.dials.records() if not str(each.get("reference")).startswith("intake-sentinel")]
        named = [each for each in ours if "sentinel" not in f"{each.get('title')}{each.get('name')}"]
        return [each for each in named if each["kind"] == kind and each["live"]]

    def counts(self) -> list[int]:
        return [len(self.records(kind)) for kind in KINDS]


@contextmanager
def own_lab(database_url: str, folder: Path, *, of: str = "stored", options: str = "") -> Iterator[OwnLab]:
    """A lab whose CRM has this profile, and these options beside the default."""
    with running(of=profile(of)) as crm:
        destination = DESTINATION.format(url=crm.url) + options
        with crm_lab(database_url, folder, destination, {"OWN_TOKEN": "sandbox"}, ours=None) as made:
            yield OwnLab(made, Dials(crm.url))


@pytest.fixture
def own(database_url: str, tmp_path: Path) -> Iterator[OwnLab]:
    with own_lab(database_url, tmp_path) as made:
        yield made


def test_a_form_becomes_contact_opportunity_and_task_once_with_one_owner(own: OwnLab) -> None:
    event = own.made.form()
    own.made.lab.work()
    assert (own.made.lab.state(event), own.counts()) == ("confirmed", [1, 1, 1])
    owners = {str(own.records(kind)[0]["owner_id"]) for kind in ("opportunity", "task")}
    assert len(owners) == 1


def test_lost_answers_are_looked_for_at_once(own: OwnLab) -> None:
    for kind in KINDS:
        own.dials.fault("lost_answer", match={"what": "create", "kind": kind})
    event = own.made.form()
    own.made.lab.work()
    assert (own.made.lab.state(event), own.counts()) == ("confirmed", [1, 1, 1])
    assert [own.made.writes(event, kind) for kind in KINDS] == [DOUBTED_AND_FOUND] * 3


def test_a_request_that_was_lost_is_proven_absent_and_sent_again(own: OwnLab) -> None:
    own.dials.fault("lost_answer", match={"what": "create", "kind": "opportunity"}, effect=False)
    event = own.made.form()
    own.made.lab.work()
    assert own.made.lab.state(event) == "uncertain"
    own.made.lab.settle(rounds=6)
    assert (own.made.lab.state(event), own.counts()) == ("confirmed", [1, 1, 1])


def test_two_of_one_person_at_once_are_one_contact_where_the_crm_refuses_doubles(
    database_url: str, tmp_path: Path
) -> None:
    options = 'enforced = "contact, opportunity, task, note"\n'
    with own_lab(database_url, tmp_path, of="enforced", options=options) as own:
        own.dials.fault("500_with_effect", match={"what": "create", "kind": "contact"})
        events = [own.made.form(message=text) for text in ("Una bomba", "Dos sillas")]
        in_parallel(own, 2)
        own.made.lab.settle(rounds=3)
        assert [own.made.lab.state(each) for each in events] == ["confirmed"] * 2
        assert (own.counts(), own.dials.doubles()) == ([1, 2, 2], [])


def test_a_task_without_a_field_for_its_reference_is_found_by_its_title(database_url: str, tmp_path: Path) -> None:
    with own_lab(database_url, tmp_path, of="no_task_reference", options=MARKING) as own:
        own.dials.fault("lost_answer", match={"what": "create", "kind": "task"})
        event = own.made.form()
        own.made.lab.work()
        assert (own.made.lab.state(event), own.counts()) == ("confirmed", [1, 1, 1])
        assert own.made.writes(event, "task") == DOUBTED_AND_FOUND


def test_a_later_version_of_a_quote_changes_its_amount(own: OwnLab) -> None:
    own.made.quote(1, "100.00")
    own.made.lab.work()
    second = own.made.quote(2, "250.50")
    own.made.lab.work()
    (opportunity,) = own.records("opportunity")
    assert (own.made.lab.state(second), opportunity["amount"]) == ("confirmed", "250.50")


def test_a_refused_credential_pauses_the_account_and_loses_nothing(own: OwnLab) -> None:
    own.dials.fault("401", times=None)
    event = own.made.form()
    own.made.lab.work()
    assert own.made.lab.state(event) == "waiting"
    own.dials.no_faults()
    own.made.lab.settle(rounds=4, step=timedelta(minutes=10))
    assert (own.made.lab.state(event), own.counts()) == ("confirmed", [1, 1, 1])


def in_parallel(own: OwnLab, workers: int) -> None:
    """So many workers at once, until none finds anything to do."""
    start = threading.Barrier(workers)

    def work() -> None:
        start.wait()
        while drain.one(own.made.lab.other_desk()):
            pass

    with ThreadPoolExecutor(workers) as pool:
        for each in [pool.submit(work) for _ in range(workers)]:
            each.result()
