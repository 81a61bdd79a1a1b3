"""A worker may end anywhere: nothing is lost, nothing is doubled, and everything is confirmed in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from uuid import UUID

import pytest

from tests.lab import Lab
from tests.simulation.stops import stopping


def opener(lab: Lab, number: int) -> UUID:
    return lab.form(
        name=f"Persona {number}", email=f"p{number}@example.com", phone=f"98{number:07d}", message=f"Pedido {number}"
    )


def first_message(lab: Lab, number: int) -> UUID:
    return lab.whatsapp("Hola", sender=f"5197{number:07d}")[0]


def follow_up(lab: Lab, number: int) -> UUID:
    return lab.whatsapp("Quiero una cotización", sender=f"5197{number:07d}")[0]


def first_version(lab: Lab, number: int) -> UUID:
    return _version(lab, number, 1, "100.00")


def second_version(lab: Lab, number: int) -> UUID:
    return _version(lab, number, 2, f"{200 + number}.50")


def _version(lab: Lab, number: int, version: int, amount: str) -> UUID:
    contact = {"name": f"Cliente {number}", "phone": f"96{number:07d}", "email": f"q{number}@example.com"}
    return lab.quote(f"COT-{number}", version, amount, contact=contact)


Builder = Callable[[Lab, int], UUID]
# What stands before, and what is then delivered by a worker that crashes.
PARTS: Mapping[str, tuple[Builder | None, Builder]] = {
    "opener": (None, opener),
    "follow_up": (first_message, follow_up),
    "version": (first_version, second_version),
}

# Where a write is committed, where it is answered, and where that is noted.
POINTS = (
    *(
        f"{kind}.{point}"
        for kind in ("contact", "opportunity", "task")
        for point in ("before_commit", "committed", "answered", "noted")
    ),
    "delivery.before_arrow",
)


def ledger(lab: Lab) -> Counter[str]:
    """How many records of each kind the CRM ever made, sentinels apart, dead or alive."""
    made = (each for each in lab.dials.ledger() if each["what"] == "created")
    return Counter(str(each["kind"]) for each in made if "sentinel" not in str(each["reference"]))


@pytest.mark.parametrize("part", PARTS)
def test_a_crash_at_any_boundary_loses_and_doubles_nothing(stored: Lab, part: str) -> None:
    before, build = PARTS[part]
    with stopping(stored) as worker:
        most = 60
        if before:
            for number in range(most):
                before(stored, number)
            stored.work(most * 20)
        build(stored, 0)
        boundaries = len(worker.trail())
        assert boundaries < most
        plans: dict[UUID, list[str | int]] = {build(stored, 1 + place): [place] for place in range(boundaries)}
        worker.run(plans)
    assert Counter(stored.state(event) for event in plans) == {"confirmed": boundaries}
    assert not any(plans.values()), "a crash that was planned did not come"
    assert stored.dials.doubles() == []
    leads = most if before else boundaries + 1
    assert ledger(stored) == dict.fromkeys(("contact", "opportunity", "task"), leads) | (
        {"note": boundaries + 1} if part == "follow_up" else {}
    )
    if part == "version":
        amounts = {str(each["amount"]) for each in stored.in_crm("opportunity")}
        assert amounts == {"100.00"} | {f"{200 + number}.50" for number in range(boundaries + 1)}


def test_a_second_crash_during_the_recovery_changes_nothing_of_that(stored: Lab) -> None:
    with stopping(stored) as worker:
        pairs = list(product(POINTS, POINTS))
        plans: dict[UUID, list[str | int]] = {opener(stored, number): [*pair] for number, pair in enumerate(pairs)}
        worker.run(plans)
    assert Counter(stored.state(event) for event in plans) == {"confirmed": len(plans)}
    assert stored.dials.doubles() == []
    assert ledger(stored) == dict.fromkeys(("contact", "opportunity", "task"), len(plans))


def test_a_crash_in_the_middle_of_a_look_delays_the_proof_and_no_more(stored: Lab) -> None:
    with stopping(stored) as worker:
        points = ("contact.committed", "opportunity.committed", "task.answered", "opportunity.answered")
        plans: dict[UUID, list[str | int]] = {opener(stored, n): [point] for n, point in enumerate(points)}
        looks: list[str | int] = [0, 1, 2, 3, 4, 5, "opportunity.looked"]
        worker.run(plans, looks=looks, rounds=40)
    assert looks == []
    assert Counter(stored.state(event) for event in plans) == {"confirmed": len(plans)}
    assert stored.dials.doubles() == []
    assert ledger(stored) == dict.fromkeys(("contact", "opportunity", "task"), len(plans))
