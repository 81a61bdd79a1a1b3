"""What is sent: each scenario is one person's business, in acts with work between them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal, TypeVar
from uuid import UUID

from flask.testing import FlaskClient

from crm_clients.sandbox.faults import Rule
from crm_clients.sandbox.profiles import PROFILES
from intake.sources import find
from workers.prove.faults import ForLeads
from workers.prove.person import settle
from workers.prove.points import Crash
from workers.prove.stage import Json, Stage

OK = 200

T = TypeVar("T")


class Refused(RuntimeError):
    """The door did not accept what every door must."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An event that the door acknowledged, and what must come of it.

    `token`: a word that its sender wrote and nobody else; it must stand in one record.  `amount`: that of the newest
    version.  `replaced`: a later version took its place.
    """

    event_id: UUID
    role: Literal["opener", "follow_up", "version"]
    token: str
    amount: str | None = None
    replaced: bool = False


@dataclass(slots=True)
class Sender:
    """One person at the door, by a name and numbers of the run's own."""

    stage: Stage
    rng: random.Random
    accepted: list[Accepted] = field(default_factory=list)
    conflicts: int = 0
    number: int = 0
    wa_id: str = ""
    sent: int = 0
    door: FlaskClient = field(init=False)

    def __post_init__(self) -> None:
        self.door = self.stage.doors.there
        self.number = self.rng.randrange(10_000_000)
        self.wa_id = f"5197{self.number:07d}"

    def form(self, *, token: str | None = None, delivery_id: str | None = None) -> Json:
        """One form; returns what the door says of it."""
        word = token or self.word()
        answers: Json = {
            "name": f"Persona {self.number}", "email": f"p{self.number}@example.com",
            "phone": f"98{self.number:07d}", "message": f"Busco {word}",
        }  # fmt: skip
        (event,) = self._post("web", answers, delivery_id)
        if not event["conflict"]:
            self._keep(event, "opener", word)
        return event

    def message(self) -> None:
        """One WhatsApp message."""
        word = self.word()
        message = {"from": self.wa_id, "id": f"wamid.{self.number}.{self.sent}", "type": "text",
                   "timestamp": str(1_790_000_000 + self.sent), "text": {"body": f"Quiero {word}"}}  # fmt: skip
        card = {"profile": {"name": f"Rosa {self.number}"}, "wa_id": self.wa_id}
        (event,) = self._post("wa", _envelope({"contacts": [card], "messages": [message]}))
        self._keep(event, "follow_up" if self.accepted else "opener", word)

    def form_without_database(self) -> None:
        """One form, at a door that has lost its database."""
        self.door = self.stage.doors.away
        self.form()
        self.door = self.stage.doors.there

    def moves(self) -> None:
        """WhatsApp's own message that this person has another number, from which they write from now on."""
        old, self.wa_id = self.wa_id, f"5196{self.number:07d}"
        told = {"from": old, "id": f"wamid.{self.number}.{self.sent}", "timestamp": str(1_790_000_000 + self.sent),
                "type": "system", "system": {"type": "user_changed_number", "wa_id": self.wa_id}}  # fmt: skip
        if self._post("wa", _envelope({"messages": [told]})):
            raise Refused("news of a person is not an event")

    def version(self, version: int, amount: str) -> None:
        """One version of a quote."""
        word = self.word()
        body: Json = {
            "number": f"COT-{self.number}", "version": version, "issued_at": "2026-11-20T15:04:05-05:00",
            "currency": "PEN", "amount": amount, "message": f"Por favor {word}",
            "items": [{"sku": "A", "name": "Silla", "quantity": 1, "unit_price": amount}],
            "contact": {"name": f"Cliente {self.number}", "phone": f"96{self.number:07d}",
                        "email": f"q{self.number}@example.com"},
        }  # fmt: skip
        (event,) = self._post("quotes", body)
        self.accepted = [
            Accepted(each.event_id, each.role, each.token, each.amount, replaced=True) for each in self.accepted
        ]
        self._keep(event, "version", word, amount)

    def word(self) -> str:
        """A word that stands nowhere else."""
        return f"palabra{self.rng.randrange(10**9):09d}"

    def _keep(
        self, event: Json, role: Literal["opener", "follow_up", "version"], token: str, amount: str | None = None
    ) -> None:
        event_id = UUID(str(event["event_id"]))
        if event_id not in {each.event_id for each in self.accepted}:
            self.accepted.append(Accepted(event_id, role, token, amount))

    def _post(self, source: str, body: Json, delivery_id: str | None = None) -> list[Json]:
        """A correctly signed delivery; what the door says of its events.  Raises Refused.

        A sender to whom nothing was answered sends the same again.
        """
        self.sent += 1
        configured = self.stage.settings.sources[source]
        path, raw = f"/hooks/{source}", json.dumps(body).encode()
        headers = find(configured.provider).sign(
            raw,
            secret=configured.secret_values[0],
            url=self.stage.settings.public_base_url + path,
            now=datetime.now(UTC),
            delivery_id=delivery_id or f"msg_{self.number}_{self.sent}",
        )
        answer = again(lambda: self.door.post(path, data=raw, headers=dict(headers)))
        if answer.status_code != OK:
            raise Refused(f"{source}: {answer.status_code}")
        events: list[Json] = answer.get_json()["events"]
        with suppress(Crash):  # What ends the door when its answer has gone is nothing to the sender.
            answer.close()
        return events


def _envelope(value: Json) -> Json:
    """What WhatsApp sends around messages."""
    channel = {"display_phone_number": "5115550000", "phone_number_id": "100"}
    change = {"field": "messages", "value": {"messaging_product": "whatsapp", "metadata": channel, **value}}
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [change]}]}


def again(try_it: Callable[[], T]) -> T:
    """Until it is not ended by a crash: whoever got no answer comes again."""
    while True:
        try:
            return try_it()
        except Crash:
            continue


Act = Callable[[Sender], object]


@dataclass(frozen=True, slots=True)
class Scenario:
    """`acts`: after each of them the workers do what is due.  `opportunities`: how many must come of it.

    `profiles`: where it is played; what does not depend on them need not be played in all.
    """

    name: str
    words: str
    acts: tuple[Act, ...]
    opportunities: int = 1
    profiles: tuple[str, ...] = tuple(PROFILES)


def _duplicate(sender: Sender) -> None:
    """The same delivery again, as a sender repeats what it believes lost."""
    first = sender.accepted[0]
    event = sender.form(token=first.token, delivery_id=f"msg_{sender.number}")
    if not event["duplicate"] or str(event["event_id"]) != str(first.event_id):
        raise Refused("a repeated delivery is not called a duplicate of the first")


def _conflict(sender: Sender) -> None:
    """Other content under an id that is known."""
    event = sender.form(delivery_id=f"msg_{sender.number}")
    if not event["conflict"]:
        raise Refused("other content under one id is not called a conflict")
    sender.conflicts += 1


def _two_messages(sender: Sender) -> None:
    sender.message()
    sender.message()


def _answer_lost(sender: Sender) -> None:
    """A form of which the CRM makes an opportunity, and does not say so, nor lets anybody look at once."""
    lost = Rule("lost_answer", match={"what": "create", "kind": "opportunity"})
    unseen = ForLeads("503", match={"what": "find", "kind": "opportunity"}, skip=1)
    sender.stage.crm.sandbox.rules.replace([lost, unseen])
    sender.form()


def _settled(sender: Sender) -> None:
    """A person looks in the CRM, and says what they see there."""
    again(lambda: settle(sender.stage))


def _drained(sender: Sender) -> None:
    again(sender.stage.doors.drain)


def _identified(sender: Sender) -> None:
    sender.form(delivery_id=f"msg_{sender.number}")


SCENARIOS: Final[Mapping[str, Scenario]] = {
    each.name: each
    for each in (
        Scenario("form", "a form", (Sender.form,)),
        Scenario("two_forms", "two forms of one person", (lambda sender: (sender.form(), sender.form()),), 2),
        Scenario("whatsapp", "a conversation of three messages", (
            Sender.message, _two_messages,
        )),
        Scenario("moved", "a person who gets another WhatsApp number", (
            Sender.message, Sender.moves, Sender.message,
        )),
        Scenario("quote", "a quote in three versions", (
            lambda sender: sender.version(1, "100.00"),
            lambda sender: sender.version(2, "250.50"),
            lambda sender: sender.version(3, "300.75"),
        )),
        Scenario("duplicate", "a form, the same again, and other content under its id", (
            _identified, _duplicate, _conflict,
        )),
        Scenario("spooled", "a form while the database is away, and the draining of the spool", (
            Sender.form_without_database, _drained,
        ), profiles=("stored",)),
        Scenario("settled", "a form whose opportunity is in doubt until a person settles it", (
            _answer_lost, _settled,
        ), profiles=("stored", "enforced", "weak")),
    )
}  # fmt: skip
