"""A database that was brought back to an earlier copy has forgotten what it wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from intake import installation
from intake.app import build
from intake.db import open_pool
from intake.installation import Mismatch
from intake.receive import Door
from tests.conftest import fresh_database
from tests.lab import Lab
from tests.simulation.world import STEP, impatient, incidents, ledger


@contextmanager
def copied(lab: Lab, server: str) -> Iterator[Lab]:
    """A copy of the lab's database as it is now, with a door and a worker of its own at the same CRM."""
    name = str(conninfo_to_dict(lab.database_url)["dbname"])
    with psycopg.connect(server, autocommit=True) as conn:
        # A template must have no other visitors.
        conn.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
    with fresh_database(server, template=name) as (_, url):
        lab.pool.check()
        pool = open_pool(url, size=12)
        door = Door(lab.settings, pool, now=lambda: datetime.now(UTC), new_id=uuid4)
        app = build(door, hint=lambda: None)
        try:
            yield replace(lab, database_url=url, pool=pool, door=app.test_client(), desk=lab.other_desk(pool=pool))
        finally:
            pool.close()


def tell_restored(lab: Lab) -> None:
    """What `intake restored` does: a new epoch, in which everything that is not known is in doubt."""
    with lab.pool.connection() as conn:
        here = installation.open_epoch(conn, lease=lab.desk.patience.lease)
    lab.desk = lab.other_desk(installation=here)


def send_all(lab: Lab) -> list[UUID]:
    """What came after the copy was taken; sent again, it is the same."""
    lab.counter = iter(range(100, 200))
    return [
        lab.form(delivery_id="msg_after", email="despues@example.com", phone="987000002"),
        lab.form(delivery_id="msg_same_person", message="Otra cosa"),
        *lab.whatsapp("Hola", "Quiero una cotización"),
        lab.quote(version=2, amount="250.50"),
    ]


def send_before(lab: Lab) -> list[UUID]:
    return [lab.form(delivery_id="msg_before"), lab.quote(version=1)]


def test_what_was_delivered_after_the_copy_is_found_and_not_made_again(stored: Lab, postgres_server: str) -> None:
    send_before(stored)
    stored.work()
    with copied(stored, postgres_server) as earlier:
        send_all(stored)
        stored.settle(2)
        made = ledger(stored)
        tell_restored(earlier)
        events = send_all(earlier)
        earlier.settle(20)
        assert {earlier.state(event) for event in events} == {"confirmed"}
        assert ledger(earlier) == made
        assert earlier.dials.doubles() == []
        amounts = {str(each.get("amount")) for each in earlier.in_crm("opportunity")}
        assert "250.50" in amounts


def test_a_version_after_a_restore_is_applied_on_what_was_forgotten(stored: Lab, postgres_server: str) -> None:
    with copied(stored, postgres_server) as earlier:
        stored.quote(version=1, amount="100.00")
        stored.work()
        stored.quote(version=2, amount="200.00")
        stored.work()
        tell_restored(earlier)
        for version in (1, 2, 3):
            event = earlier.quote(version=version, amount=f"{version}00.00")
            earlier.settle(6)
            assert earlier.state(event) == "confirmed"
        assert [each["amount"] for each in earlier.in_crm("opportunity")] == ["300.00"]


def test_in_a_new_epoch_what_really_is_new_is_delivered(stored: Lab, postgres_server: str) -> None:
    with copied(stored, postgres_server) as earlier:
        tell_restored(earlier)
        events = send_all(earlier)
        earlier.settle(20)
        assert {earlier.state(event) for event in events} == {"confirmed"}
        assert ledger(earlier) == {"contact": 4, "opportunity": 4, "task": 4, "note": 1}


def test_what_was_on_its_way_when_the_database_was_brought_back_is_waited_for(
    stored: Lab, postgres_server: str
) -> None:
    with copied(stored, postgres_server) as earlier:
        stored.dials.fault("late", match={"what": "create", "kind": "contact"}, seconds=86_400)
        with impatient(stored):
            stored.form(delivery_id="msg_after")
            stored.step()
            assert stored.dials.held() == 1
            tell_restored(earlier)
            event = earlier.form(delivery_id="msg_after")
            earlier.work()  # A look sees nothing there: it is on its way.
            stored.dials.release_late()  # within its limit
        earlier.settle(20)
        assert earlier.state(event) == "confirmed"
        assert ledger(earlier) == {"contact": 1, "opportunity": 1, "task": 1}


def test_a_proof_that_was_under_way_in_the_copy_begins_anew(stored: Lab, postgres_server: str) -> None:
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    event = stored.form()
    stored.work()
    stored.pass_time(STEP)
    stored.work()  # the first look says absent
    with copied(stored, postgres_server) as earlier:
        stored.dials.fault("late", match={"what": "create", "kind": "contact"}, seconds=86_400)
        with impatient(stored):
            stored.pass_time(STEP)
            stored.step()  # the second look proves it, and it is written again
            stored.step()
            assert stored.dials.held() == 1
            earlier.pass_time(STEP)
            tell_restored(earlier)
            earlier.work()
            stored.dials.release_late()  # within its limit
        earlier.settle()
        assert earlier.state(event) == "confirmed"
        assert ledger(earlier) == {"contact": 1, "opportunity": 1, "task": 1}
        assert incidents(earlier) == []


# --- the mark outside the database ------------------------------------------------------------------------------------


def pinned(lab: Lab, file: Path) -> str:
    with lab.pool.connection() as conn:
        installation.pin(installation.read(conn), file, ours=True)
    return file.read_text("utf-8")


def check(lab: Lab, expected: str) -> None:
    with lab.pool.connection() as conn:
        installation.check(installation.read(conn), expected)


def test_the_database_agrees_with_its_own_mark(stored: Lab, tmp_path: Path) -> None:
    check(stored, pinned(stored, tmp_path / "home" / "installation"))


def test_a_copy_from_an_earlier_epoch_is_noticed(stored: Lab, postgres_server: str, tmp_path: Path) -> None:
    with copied(stored, postgres_server) as earlier:
        tell_restored(stored)
        mark = pinned(stored, tmp_path / "installation")
        with pytest.raises(Mismatch):
            check(earlier, mark)


def test_a_new_epoch_is_a_mismatch_until_the_mark_is_written_anew(stored: Lab, tmp_path: Path) -> None:
    file = tmp_path / "installation"
    mark = pinned(stored, file)
    tell_restored(stored)
    with pytest.raises(Mismatch):
        check(stored, mark)
    with stored.pool.connection() as conn:
        installation.overwrite(installation.read(conn), file)
    check(stored, file.read_text("utf-8"))


OTHER = "3f2b9c1e-8a4d-4c57-9e60-1d2f3a4b5c6d"


@pytest.mark.parametrize("mark", ["", "\n", OTHER, "{id} 2", "{id} 1 0123456789abcdef"])
def test_any_other_mark_is_a_mismatch(stored: Lab, mark: str) -> None:
    with pytest.raises(Mismatch):
        check(stored, mark.format(id=stored.desk.installation.installation_id))


def test_another_key_is_a_mismatch(stored: Lab, tmp_path: Path) -> None:
    mark = pinned(stored, tmp_path / "installation")
    with stored.pool.connection() as conn:
        conn.execute("UPDATE installation SET identity_key = decode(repeat('00', 32), 'hex')")
    with pytest.raises(Mismatch):
        check(stored, mark)


def test_a_copy_that_is_told_a_new_epoch_delivers_nothing_twice_though_all_of_it_was_known(
    stored: Lab, postgres_server: str
) -> None:
    events = send_before(stored)
    stored.work()
    made = ledger(stored)
    with copied(stored, postgres_server) as earlier:
        tell_restored(earlier)
        earlier.pass_time(timedelta(days=1))
        assert send_before(earlier) == events
        earlier.settle()
        assert ledger(earlier) == made
