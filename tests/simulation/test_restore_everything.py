"""A restore in the middle of everything: webhooks come again in another order, and spools are drained once more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from intake import installation
from intake.app import build
from intake.db import Pool, door_options, open_pool
from intake.receive import Door
from intake.sealing import new_key, of_keys
from intake.spool import Spool
from intake.spool_drain import HELD_FOR, Drainer
from tests.commands import beside, intake
from tests.lab import Lab
from tests.simulation.test_restore import copied, tell_restored
from tests.simulation.world import incidents, ledger

START = 1_790_000_000
BEFORE, AFTER, OUTAGE, BOTH = "antes", "después", "caída", "ambos"
TALK = [f"wamid.{number}" for number in range(6)]
LEADS = ("contact", "opportunity", "task")


@dataclass(slots=True)
class Host:
    """A web host with its own disk.  It reaches the database, or keeps on its disk what comes."""

    lab: Lab
    spool: Spool
    nowhere: Pool
    seconds: float = 1000.0
    drainers: dict[str, Drainer] = field(default_factory=dict)

    def away(self) -> Lab:
        """The same pipeline while this host cannot reach the database."""
        door = Door(self.lab.settings, self.nowhere, now=lambda: datetime.now(UTC), new_id=uuid4, spool=self.spool)
        return replace(self.lab, door=build(door, hint=lambda: None).test_client())

    def drain(self, lab: Lab) -> int:
        """What the web process of this host does by itself, when it is time; returns how many it brought over."""
        self.seconds += HELD_FOR + 1
        drainer = self.drainers.setdefault(
            lab.database_url, Drainer(self.spool, lab.settings, lab.database_url, clock=lambda: self.seconds)
        )
        return drainer.drain()["accepted"] if drainer.is_due() else 0


@pytest.fixture
def host(stored: Lab, tmp_path: Path) -> Iterator[Host]:
    pool = open_pool("host=/nowhere", size=2, options=door_options(0.9), connect_timeout=1, reconnect_timeout=0.2)
    folder = tmp_path / "spool"
    folder.mkdir()
    yield Host(stored, Spool(folder, of_keys([new_key()]), 16 * 1024 * 1024), pool)
    pool.close()


# --- what is sent, and sent again -----------------------------------------------------------------------------------


def person(number: int, when: str) -> dict[str, str]:
    return {
        "delivery_id": f"msg_{when}_{number}",
        "email": f"{number}@example.com",
        "phone": f"98111000{number}",
        "message": f"Pedido {when} {number}.",
    }


def say(lab: Lab, place: int) -> list[UUID]:
    """One message of one conversation, by its place in it."""
    return lab.whatsapp(f"Mensaje {place}.", at=START + 60 * place, ids=[TALK[place]])


def send_after(lab: Lab, *, places: Sequence[int]) -> list[UUID]:
    """What came after the copy was taken, in the order of these places of the conversation."""
    events = [each for place in places for each in say(lab, place)]
    events += [lab.form(**person(1, AFTER)), lab.form(**person(2, AFTER)), lab.form(**person(5, BOTH))]
    events.append(lab.quote(version=2, amount="250.50", message=f"Pedido {AFTER} cotizado."))
    return events


def send_into_outage(lab: Lab, *, places: Sequence[int]) -> list[UUID]:
    """What came while the database was away; some of it came before, or comes later, to another host as well."""
    events = [each for place in places for each in say(lab, place)]
    return [*events, lab.form(**person(3, OUTAGE)), lab.form(**person(4, OUTAGE)), lab.form(**person(5, BOTH))]


WORDS = (
    f"Pedido {BEFORE} 0.", f"Pedido {AFTER} 1.", f"Pedido {AFTER} 2.", f"Pedido {OUTAGE} 3.", f"Pedido {OUTAGE} 4.",
    f"Pedido {BOTH} 5.", f"Pedido {AFTER} cotizado.", *(f"Mensaje {place}." for place in range(6)),
)  # fmt: skip


def history(host: Host, lab: Lab) -> list[UUID]:
    """A day as it was: webhooks, an outage in which this host keeps what comes, and webhooks again."""
    events = send_after(lab, places=(0, 1))
    lab.work()
    events += send_into_outage(host.away(), places=(1, 2, 3))
    assert host.drain(lab) == 6
    lab.work()
    events += [each for place in (3, 4, 5) for each in say(lab, place)]
    lab.settle(3)
    return events


def untold(lab: Lab) -> list[str]:
    """What somebody wrote and no live record of the CRM tells."""
    told = json.dumps([each for each in lab.dials.records() if each["live"]], ensure_ascii=False)
    return [words for words in WORDS if words not in told]


def leads(lab: Lab) -> dict[str, int]:
    """How many of each kind the CRM ever made.

    Without notes: which messages shared one is forgotten with the database, so that their words may come again.
    """
    return {kind: ledger(lab)[kind] for kind in LEADS}


def end(lab: Lab, events: Sequence[UUID]) -> None:
    """Nothing is doubled, and nothing is missing."""
    assert {lab.state(event) for event in events} == {"confirmed"}
    assert lab.dials.doubles() == []
    assert untold(lab) == []
    assert incidents(lab) == []
    assert [each["amount"] for each in lab.in_crm("opportunity") if each.get("amount")] == ["250.50"]


# --- the tests ------------------------------------------------------------------------------------------------------


def before(lab: Lab) -> None:
    lab.form(**person(0, BEFORE))
    lab.quote(version=1)
    lab.work()


@contextmanager
def lived(host: Host, server: str) -> Iterator[Lab]:
    """A day has passed, and here is the copy of the database from before it."""
    before(host.lab)
    with copied(host.lab, server) as earlier:
        end(host.lab, history(host, host.lab))
        yield earlier


MADE = {"contact": 8, "opportunity": 8, "task": 8}


@pytest.mark.parametrize("spool_first", [True, False])
def test_a_restore_with_all_webhooks_again_and_the_spool_again_doubles_and_loses_nothing(
    host: Host, postgres_server: str, *, spool_first: bool
) -> None:
    with lived(host, postgres_server) as earlier:
        assert leads(host.lab) == MADE
        tell_restored(earlier)
        drained = host.drain(earlier) if spool_first else 0
        earlier.work()
        events = [each for place in (5, 2, 4) for each in say(earlier, place)]
        earlier.settle(2)
        events += send_after(earlier, places=(3, 1, 0))
        drained += 0 if spool_first else host.drain(earlier)
        earlier.settle(20)
        assert drained == 6
        assert leads(earlier) == MADE
        end(earlier, events)


def test_the_same_copy_restored_twice_gets_everything_twice(host: Host, postgres_server: str, tmp_path: Path) -> None:
    with lived(host, postgres_server) as earlier, copied(earlier, postgres_server) as again:
        environ = dict(beside(earlier, tmp_path))
        for lab in (earlier, again):
            environ["DATABASE_URL"] = lab.database_url
            assert intake(environ, "restored", "--yes").status == 0
            with lab.pool.connection() as conn:
                lab.desk = lab.other_desk(installation=installation.read(conn))
            assert host.drain(lab) == 6
            lab.pass_time(timedelta(seconds=31))
            lab.work()
            events = send_after(lab, places=(5, 4, 3, 2, 1, 0))
            lab.settle(20)
            assert leads(lab) == MADE
            end(lab, events)
        assert again.desk.installation.epoch == earlier.desk.installation.epoch + 1


def test_two_hosts_that_kept_the_same_delivery_bring_it_once(host: Host, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    other = replace(host, spool=Spool(folder, of_keys([new_key()]), 16 * 1024 * 1024), drainers={})
    lab = host.lab
    first = send_into_outage(host.away(), places=(0, 1))
    second = send_into_outage(other.away(), places=(1, 0))
    assert set(first) == set(second)
    assert (host.drain(lab), other.drain(lab)) == (5, 5)
    assert set(send_into_outage(lab, places=(1, 0))) == set(first)
    lab.settle(4)
    assert {lab.state(event) for event in first} == {"confirmed"}
    assert leads(lab) == {"contact": 4, "opportunity": 4, "task": 4}
