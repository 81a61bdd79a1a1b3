"""The lab, with a running Tryton in the place of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tests.crm_lab import CrmLab, crm_lab
from tests.tryton_server import Row, Server

DESTINATION = """
[[destinations]]
name = "crm"
client = "tryton"
base_url = "{url}"
credential = "env:TRYTON_KEY"
currency = "USD"
assume_limit = 30
[destinations.owner]
rule = "affinity, round_robin"
users = ["{alice}", "{bob}"]
[destinations.options]
company = "{company}"
contact_reference = "{place}"
currency = "USD"
"""

OPPORTUNITY = ("reference", "description", "comment", "party", "employee", "state", "amount", "currency.code")


@dataclass(frozen=True, slots=True)
class TrytonLab:
    """A pipeline and the Tryton that it delivers to."""

    made: CrmLab
    crm: Server

    def contacts(self) -> list[Row]:
        """Every party that has this run's phone or e-mail, active or not."""
        mechanisms = ["contact_mechanisms.value", "in", [self.made.email, f"+51{self.made.phone}"]]
        return self.crm.search("party.party", mechanisms, ["active", "in", [True, False]], fields=("name", "code"))

    def opportunities(self) -> list[Row]:
        """Every opportunity that has this run's name in its own."""
        return self.crm.search("sale.opportunity", ["description", "like", f"%{self.made.run}%"], fields=OPPORTUNITY)

    def opportunity(self) -> Row:
        """The only one."""
        (one,) = self.opportunities()
        return one

    def amount(self) -> Decimal:
        """What the only opportunity is worth."""
        worth = self.opportunity()["amount"]
        assert isinstance(worth, dict)
        return Decimal(str(worth["decimal"]))

    def tasks(self) -> list[Row]:
        """Every task that has this run's name in its own."""
        return self.crm.search("project.work", ["name", "like", f"%{self.made.run}%"], fields=("name", "comment"))

    def notes(self) -> list[str]:
        """What stands on the only opportunity, the oldest first."""
        on_it = ["resource", "=", f"sale.opportunity,{self.opportunity()['id']}"]
        rows = self.crm.search("ir.note", on_it, fields=("message",))
        return [str(row["message"]) for row in sorted(rows, key=lambda row: int(str(row["id"])))]

    def counts(self) -> list[int]:
        return [len(found) for found in (self.contacts(), self.opportunities(), self.tasks())]


@contextmanager
def tryton_lab(database_url: str, folder: Path, crm: Server, *, place: str = "identifier") -> Iterator[TrytonLab]:
    """A lab that delivers to this server; `place` is where a contact's reference stands."""
    named = {"url": crm.base_url, "alice": crm.alice, "bob": crm.bob, "company": crm.company, "place": place}
    destination = DESTINATION.format(**named)
    ours = crm.standing_installation()
    with crm_lab(database_url, folder, destination, {"TRYTON_KEY": crm.key}, ours=ours) as made:
        yield TrytonLab(made, crm)
