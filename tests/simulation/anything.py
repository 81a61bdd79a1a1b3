"""Anything in any order, as rules for Hypothesis: what is sent, what fails, who works at once, and what people do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, Literal
from uuid import UUID

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from intake import decisions, pauses, purge
from intake.db import Conn
from intake.decided import Author, Refused
from intake.decisions import Applied, Correction
from intake.permitted import ACTIONS, refusal
from intake.person_arrows import NotAllowed
from tests.simulation.crew import Crew, Happens
from tests.simulation.world import STEP, People

# Each happens once to the next request that it fits; none of them breaks what the sandbox promises.
FAULTS: Final = st.one_of(
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
PEOPLE: Final = st.integers(0, 2)
PLACES: Final = st.one_of(st.integers(0, 6), st.integers(0, 24))
SPANS: Final = st.sampled_from([timedelta(0), timedelta(seconds=2), STEP, timedelta(minutes=6)])
HAPPENS: Final = st.one_of(
    st.builds(Happens, place=PLACES),
    st.builds(Happens, place=PLACES, span=SPANS, pieces=st.integers(1, 4)),
)
PIECES: Final = st.integers(1, 8)
SOON: Final = st.integers(0, 3)
PAUSED: Final = st.sampled_from(["web", "quotes", "wa", "crm"])
Deed = Literal["revive", "cancel", "settle", "correct"]
DEEDS: Final[st.SearchStrategy[Deed]] = st.sampled_from(["revive", "cancel", "settle", "correct"])

PERSON: Final = Author("ana", "as I saw it in the CRM")
IN_YEARS: Final = timedelta(days=3650)

UNSOUND: Final = """
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
# Also where a slow host made a worker give up a request that the CRM goes on with.
UNDER_WAY: Final = "SELECT FROM records WHERE state IN ('asked', 'in_doubt') AND crm_id IS NOT NULL"
OF_PEOPLE: Final = "SELECT event_id FROM items WHERE kind = 'delivery' AND closed_at IS NULL"
IN_DOUBT: Final = """
    SELECT DISTINCT ON (d.event_id) d.event_id, r.reference
      FROM deliveries d JOIN records r ON r.record_id = d.blocked_on
     WHERE d.state IN ('uncertain', 'review') AND r.state IN ('asked', 'in_doubt')
     ORDER BY d.event_id, d.generation DESC
"""
KNOWN: Final = "SELECT event_id FROM events UNION SELECT alias FROM event_aliases"


class Anything(RuleBasedStateMachine):
    """One company, a few people, and workers that may end, or stand still, anywhere.

    The lab is shared by all runs; the people are new in each.
    """

    def __init__(self, crew: Crew, run: int) -> None:
        super().__init__()
        self.crew = crew
        self.lab = crew.lab
        self.run = run
        self.sent: list[Callable[[], Sequence[UUID]]] = []
        self.forms: list[tuple[str, int]] = []
        self.accepted: set[UUID] = set()
        self.said: dict[str, str] = {}
        self.edited = crew.edited

    # --- the world outside ---

    @initialize()
    def begin(self) -> None:
        self.lab.dials.no_faults()

    @rule(person=PEOPLE, text=st.sampled_from(["Una silla", "Una mesa"]), pieces=SOON)
    def a_form_comes(self, person: int, text: str, pieces: int) -> None:
        name = f"msg_{self.run}_{len(self.sent)}"
        self.forms.append((name, person))
        self._send(lambda: [self._form(name, person, text)], pieces)

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def anything_comes_again(self, data: st.DataObject) -> None:
        known = len(self.accepted)
        self.accepted.update(data.draw(st.sampled_from(self.sent))())
        assert len(self.accepted) == known

    @precondition(lambda self: self.forms)
    @rule(data=st.data())
    def other_content_comes_under_a_known_id(self, data: st.DataObject) -> None:
        name, person = data.draw(st.sampled_from(self.forms))
        self._form(name, person, "Otra cosa")

    @rule(number=st.integers(0, 1), version=st.integers(1, 4), pieces=SOON)
    def a_version_of_a_quote_comes(self, number: int, version: int, pieces: int) -> None:
        contact = {"name": "Lucía", "email": f"q{self.run}x{number}@example.com"}
        name = f"COT-{self.run}-{number}"
        self._send(lambda: [self.lab.quote(name, version, f"{version}00.00", contact=contact)], pieces)

    @rule(person=PEOPLE, pieces=SOON)
    def a_message_comes(self, person: int, pieces: int) -> None:
        place = len(self.said)
        name, text = f"wamid.{self.run}x{place}", f"Mensaje {self.run}x{place}."
        sender = f"519{self.run % 10_000:04d}{person:04d}"
        self.said[name] = text
        self._send(lambda: self.lab.whatsapp(text, sender=sender, ids=[name], at=1_790_000_000 + place), pieces)

    def _form(self, name: str, person: int, text: str) -> UUID:
        who = f"{self.run}x{person}"
        phone = f"9{self.run % 10_000:04d}{person:04d}"
        return self.lab.form(delivery_id=name, email=f"p{who}@example.com", phone=phone, message=text)

    def _send(self, sending: Callable[[], Sequence[UUID]], pieces: int) -> None:
        self.sent.append(sending)
        self.accepted.update(sending())
        self.work_is_done(pieces)

    @rule(span=SPANS)
    def time_passes(self, span: timedelta) -> None:
        self.crew.let_pass(span)

    # An update that the CRM executes late would overwrite what an adviser does meanwhile: nobody can hinder that.
    @precondition(lambda self: self.lab.dials.held() == 0 and not self.lab.rows(UNDER_WAY))
    @rule(nth=st.integers(0, 3), field=st.sampled_from(["owner_id", "stage", "amount"]))
    def an_adviser_edits_an_opportunity(self, nth: int, field: str) -> None:
        ours = [each for each in self.lab.in_crm("opportunity") if each.get(field) is not None]
        self.lab.dials.no_faults()  # They are meant for us.
        for each in ours[nth : nth + 1]:
            value = {"owner_id": "rosa", "stage": "Negociación", "amount": "90.00"}[field]
            People(self.lab).edit_one("opportunities", str(each["id"]), **{field: value})
            self.edited.setdefault(str(each["id"]), {})[field] = value

    # --- us ---

    @rule(pieces=PIECES)
    def work_is_done(self, pieces: int) -> None:
        for _ in range(pieces):
            self.crew.work()

    @rule(plan=st.lists(HAPPENS, min_size=1, max_size=3), faults=st.lists(FAULTS, max_size=2))
    def there_will_be_trouble(self, plan: list[Happens], faults: list[tuple[str, str]]) -> None:
        """To the workers and the requests that come next, whenever that is."""
        self.crew.plan, self.crew.count = [*self.crew.plan, *plan], 0
        for name, what in faults:
            self.lab.dials.fault(name, match={"what": what}, **({"seconds": 86_400} if name == "late" else {}))

    @rule()
    def what_is_old_is_purged(self) -> None:
        with self.lab.pool.connection() as conn:
            purge.purge(conn, self.lab.settings, purge.Wish(now=datetime.now(UTC) + IN_YEARS))

    # --- people at the desk ---

    @rule(deed=DEEDS, nth=st.integers(0, 3))
    def a_person_decides(self, deed: Deed, nth: int) -> None:
        match deed:
            case "revive":
                self.a_person_revives_what_waits_for_them()
            case "cancel":
                self._cancel_a_later_message(nth)
            case "settle":
                self._say_what_stands_in_the_crm()
            case "correct":
                self._correct_a_form(nth)

    def a_person_revives_what_waits_for_them(self) -> None:
        for row in self.lab.rows("SELECT event_id FROM deliveries WHERE state = 'review'"):
            self._decide(lambda conn, event: decisions.revive(conn, PERSON, event), row["event_id"])

    def _cancel_a_later_message(self, nth: int) -> None:
        open_ones = self.lab.rows(
            "SELECT event_id FROM deliveries WHERE part = 'follow_up'"
            " AND state IN ('received', 'waiting', 'uncertain', 'review') ORDER BY received_at"
        )
        for row in open_ones[nth : nth + 1]:
            self._decide(lambda conn, event: decisions.cancel(conn, PERSON, event), row["event_id"])

    def _say_what_stands_in_the_crm(self) -> None:
        """A doubt is settled by what stands there now, though a request may still be under way."""
        there = {str(each["reference"]): str(each["id"]) for each in self.lab.dials.records() if each["live"]}
        for row in self.lab.rows(IN_DOUBT):
            found = there.get(str(row["reference"]))
            self._decide(partial(self._settle, found), row["event_id"])

    @staticmethod
    def _settle(found: str | None, conn: Conn, event: UUID) -> None:
        if found is None:
            decisions.settle_not_applied(conn, PERSON, event)
            return
        record = decisions.to_settle(decisions.view(conn, event), None, only_doubtful=True)
        decisions.settle_applied(conn, PERSON, event, record, Applied(found, verified=True))

    def _correct_a_form(self, nth: int) -> None:
        wanted = Correction({"text": "Corregido"}, self.lab.settings.region, gated=False)
        rows = self.lab.rows("SELECT event_id FROM deliveries WHERE source = 'web' AND state = 'review' ORDER BY 1")
        for row in rows[nth : nth + 1]:
            self._decide(lambda conn, event: decisions.correct(conn, PERSON, event, wanted), row["event_id"])

    @rule(what=PAUSED, pieces=PIECES, resumed=st.booleans())
    def a_person_pauses_while_others_work(self, what: str, pieces: int, *, resumed: bool) -> None:
        with self.lab.pool.connection() as conn:
            pause = pauses.pause_account if what == "crm" else pauses.pause_source
            pause(conn, PERSON, what)
        self.work_is_done(pieces)
        if resumed:
            self.a_person_resumes_everything()

    @rule()
    def a_person_resumes_everything(self) -> None:
        with self.lab.pool.connection() as conn:
            pauses.resume_account(conn, PERSON, "crm")
            for source in pauses.paused_sources(conn):
                pauses.resume_source(conn, PERSON, source)

    def _decide(self, decision: Callable[[Conn, UUID], object], event: object) -> None:
        """What is refused changes nothing: a worker was quicker, or it was never allowed."""
        with self.lab.pool.connection() as conn:
            try:
                decision(conn, UUID(str(event)))
            except (Refused, NotAllowed):
                return

    # --- what always holds ---

    @invariant()
    def nothing_is_doubled_and_nothing_is_forgotten(self) -> None:
        assert self.lab.dials.doubles() == []
        assert self.lab.rows(UNSOUND) == []

    @invariant()
    def every_open_item_has_a_way_out(self) -> None:
        with self.lab.pool.connection() as conn:
            for row in self.lab.rows(OF_PEOPLE):
                seen = decisions.view(conn, UUID(str(row["event_id"])))
                assert any(refusal(action, seen) is None for action in ACTIONS), seen.event.state

    @invariant()
    def what_an_adviser_edited_stands(self) -> None:
        now = {str(each["id"]): each for each in self.lab.in_crm("opportunity")} if self.edited else {}
        for crm_id, fields in self.edited.items():
            found = {name: now[crm_id][name] for name in fields}
            assert found == fields, (crm_id, found, fields)

    def teardown(self) -> None:
        """In the end all is well, once the CRM is, and people did what was theirs."""
        self.lab.dials.no_faults()
        self.lab.dials.release_late()
        self.crew.plan = []
        self.a_person_resumes_everything()
        for _ in range(6):
            self.a_person_revives_what_waits_for_them()
            self._settle_all()
        states = {str(row["state"]) for row in self.lab.rows("SELECT DISTINCT state FROM deliveries")}
        assert states <= {"confirmed", "superseded", "cancelled"}
        self.nothing_is_doubled_and_nothing_is_forgotten()
        self.what_an_adviser_edited_stands()
        assert self.accepted <= {UUID(str(row["event_id"])) for row in self.lab.rows(KNOWN)}
        assert len(self.lab.in_crm("opportunity")) == len(self.lab.rows("SELECT FROM needs"))
        assert self.lab.rows("SELECT FROM items WHERE kind = 'incident'") == []
        self._newest_version_stands()
        self._each_message_stands_once()

    def _settle_all(self) -> None:
        for _ in range(60):
            for _ in range(400):
                if not self.crew.work():
                    break
            unfinished = "SELECT FROM deliveries WHERE state NOT IN ('confirmed', 'superseded', 'cancelled', 'review')"
            if not self.lab.rows(unfinished):
                return
            self.crew.let_pass(STEP)

    def _newest_version_stands(self) -> None:
        newest = self.lab.rows(
            "SELECT r.crm_id, max(d.position) AS version FROM deliveries d"
            "  JOIN records r ON r.record_id = d.opportunity_record WHERE d.source = 'quotes' GROUP BY r.crm_id"
        )
        amounts = {each["id"]: each.get("amount") for each in self.lab.in_crm("opportunity")}
        for each in newest:
            if "amount" not in self.edited.get(str(each["crm_id"]), {}):
                assert amounts[each["crm_id"]] == f"{each['version']}00.00"

    def _each_message_stands_once(self) -> None:
        texts = [str(each["text"]) for kind in ("opportunity", "note") for each in self.lab.in_crm(kind)]
        rows = self.lab.rows(
            "SELECT e.request_id, d.state FROM events e JOIN deliveries d USING (event_id) WHERE e.source = 'wa'"
        )
        states = {str(row["request_id"]): row["state"] for row in rows}
        for name, said in self.said.items():
            stands = sum(text.count(said) for text in texts)
            assert stands == 1 or (stands == 0 and states[name] == "cancelled"), (said, stands)
