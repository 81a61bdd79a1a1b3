"""What the evidence of a proof with real processes means; and that it can mean that something was lost or doubled."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from uuid import UUID

import pytest

from workers.prove.chaos.evidence import Evidence, Standing
from workers.prove.chaos.letters import Saying
from workers.prove.chaos.senders import Accepted
from workers.prove.chaos.verdict import Verdict, judge

FORM = Accepted(UUID(int=1), Saying("prueba 1", "prueba/1/0."))
FIRST, SECOND = (
    Accepted(UUID(int=10 + version), Saying("prueba 2", f"prueba/2/{version}.", version, f"{version}00.50"))
    for version in (1, 2)
)


def lead(number: int, words: str, amount: str | None = None) -> list[Standing]:
    """A person's contact, opportunity and task."""
    return [
        Standing(f"c{number}", "contact", None, f"prueba {number}"),
        Standing(f"o{number}", "opportunity", f"c{number}", amount=amount, words=frozenset({words})),
        Standing(f"t{number}", "task", f"o{number}", words=frozenset({words})),
    ]


def evidence(*alive: Standing, **states: str) -> Evidence:
    """`states`: of the events e1, e11..., by their numbers."""
    known = {UUID(int=int(name.removeprefix("e"))): state for name, state in states.items()}
    return Evidence(known, alive, Counter((each.kind, each.crm_id) for each in alive))


STANDS = lead(1, "prueba/1/0.")


def test_what_stands_in_the_crm_once_is_confirmed() -> None:
    assert judge([FORM], evidence(*STANDS, e1="confirmed")) == Verdict(accepted=1, confirmed=1, open=0)


@pytest.mark.parametrize("state", ["received", "waiting", "uncertain", "review", "awaiting_approval"])
def test_what_waits_where_operators_see_it_is_open(state: str) -> None:
    assert judge([FORM], evidence(e1=state)) == Verdict(accepted=1, confirmed=0, open=1, waits=Counter([state]))


def test_an_older_version_of_a_quote_needs_not_stand_there_any_more() -> None:
    seen = evidence(*lead(2, "prueba/2/2.", "200.50"), e11="confirmed", e12="confirmed")
    assert judge([FIRST, SECOND], seen) == Verdict(accepted=2, confirmed=2, open=0)


def test_a_follow_up_lacks_no_task_while_the_opener_that_makes_it_is_open() -> None:
    note = Standing("n2", "note", "o2", words=frozenset({"prueba/2/2."}))
    seen = evidence(*lead(2, "prueba/2/1.", "200.50")[:2], note, e11="review", e12="confirmed")
    assert judge([FIRST, SECOND], seen).lost == ()


# --- it can fail ------------------------------------------------------------------------------------------------------


def lost(accepted: list[Accepted], seen: Evidence) -> list[str]:
    """Why events are lost, without their ids."""
    verdict = judge(accepted, seen)
    assert not verdict.held
    return [each.partition(": ")[2] for each in verdict.lost]


def test_an_accepted_event_that_the_database_does_not_know_is_lost() -> None:
    assert lost([FORM], evidence(*STANDS)) == ["it was accepted, and is unknown to the database"]


def test_an_event_that_nobody_cancelled_is_lost_when_it_is() -> None:
    assert lost([FORM], evidence(e1="cancelled")) == ["it was accepted, and is cancelled"]


def test_a_confirmed_event_whose_words_stand_nowhere_is_lost() -> None:
    assert lost([FORM], evidence(*lead(1, "other/1/0."), e1="confirmed")) == [
        "what it says stands nowhere in the CRM"
    ]  # fmt: skip


def test_a_confirmed_event_without_a_task_is_lost() -> None:
    assert lost([FORM], evidence(*STANDS[:2], e1="confirmed")) == ["its opportunity has no task"]


def test_a_confirmed_event_without_a_contact_is_lost() -> None:
    assert lost([FORM], evidence(*STANDS[1:], e1="confirmed")) == ["there is no opportunity of its person"]


def test_a_version_that_is_superseded_by_nothing_is_lost() -> None:
    assert lost([FIRST], evidence(*lead(2, "prueba/2/1."), e11="superseded")) == ["it is superseded by nothing"]


def test_a_quote_with_an_older_versions_amount_is_lost() -> None:
    seen = evidence(*lead(2, "prueba/2/2.", "100.50"), e11="confirmed", e12="confirmed")
    assert lost([FIRST, SECOND], seen) == ["its opportunity has another amount"]


def test_one_id_for_two_deliveries_is_a_loss() -> None:
    other = Accepted(FORM.event_id, FORM.saying)
    assert judge([FORM, other], evidence(*STANDS, e1="confirmed")).lost == (
        f"event {FORM.event_id} was told to the senders of two",
    )


def doubled(seen: Evidence) -> tuple[str, ...]:
    return judge([FORM], seen).doubled


def test_two_creates_under_one_reference_are_a_double_though_one_is_gone() -> None:
    seen = evidence(*STANDS, e1="confirmed")
    seen.made[("opportunity", "o1")] += 1
    assert doubled(seen) == ("2 creates of opportunity o1",)


@pytest.mark.parametrize("kind", ["contact", "opportunity", "task"])
def test_a_second_record_of_one_persons_is_a_double(kind: str) -> None:
    (first,) = [each for each in STANDS if each.kind == kind]
    second = replace(first, crm_id="x", words=frozenset())
    assert doubled(evidence(*STANDS, second, e1="confirmed"))[0].startswith("2 ")


def test_words_that_stand_in_an_opportunity_and_a_note_are_a_double() -> None:
    note = Standing("n1", "note", "o1", words=frozenset({"prueba/1/0."}))
    assert doubled(evidence(*STANDS, note, e1="confirmed")) == ("what one event says stands in o1, n1",)
