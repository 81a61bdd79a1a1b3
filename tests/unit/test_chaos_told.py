"""How the result of a proof with real processes is told, and which exit status it has."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from click.testing import CliRunner

from workers.commands.disturbing import tell
from workers.commands.proving import prove
from workers.prove.chaos.report import Report, text
from workers.prove.chaos.verdict import Verdict

HELD = Report(
    seed=5,
    seconds=60.2,
    verdict=Verdict(accepted=10, confirmed=9, open=1),
    faults=Counter(kill_web=2, crm_429=1),
    left_out={"full_disk": "needs root"},
    tries=14,
    doubts=3,
    recovery=12.34,
    incidents={},
)
LOST = replace(HELD, verdict=Verdict(accepted=10, confirmed=9, open=0, lost=("event 7: it has no task",)))
DOUBLED = replace(HELD, verdict=Verdict(accepted=10, confirmed=10, open=0, doubled=("2 creates of task t",)))


def test_a_program_is_told_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert tell(HELD, json_wanted=True) == 0
    told = json.loads(capsys.readouterr().out)
    wanted = ("accepted", "confirmed", "open", "lost", "doubled", "faults", "recovery_seconds", "seed")
    assert [told[name] for name in wanted] == [10, 9, 1, 0, 0, {"crm_429": 1, "kill_web": 2}, 12.3, 5]


@pytest.mark.parametrize("report", [LOST, DOUBLED])
def test_a_loss_or_a_double_is_exit_status_1(report: Report) -> None:
    assert tell(report, json_wanted=False) == 1


def test_people_are_told_what_the_host_does_not_allow() -> None:
    assert "  without full disk: needs root" in list(text(HELD))


def test_people_are_told_what_was_lost() -> None:
    assert "  LOST event 7: it has no task" in list(text(LOST))


def test_what_reconciliation_found_is_told_in_words() -> None:
    told = list(text(replace(HELD, incidents={"opportunity_gone": 2})))
    assert any(each.startswith("  2 opportunity_gone: ") for each in told)


@pytest.mark.parametrize("words", [("0",), ("61",), ("1", "--quick"), ("1", "--jobs", "2")])
def test_what_chaos_cannot_do_is_a_wrong_use(words: tuple[str, ...]) -> None:
    assert CliRunner().invoke(prove, ["--chaos", *words]).exit_code == 2
