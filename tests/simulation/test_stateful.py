"""Anything in any order: what Hypothesis makes of sending, failing, crashing, waiting and working."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from intake import deliveries
from tests.lab import Lab, lab
from tests.simulation.stops import Crash, Stops
from tests.simulation.world import STEP, Impatient
from workers import clock, drain

# Each happens once to the next request that it fits; none of them breaks what the sandbox promises.
FAULTS = st.one_of(
    st.tuples(
        st.sampled_from([
            "lost_answer", "cut_answer", "500_with_effect", "500_without_effect", "503", "408", "429", "401", "403",
            "422", "garbage", "redirect", "no_id", "duplicate_answer", "late",
        ]),
        st.sampled_from(["create", "update"]),
    ),
    st.tuples(
        st.sampled_from(["lost_answer", "cut_answer", "503", "429", "401", "garbage", "late"]),
        st.sampled_from(["find", "read", "control"]),
    ),
)  # fmt: skip
PEOPLE = st.integers(0, 2)

UNSOUND = """
    SELECT 'a final state moved' AS what, event_id FROM delivery_history
     WHERE from_state IN ('confirmed', 'cancelled', 'superseded')
    UNION ALL SELECT 'an event without delivery', event_id FROM events e
     WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = e.event_id)
    UNION ALL SELECT 'open, and neither due nor leased nor an open item', event_id FROM deliveries d
     WHERE state NOT IN ('confirmed', 'cancelled', 'superseded') AND due_at IS NULL AND claimed_until IS NULL
       AND NOT EXISTS (
           SELECT FROM items i WHERE i.event_id = d.event_id AND i.kind = 'delivery' AND i.closed_at IS NULL)
    UNION ALL SELECT 'uncertain about a record that nobody will look at', event_id
      FROM deliveries d JOIN records r ON r.record_id = d.blocked_on
     WHERE d.state = 'uncertain' AND r.state IN ('asked', 'in_doubt') AND r.look_at IS NULL
    UNION ALL SELECT 'confirmed without its records', event_id FROM deliveries d
     WHERE d.state = 'confirmed' AND d.part <> 'follow_up'
       AND num_nulls(contact_record, opportunity_record, task_record) > 0
    UNION ALL SELECT 'confirmed without its note', event_id FROM deliveries d
     WHERE d.state = 'confirmed' AND d.part = 'follow_up' AND note_record IS NULL
"""


class Anything(RuleBasedStateMachine):
    """One company, a few people, and a worker that may end anywhere.  The lab is shared, the people are new."""

    def __init__(self, lab: Lab, run: int, stops: Stops) -> None:
        super().__init__()
        self.lab = lab
        self.run = run
        self.stops = stops
        self.sent: list[tuple[str, int, str]] = []
        self.said: dict[UUID, str] = {}

    # --- the world outside ---

    @initialize()
    def begin(self) -> None:
        self.lab.dials.no_faults()

    @rule(person=PEOPLE, text=st.sampled_from(["Una silla", "Una mesa"]))
    def a_form_comes(self, person: int, text: str) -> None:
        self.sent.append((f"msg_{self.run}_{len(self.sent)}", person, text))
        self._form(*self.sent[-1])

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def a_form_comes_again(self, data: st.DataObject) -> None:
        self._form(*data.draw(st.sampled_from(self.sent)))

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def other_content_comes_under_a_known_id(self, data: st.DataObject) -> None:
        delivery_id, person, _ = data.draw(st.sampled_from(self.sent))
        self._form(delivery_id, person, "Otra cosa")

    def _form(self, delivery_id: str, person: int, text: str) -> UUID:
        who = f"{self.run}x{person}"
        phone = f"9{self.run % 10_000:04d}{person:04d}"
        return self.lab.form(delivery_id=delivery_id, email=f"p{who}@example.com", phone=phone, message=text)

    @rule(number=st.integers(0, 1), version=st.integers(1, 4))
    def a_version_of_a_quote_comes(self, number: int, version: int) -> None:
        contact = {"name": "Lucía", "email": f"q{self.run}x{number}@example.com"}
        self.lab.quote(f"COT-{self.run}-{number}", version, f"{version}00.00", contact=contact)

    @rule(person=PEOPLE)
    def a_message_comes(self, person: int) -> None:
        text = f"Mensaje {self.run}x{len(self.said)}."
        (event,) = self.lab.whatsapp(text, sender=f"519{self.run % 10_000:04d}{person:04d}")
        self.said[event] = text

    @rule(fault=FAULTS)
    def the_crm_will_fail(self, fault: tuple[str, str]) -> None:
        name, what = fault
        self.lab.dials.fault(name, match={"what": what}, **({"seconds": 86_400} if name == "late" else {}))

    @rule(span=st.sampled_from([timedelta(seconds=2), STEP, timedelta(minutes=6), timedelta(hours=1)]))
    def time_passes(self, span: timedelta) -> None:
        self.lab.dials.release_late()  # The CRM keeps its limit.
        self.lab.pass_time(span)

    # --- us ---

    @rule(place=st.integers(0, 30))
    def the_worker_will_crash(self, place: int) -> None:
        self.stops.plan = [place]

    @rule(pieces=st.integers(1, 4))
    def work_is_done(self, pieces: int) -> None:
        for _ in range(pieces):
            self._work()

    def _work(self) -> bool:
        clock.tick(self.lab.pool, name="anything")
        self.stops.passed.clear()
        try:
            return drain.one(self.lab.desk)
        except Crash:
            return True

    @rule()
    def a_person_revives_what_waits_for_them(self) -> None:
        for row in self.lab.rows("SELECT event_id FROM deliveries WHERE state = 'review'"):
            with self.lab.pool.connection() as conn:
                deliveries.revive(conn, UUID(str(row["event_id"])), 1)

    @rule(nth=st.integers(0, 3))
    def a_person_cancels_a_later_message(self, nth: int) -> None:
        open_ones = self.lab.rows(
            "SELECT event_id FROM deliveries WHERE part = 'follow_up'"
            " AND state IN ('received', 'waiting', 'uncertain', 'review') ORDER BY received_at"
        )
        for row in open_ones[nth : nth + 1]:
            with self.lab.pool.connection() as conn:
                deliveries.cancel(conn, UUID(str(row["event_id"])), 1)

    # --- what always holds ---

    @invariant()
    def nothing_is_doubled_and_nothing_is_forgotten(self) -> None:
        assert self.lab.dials.doubles() == []
        assert self.lab.rows(UNSOUND) == []

    def teardown(self) -> None:
        """In the end all is well, once the CRM is, and people did what was theirs."""
        self.lab.dials.no_faults()
        self.lab.dials.release_late()
        self.stops.plan = []
        for _ in range(6):
            self.a_person_revives_what_waits_for_them()
            self._settle()
        states = {str(row["state"]) for row in self.lab.rows("SELECT DISTINCT state FROM deliveries")}
        assert states <= {"confirmed", "superseded", "cancelled"}
        self.nothing_is_doubled_and_nothing_is_forgotten()
        assert len(self.lab.in_crm("opportunity")) == len(self.lab.rows("SELECT FROM needs"))
        assert self.lab.rows("SELECT FROM items WHERE kind = 'incident'") == []
        self._newest_version_stands()
        self._each_message_stands_once()

    def _settle(self) -> None:
        for _ in range(60):
            for _ in range(400):
                if not self._work():
                    break
            unfinished = "SELECT FROM deliveries WHERE state NOT IN ('confirmed', 'superseded', 'cancelled', 'review')"
            if not self.lab.rows(unfinished):
                return
            self.lab.pass_time(STEP)

    def _newest_version_stands(self) -> None:
        newest = self.lab.rows(
            "SELECT r.crm_id, max(d.position) AS version FROM deliveries d"
            "  JOIN records r ON r.record_id = d.opportunity_record WHERE d.part = 'version' GROUP BY r.crm_id"
        )
        amounts = {each["id"]: each.get("amount") for each in self.lab.in_crm("opportunity")}
        assert all(amounts[each["crm_id"]] == f"{each['version']}00.00" for each in newest)

    def _each_message_stands_once(self) -> None:
        texts = [str(each["text"]) for kind in ("opportunity", "note") for each in self.lab.in_crm(kind)]
        for event, said in self.said.items():
            stands = sum(text.count(said) for text in texts)
            assert stands == 1 or (stands == 0 and self.lab.state(event) == "cancelled"), (said, stands)


@contextmanager
def crashing(lab: Lab) -> Iterator[Stops]:
    """Let the lab's worker end where it is told to, and give up early."""
    stops = Stops()
    with Impatient(at=stops.at) as transport:
        lab.desk = lab.other_desk(transport=transport, at=stops.at)
        yield stops


def test_anything_in_any_order_ends_with_each_record_once(database_url: str, tmp_path: Path) -> None:
    runs = iter(range(10_000))
    bounded = settings(
        max_examples=8, stateful_step_count=25, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    with lab(database_url, tmp_path, debounce=20) as made, crashing(made) as stops:
        run_state_machine_as_test(lambda: Anything(made, next(runs), stops), settings=bounded)  # type: ignore[arg-type]
