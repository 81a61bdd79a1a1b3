"""How the result of a proof is told, as text, page and JSON."""

from __future__ import annotations

from workers.prove import matrix, telling
from workers.prove.oracle import Verdict
from workers.prove.play import Played
from workers.prove.result import Result

HELD = "form:contact.committed:crash_before:stored"
WAITS = "form:contact.committed:crash_after:weak"
BROKEN = "form:opportunity.committed:unavailable:stored"


def played(path: str, verdict: Verdict) -> Played:
    return Played(matrix.of_path(path), verdict, reached=True, accepted=1, trail=(), seconds=0.1)


def result(*, broken: bool) -> Result:
    made = Result(seed=7)
    made.add(played(HELD, Verdict(1, 0, (), ())))
    made.add(played(WAITS, Verdict(0, 1, (), ())))
    if broken:
        made.add(
            played(BROKEN, Verdict(0, 0, ("opener 1 is confirmed: its opportunity has no task",), ("2 of one task",)))
        )
    return made


def test_the_document_counts_runs_and_events() -> None:
    told = result(broken=True).document()
    assert (told["runs"], told["lost"], told["doubled"], told["uncertain"], told["confirmed"]) == (3, 1, 1, 1, 1)


def test_one_run_is_told_in_the_singular() -> None:
    made = Result(seed=7)
    made.add(played(HELD, Verdict(1, 0, (), ())))
    assert telling.summary(made).startswith("1 run, 1 accepted event: ")


def test_a_failure_says_how_to_see_it_again() -> None:
    assert f"  again: intake prove --seed 7 --only {BROKEN}" in list(telling.text(result(broken=True)))


def test_a_cell_says_what_went_wrong_in_it() -> None:
    lines = list(telling.text(result(broken=True)))
    assert any(line.split() == ["opportunity.committed", "1LD"] for line in lines)


def test_what_waits_visibly_is_marked_and_no_failure() -> None:
    made = result(broken=False)
    assert made.held
    assert any(line.split() == ["contact.committed", "1?"] for line in telling.text(made))


def test_no_line_is_wider_than_a_terminal() -> None:
    assert max(map(len, telling.text(result(broken=False)))) <= telling.WIDTH


def test_the_page_says_in_its_title_whether_it_held() -> None:
    assert "<title>intake prove: broken</title>" in telling.page(result(broken=True))
    assert "<title>intake prove: held</title>" in telling.page(result(broken=False))
