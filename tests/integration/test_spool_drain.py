"""What the spool keeps while the database is away is accepted once, under the ids that its senders were told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from intake import installation, ops
from intake.app import build
from intake.config import Settings
from intake.db import Pool, door_options, open_pool
from intake.receive import Door
from intake.sealing import Seal, new_key, of_keys
from intake.spool import Spool, lines
from intake.spool_drain import HELD_FOR, KEEP_DRAINED, Drainer
from tests.doorway import ANSWERS, Doorway, accepted, as_json, doorway, event, events, message, path_of, quote, whatsapp

GIVEN = {"X-Intake-Token": "form-token", "Content-Type": "application/json"}


@dataclass(slots=True)
class Stage:
    """A door whose database is away, one whose database is there, and what drains the spool between them."""

    there: Doorway
    spool: Spool
    away: FlaskClient
    seconds: list[float] = field(default_factory=lambda: [1000.0])

    def post(self, source: str, body: bytes, *, delivery_id: str = "msg", mode: str = "live") -> TestResponse:
        """To the door whose database is away."""
        headers = self.there.signed(source, body, mode=mode, delivery_id=delivery_id)
        return self.away.post(path_of(source, mode), data=body, headers=headers)

    def form(self, source: str = "web", *, delivery_id: str = "msg", **answers: str) -> UUID:
        """A form to the door whose database is away; the id that it is told."""
        found = event(accepted(self.post(source, as_json(ANSWERS | answers), delivery_id=delivery_id)))
        assert (found["state"], found["duplicate"]) == ("spooled", False)
        return UUID(str(found["event_id"]))

    def drainer(self, seal: Seal | None = None, settings: Settings | None = None) -> Drainer:
        spool = self.spool if seal is None else Spool(self.spool.folder, seal, self.spool.limit)
        clock = self.clock
        return Drainer(spool, settings or self.there.settings, self.there.database_url, clock=clock)

    def clock(self) -> float:
        return self.seconds[0]

    def wait(self) -> None:
        """Until held lines are tried again."""
        self.seconds[0] += HELD_FOR + 1

    def found(self, event_id: UUID) -> list[UUID]:
        with psycopg.connect(self.there.database_url) as conn:
            return ops.begin_with(conn, str(event_id))


@pytest.fixture
def nowhere() -> Iterator[Pool]:
    pool = open_pool("host=/nowhere", size=2, options=door_options(0.9), connect_timeout=1, reconnect_timeout=0.2)
    yield pool
    pool.close()


@pytest.fixture
def stage(database_url: str, tmp_path: Path, nowhere: Pool) -> Iterator[Stage]:
    folder = tmp_path / "spool"
    folder.mkdir()
    with doorway(database_url, tmp_path) as there:
        spool = Spool(folder, of_keys([new_key()]), 16 * 1024 * 1024)
        door = Door(there.settings, nowhere, now=lambda: datetime.now(UTC), new_id=uuid4, spool=spool)
        yield Stage(there, spool, build(door, hint=lambda: None).test_client())


def test_what_was_acknowledged_is_accepted_under_the_same_ids(stage: Stage) -> None:
    told = [stage.form(delivery_id="a"), stage.form("by-body", message="Otra"), stage.form("web", delivery_id="b")]
    assert stage.drainer().drain() == {"accepted": 3}
    rows = stage.there.rows("SELECT event_id, receipt_id FROM events")
    assert {row["event_id"] for row in rows} == set(told)
    assert (stage.there.count("deliveries"), stage.spool.segments(), stage.there.count("event_aliases")) == (3, [], 0)


def test_every_event_of_a_batch_is_told(stage: Stage) -> None:
    body = whatsapp(message("wamid.1"), message("wamid.2"))
    told = [each["event_id"] for each in events(accepted(stage.post("wa", body)))]
    stage.drainer().drain()
    assert len(told) == 2
    assert {str(row["event_id"]) for row in stage.there.rows("SELECT event_id FROM events")} == set(told)


def test_its_mode_and_time_are_kept(stage: Stage) -> None:
    before = datetime.now(UTC)
    stage.post("web", as_json(ANSWERS), mode="test")
    after = datetime.now(UTC)
    stage.drainer().drain()
    (row,) = stage.there.rows(
        "SELECT e.mode, destination, e.received_at FROM events e JOIN deliveries USING (event_id)"
    )
    assert (row["mode"], row["destination"]) == ("test", "playground")
    assert isinstance(row["received_at"], datetime)
    assert before <= row["received_at"] <= after


def test_a_second_drain_of_the_same_lines_changes_nothing(stage: Stage) -> None:
    for i in range(3):
        stage.form("by-body", message=f"Hola {i}")
    stage.form(delivery_id="named")
    stage.post("generic", b'{"broken', delivery_id="q")
    (segment,) = stage.spool.segments()
    content = segment.read_bytes()
    stage.drainer().drain()
    before = [stage.there.count(table) for table in ("receipts", "events", "deliveries", "bodies", "items")]
    segment.write_bytes(content)  # as if the process had died before it put the segment aside
    assert stage.drainer().drain() == {"accepted": 5}
    after = [stage.there.count(table) for table in ("receipts", "events", "deliveries", "bodies", "items")]
    assert after == before
    assert before[2:] == [4, 9, 1]


def test_the_same_form_twice_is_one_event_and_the_second_id_finds_it(stage: Stage) -> None:
    first, second = stage.form("by-body"), stage.form("by-body")
    assert first != second
    stage.drainer().drain()
    assert stage.there.count("events") == 1
    assert stage.found(first) == stage.found(second)
    assert len(stage.found(second)) == 1


def test_the_same_form_twice_is_one_event_though_it_came_again_much_later_and_was_accepted_first(
    stage: Stage, nowhere: Pool
) -> None:
    settings, body = stage.there.settings, as_json(ANSWERS)
    before = Door(
        settings, nowhere, now=lambda: datetime.now(UTC) - timedelta(minutes=20), new_id=uuid4, spool=stage.spool
    )
    away = build(before, hint=lambda: None).test_client()
    told = [event(accepted(away.post("/hooks/generic", data=body, headers=GIVEN)))["event_id"] for _ in range(3)]
    later = event(accepted(stage.there.post("generic", body)))
    assert stage.drainer().drain() == {"accepted": 3}
    (first,) = {found for each in told for found in stage.found(UUID(str(each)))}
    assert (str(first) != later["event_id"], stage.there.count("events")) == (True, 2)


def test_a_retry_that_came_to_the_database_first_is_the_same_event(stage: Stage) -> None:
    told = stage.form(delivery_id="a")
    again = stage.there.form(delivery_id="a")
    stage.drainer().drain()
    assert event(again)["event_id"] == str(told)
    assert stage.there.count("deliveries") == 1


def test_what_cannot_be_read_goes_to_quarantine(stage: Stage) -> None:
    document = accepted(stage.post("generic", b'{"broken'))
    assert (document["events"], document["quarantined"]) == ([], 1)
    stage.drainer().drain()
    (item,) = stage.there.rows("SELECT kind FROM items")
    assert item["kind"] == "quarantine"


def test_a_quote_that_a_program_can_mend_is_refused_all_the_same(stage: Stage) -> None:
    assert stage.post("quotes", as_json(quote(number=""))).status_code == 422
    assert stage.spool.segments() == []


def test_a_source_with_keys_is_told_to_come_again(stage: Stage) -> None:
    body = as_json(ANSWERS)
    headers = stage.there.signed("keyed", body) | {"Idempotency-Key": "a"}
    answer = stage.away.post("/hooks/keyed", data=body, headers=headers)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


def test_a_full_spool_is_a_503(stage: Stage) -> None:
    stage.spool.limit = 100
    assert stage.post("web", as_json(ANSWERS)).status_code == 503


def test_a_torn_line_is_passed_over(stage: Stage) -> None:
    told = stage.form(delivery_id="a")
    (segment,) = stage.spool.segments()
    whole = segment.read_bytes()
    segment.write_bytes(whole[:100] + b"\n" + whole + whole[:50])
    assert stage.drainer().drain() == {"torn": 1, "accepted": 1}
    assert stage.found(told) == [told]
    assert stage.spool.segments() == []


def test_two_drainers_at_once_accept_each_once(stage: Stage) -> None:
    told = [stage.form("by-body", message=f"Hola {i}") for i in range(20)]
    barrier = threading.Barrier(2)

    def drain(drainer: Drainer) -> None:
        barrier.wait()
        drainer.drain()  # Without asking for its turn, as on a file system whose locks do not work.

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(drain, [stage.drainer(), stage.drainer()]))
    assert {row["event_id"] for row in stage.there.rows("SELECT event_id FROM events")} == set(told)
    assert stage.there.count("deliveries") == 20


def test_one_process_at_a_time_has_the_turn(stage: Stage) -> None:
    first, second = stage.drainer(), stage.drainer()
    assert [first.has_turn(), second.has_turn(), first.has_turn()] == [True, False, True]
    for each in (first, second):
        each.stop()
    assert second.has_turn()
    second.stop()


def test_a_key_that_comes_back_opens_what_was_held(stage: Stage) -> None:
    told = stage.form(delivery_id="a")
    drainer = stage.drainer(seal=of_keys([new_key()]))
    assert drainer.drain() == {"no_key": 1}
    assert not drainer.is_due()  # It is tried again in a while, and not all the time.
    new = new_key()
    stage.spool.append(b"nonsense")
    both = Seal(stage.spool.seal.fernet, stage.spool.seal.first)
    assert stage.drainer(seal=both).drain() == {"accepted": 1, "unreadable": 1}
    assert stage.found(told) == [told]
    assert new not in repr(both)


def test_a_source_that_is_configured_again_gets_what_was_held(stage: Stage) -> None:
    told = stage.form(delivery_id="a")
    other = stage.form("by-body", message="Otra")
    without = replace(
        stage.there.settings, sources={n: s for n, s in stage.there.settings.sources.items() if n != "web"}
    )
    drainer = stage.drainer(settings=without)
    assert drainer.drain() == {"no_source": 1, "accepted": 1}
    assert (stage.found(told), stage.found(other)) == ([], [other])
    drainer.settings = stage.there.settings
    stage.wait()
    assert drainer.is_due()
    assert drainer.drain() == {"accepted": 1}
    assert stage.found(told) == [told]


SLOW = """
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_terminate_backend(pg_backend_pid());
        RETURN NEW;
    END $$;
    CREATE TRIGGER slow BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.request_id = 'poison') EXECUTE FUNCTION slow();
"""


def test_a_line_that_breaks_its_connection_each_time_stops_no_other(stage: Stage) -> None:
    poison = stage.form(delivery_id="poison")
    others = [stage.form(delivery_id=f"msg_{i}") for i in range(40)]
    with psycopg.connect(stage.there.database_url) as conn:
        conn.execute(SLOW)
    drainer = stage.drainer()
    for _ in range(10):
        if drainer.is_due():
            drainer.drain()
    assert not drainer.is_due()
    assert {row["event_id"] for row in stage.there.rows("SELECT event_id FROM events")} == set(others)
    with psycopg.connect(stage.there.database_url) as conn:
        conn.execute("DROP TRIGGER slow ON events")
    stage.wait()
    drainer.drain()
    assert stage.found(poison) == [poison]


def test_a_source_that_was_renamed_gets_what_came_under_its_old_name(stage: Stage) -> None:
    told = stage.form(delivery_id="a")
    sources = dict(stage.there.settings.sources)
    sources["forms"] = replace(sources.pop("web"), name="forms", renamed_from="web")
    stage.drainer(settings=replace(stage.there.settings, sources=sources)).drain()
    assert stage.found(told) == [told]


def pointed_elsewhere(settings: Settings, *, without: str = "") -> Settings:
    """As after a restart with another account for the forms."""
    elsewhere = replace(settings.sources["web"], destination="playground")
    left = {name: each for name, each in settings.destinations.items() if name != without}
    return replace(settings, sources={**settings.sources, "web": elsewhere}, destinations=left)


def test_what_was_accepted_for_an_account_goes_there_though_its_source_points_elsewhere_by_then(stage: Stage) -> None:
    stage.form(delivery_id="a")
    stage.drainer(settings=pointed_elsewhere(stage.there.settings)).drain()
    assert stage.there.rows("SELECT destination FROM needs") == [{"destination": "crm"}]


def test_what_was_accepted_for_an_account_that_is_gone_goes_where_its_source_points(stage: Stage) -> None:
    stage.form(delivery_id="a")
    stage.drainer(settings=pointed_elsewhere(stage.there.settings, without="crm")).drain()
    assert stage.there.rows("SELECT destination FROM needs") == [{"destination": "playground"}]


def test_a_restored_database_gets_what_it_forgot(stage: Stage) -> None:
    told = [stage.form(delivery_id="a"), stage.form("by-body")]
    drainer = stage.drainer()
    drainer.drain()
    with psycopg.connect(stage.there.database_url, autocommit=True) as conn:
        conn.execute("TRUNCATE receipts, events, needs, identity_windows, delivery_history, bodies, items CASCADE")
        installation.open_epoch(conn, lease=timedelta(0))
    stage.wait()
    assert drainer.is_due()
    assert drainer.drain() == {"accepted": 2}
    assert {row["event_id"] for row in stage.there.rows("SELECT event_id FROM events")} == set(told)
    stage.wait()
    assert drainer.drain() == {}


def test_drained_segments_go_after_some_days(stage: Stage) -> None:
    stage.form(delivery_id="a")
    drainer = stage.drainer()
    drainer.drain()
    assert len(stage.spool.drained()) == 1
    later = datetime.now(UTC).timestamp() + KEEP_DRAINED + 1
    drainer.now = lambda: later
    drainer.drain()
    assert stage.spool.drained() == []


def test_a_secret_in_a_body_is_not_in_the_spool(stage: Stage) -> None:
    body = as_json(ANSWERS | {"token": "form-token"})
    stage.away.post("/hooks/generic", data=body, headers=GIVEN)
    (segment,) = stage.spool.segments()
    for line in lines(segment, 0):
        assert line.sealed is not None
        assert b"X-Intake-Token" not in stage.spool.seal.open(line.sealed)
