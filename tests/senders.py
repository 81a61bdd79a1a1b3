"""Senders as they are: each delivery is tried with the same id until it is answered with 200."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from uuid import UUID

import requests

from intake.config import Settings
from intake.sources import find

Json = dict[str, object]

ANSWER_WITHIN = 5.0  # seconds, as the least patient senders
TRY_AGAIN = 0.2  # seconds; real ones wait longer
GIVE_UP = 90.0  # seconds until a test has failed


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a sender wants to be rid of.  `makes` says which records it adds to the CRM."""

    source: str
    delivery_id: str
    body: bytes = field(repr=False)
    makes: tuple[str, ...]


def form(tag: str, number: int) -> Delivery:
    """One person's form."""
    answers = {
        "name": f"{tag} {number}", "email": f"{tag}.{number}@example.com", "phone": f"98{number:07d}", "message": "Hola"
    }  # fmt: skip
    lead = ("contact", "opportunity", "task")
    return Delivery("web", f"msg_{tag}_{number}", json.dumps(answers).encode(), lead)


def message(tag: str, number: int, place: int) -> Delivery:
    """The message at this place of one person's conversation; the first opens it."""
    sender = f"5197{number:07d}"
    value: Json = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "5115550000", "phone_number_id": tag},
        "contacts": [{"profile": {"name": f"{tag} {number}"}, "wa_id": sender}],
        "messages": [
            {
                "from": sender,
                "id": f"wamid.{tag}.{number}.{place}",
                "timestamp": str(1_790_000_000 + place),
                "type": "text",
                "text": {"body": said(tag, number, place)},
            }
        ],
    }
    body: Json = {
        "object": "whatsapp_business_account",
        "entry": [{"id": "1", "changes": [{"field": "messages", "value": value}]}],
    }
    lead = ("contact", "opportunity", "task") if place == 0 else ()
    return Delivery("wa", f"wa_{tag}_{number}_{place}", json.dumps(body).encode(), (*lead, "message"))


def said(tag: str, number: int, place: int) -> str:
    """The words of a message, by which it is known again in whatever text carries it."""
    return f"Mensaje {tag}/{number}/{place}."


def quote(tag: str, number: int, version: int) -> Delivery:
    """One version of one person's quote."""
    amount = f"{100 * version}.50"
    body: Json = {
        "number": f"{tag}-{number}",
        "version": version,
        "issued_at": "2026-11-20T15:04:05-05:00",
        "currency": "PEN",
        "amount": amount,
        "items": [{"sku": "A", "name": "Silla", "quantity": 1, "unit_price": amount}],
        "contact": {"name": f"{tag} {number}", "phone": f"96{number:07d}", "email": f"{tag}.{number}@example.com"},
        "message": "Por favor",
    }
    lead = ("contact", "opportunity", "task") if version == 1 else ()
    return Delivery("quotes", f"quote_{tag}_{number}_{version}", json.dumps(body).encode(), lead)


def deliveries(tag: str, numbers: Iterator[int]) -> Iterator[Delivery]:
    """Person after person, each by one of the three ways, without an end."""
    for number in numbers:
        match number % 3:
            case 0:
                yield form(tag, number)
            case 1:
                yield from (message(tag, number, place) for place in range(3))
            case _:
                yield from (quote(tag, number, version) for version in (1, 2))


@dataclass(slots=True)
class Sender:
    """Where deliveries go, what was acknowledged, and what that must have made."""

    settings: Settings
    url: str
    accepted: list[UUID] = field(default_factory=list)
    expected: Counter[str] = field(default_factory=Counter)
    tries: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, delivery: Delivery) -> UUID:
        """Try until it is acknowledged; returns its event_id.  Every fifth comes twice, as if its answer was lost."""
        event_id = self._until_accepted(delivery)
        with self.lock:
            self.accepted.append(event_id)
            self.expected.update(delivery.makes)
            again = len(self.accepted) % 5 == 0
        if again:
            assert self._until_accepted(delivery) == event_id
        return event_id

    def _until_accepted(self, delivery: Delivery) -> UUID:
        until = time.monotonic() + GIVE_UP
        while time.monotonic() < until:
            answer = self._post(delivery)
            if answer is not None and answer.status_code == HTTPStatus.OK:
                (event,) = answer.json()["events"]
                assert not event["conflict"]
                return UUID(event["event_id"])
            time.sleep(TRY_AGAIN)
        raise AssertionError(f"{delivery.delivery_id} was not accepted within {GIVE_UP:g} s")

    def _post(self, delivery: Delivery) -> requests.Response | None:
        """One try; None: no whole answer came."""
        configured = self.settings.sources[delivery.source]
        path = f"/hooks/{delivery.source}"
        headers = find(configured.provider).sign(
            delivery.body,
            secret=configured.secret_values[0],
            url=self.settings.public_base_url + path,
            now=datetime.now(UTC),
            delivery_id=delivery.delivery_id,
        )
        self.tries += 1
        with requests.Session() as session:
            session.trust_env = False
            try:
                return session.post(self.url + path, data=delivery.body, headers=dict(headers), timeout=ANSWER_WITHIN)
            except requests.RequestException:
                return None


@dataclass(slots=True)
class Stream:
    """Several senders at once until `over`, each person's deliveries in order; each sender ends what it has begun.

    `pause`: seconds that each waits between two deliveries.
    """

    sender: Sender
    tag: str
    first: int
    senders: int
    pause: float
    over: threading.Event = field(default_factory=threading.Event)
    failures: list[BaseException] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        self.threads = [threading.Thread(target=self._run, args=(place,)) for place in range(self.senders)]
        for thread in self.threads:
            thread.start()

    def ended(self) -> bool:
        """Whether all have nothing in hand any more."""
        self.over.set()
        return not any(thread.is_alive() for thread in self.threads)

    def _run(self, place: int) -> None:
        try:
            for delivery in deliveries(self.tag, itertools.count(self.first + place, self.senders)):
                self.sender.send(delivery)
                if self.over.wait(self.pause):
                    return
        except BaseException as failed:  # noqa: BLE001  # A thread's failure is told by the test's own thread.
            self.failures.append(failed)
