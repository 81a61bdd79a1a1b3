"""The contract probe against the sandbox, whose promises are known, and against a CRM that somebody else wrote."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crm_clients.base import Account, Client, Found, Kind, Looked, Response
from crm_clients.bottlecrm import BottleCRM
from crm_clients.registry import build
from crm_clients.sandbox.client import SandboxClient
from crm_clients.sandbox.dials import Dials
from crm_clients.sandbox.profiles import profile
from crm_clients.sandbox.server import running
from crm_clients.transport import Transport
from crm_clients.watchdog import boot_clock
from intake.config import Destination
from tests.bottlecrm_server import server
from tests.tryton_server import server as tryton
from workers.desk import Wired
from workers.probe.asking import Patience, Probe
from workers.probe.measured import Contract, OfKind
from workers.probe.questions import Extent
from workers.probe.run import CannotProbe, Wanted, measure
from workers.wiring import account_of

HASTY = Patience(
    call=timedelta(seconds=10),
    sight=timedelta(seconds=10),
    poll=timedelta(milliseconds=20),
    quiet=timedelta(milliseconds=50),
)
BEARER = (("Authorization", "Bearer sandbox"),)
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Tried:
    contract: Contract
    dials: Dials

    def of(self, kind: Kind) -> OfKind:
        found = self.contract.of(kind)
        assert found is not None
        return found


def run(client: Client, account: Account, *kinds: Kind, owner: str | None = None, samples: int = 2) -> Contract:
    destination = Destination(name="crm", client=client.name, base_url=account.base_url)
    with Transport() as transport:
        probe = Probe(Wired(destination, client, account), transport, boot_clock, time.sleep, "ab12", HASTY)
        return measure(probe, Wanted(kinds, Extent(samples, 6), NOW, owner), lambda _: None)


def tried(name: str, *kinds: Kind, lag: float | None = None, owner: str | None = None) -> Iterator[Tried]:
    with running(of=profile(name, lag=lag)) as sandbox:
        account = Account("crm", sandbox.url, BEARER)
        contract = run(SandboxClient(name), account, *kinds, owner=owner)
        yield Tried(contract, Dials(sandbox.url))


@pytest.fixture(scope="module")
def enforced() -> Iterator[Tried]:
    yield from tried("enforced", *Kind, owner="ana")


@pytest.fixture(scope="module")
def stored() -> Iterator[Tried]:
    yield from tried("stored", *Kind)


def test_a_crm_that_enforces_the_reference_refuses_the_second(enforced: Tried) -> None:
    assert [each.second for each in enforced.contract.kinds] == ["refused"] * 4


def test_a_crm_that_enforces_the_reference_keeps_one_of_many_at_once(enforced: Tried) -> None:
    assert [each.parallel.records for each in enforced.contract.kinds] == [1] * 4


def test_a_crm_that_only_stores_it_makes_a_second_and_many(stored: Tried) -> None:
    seen = [(each.second, each.parallel.records) for each in stored.contract.kinds]
    assert seen == [("doubled", 6)] * 4


def test_what_a_client_gave_up_is_seen_to_be_made(stored: Tried) -> None:
    early = [each.gave_up for each in stored.contract.kinds]
    assert all(each.made == each.asked for each in early)


def test_the_owner_is_still_there_after_an_update(enforced: Tried) -> None:
    assert enforced.of(Kind.OPPORTUNITY).owner == "kept"


def test_everything_that_was_made_is_removed(stored: Tried) -> None:
    assert (stored.contract.left, [each for each in stored.dials.records() if each["live"]]) == ((), [])


class Spaced(SandboxClient):
    """A CRM that writes telephones in its own way."""

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        looked = super().was_read(kind, crm_id, response)
        if not isinstance(looked, Found) or kind is not Kind.CONTACT:
            return looked
        spaced = {"phone": looked.seen.values.get("phone", "").replace("+51", "")}
        return Found(replace(looked.seen, values=spaced))


def test_a_telephone_that_is_written_otherwise_is_seen() -> None:
    with running(of=profile("stored")) as sandbox:
        contract = run(Spaced(), Account("crm", sandbox.url, BEARER), Kind.CONTACT)
    contact = contract.of(Kind.CONTACT)
    assert contact is not None
    assert contact.rewritten == {"phone": ("+51987000111", "987000111")}


def test_values_that_stay_as_they_are_are_not_told(stored: Tried) -> None:
    assert [each.rewritten for each in stored.contract.kinds] == [{}] * 4


def test_an_idempotency_key_that_works_is_seen_to_work() -> None:
    for each in tried("idempotency", Kind.CONTACT):
        assert each.of(Kind.CONTACT).idempotency_key == "one_record"


def test_an_idempotency_key_that_does_nothing_is_seen_to_do_nothing(stored: Tried) -> None:
    assert stored.of(Kind.CONTACT).idempotency_key == "no_effect"


def test_a_search_that_lags_is_measured() -> None:
    for each in tried("lagging", Kind.CONTACT, lag=0.5):
        late = each.of(Kind.CONTACT).by_reference
        assert late.most is not None
        assert late.most >= 0.4


def test_an_account_that_refuses_the_credential_is_not_measured() -> None:
    with running(of=profile("stored")) as sandbox, pytest.raises(CannotProbe, match="bad_credential"):
        run(SandboxClient(), Account("crm", sandbox.url, (("Authorization", "Bearer wrong"),)), Kind.CONTACT)


@pytest.mark.crm_servers
def test_bottlecrm_is_measured_as_it_was_seen_to_behave(tmp_path: Path) -> None:
    """Doubled tasks, no Idempotency-Key, created although the client gave up, unknown fields dropped."""
    del tmp_path
    crm = server("bottlecrm")
    account = Account("crm", crm.base_url, (("Authorization", f"Bearer {crm.token}"),))
    contract = run(BottleCRM(currency="USD"), account, Kind.CONTACT, Kind.TASK)
    contact, task = contract.of(Kind.CONTACT), contract.of(Kind.TASK)
    assert contact is not None
    assert task is not None
    assert (contact.second, contact.unknown_field) == ("refused", "dropped")
    assert (task.second, task.idempotency_key) == ("doubled", "no_effect")
    assert [each.gave_up.made == each.gave_up.asked for each in contract.kinds] == [True, True]
    assert contract.left == ()


@pytest.mark.crm_servers
def test_tryton_is_measured_as_it_was_seen_to_behave() -> None:
    """Doubled, one after the other and at once, no Idempotency-Key, created although the client gave up."""
    crm = tryton()
    client = build("tryton", {"company": str(crm.company), "currency": "USD"})
    account = account_of(client, "crm", crm.base_url, crm.key)
    contract = run(client, account, Kind.CONTACT, Kind.OPPORTUNITY)
    assert [(each.second, each.parallel.records) for each in contract.kinds] == [("doubled", 6)] * 2
    assert [each.idempotency_key for each in contract.kinds] == ["no_effect"] * 2
    assert [each.gave_up.made == each.gave_up.asked for each in contract.kinds] == [True, True]
    assert contract.left == ()
