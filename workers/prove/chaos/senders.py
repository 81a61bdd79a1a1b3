"""Senders as they are: each delivery is tried with the same id until it is answered with 200."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from uuid import UUID

import requests

from intake.config import Settings
from intake.sources import find
from workers.prove.chaos.letters import Delivery, Json, Saying

ANSWER_WITHIN = 5.0  # seconds, as the least patient senders
TRY_AGAIN = 0.2  # seconds; real ones wait longer
GIVE_UP = 180.0  # seconds; a database that starts again on a busy machine takes a part of it
# Every so many deliveries, one comes twice, as if its answer was lost.
REPEATED = 5


class NotAccepted(RuntimeError):
    """The door did not acknowledge a delivery in time, or contradicted itself about it."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An event, as the door told its sender."""

    event_id: UUID
    saying: Saying


@dataclass(slots=True)
class Sender:
    """Where deliveries go, and what was acknowledged.  `abandoned`: when it is set, nothing is tried again.

    `patience`: seconds that each waits for an answer.
    """

    settings: Settings
    url: str
    acknowledged: list[Accepted] = field(default_factory=list)
    delivered: int = 0
    tries: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    abandoned: threading.Event = field(default_factory=threading.Event)
    patience: float = ANSWER_WITHIN

    def deliver(self, delivery: Delivery) -> list[UUID]:
        """Try until it is acknowledged; the ids of its events.  Raises NotAccepted."""
        events = self._until_accepted(delivery)
        with self.lock:
            self.acknowledged += [Accepted(*each) for each in zip(events, delivery.says, strict=True)]
            self.delivered += 1
            again = self.delivered % REPEATED == 0
        if again and self._until_accepted(delivery) != events:
            raise NotAccepted(f"{delivery.delivery_id} is another event when it is repeated")
        return events

    def _until_accepted(self, delivery: Delivery) -> list[UUID]:
        until = time.monotonic() + GIVE_UP
        while time.monotonic() < until:
            answer = self._post(delivery)
            if answer is not None and answer.status_code == HTTPStatus.OK:
                return _events(delivery, answer.json()["events"])
            if self.abandoned.wait(TRY_AGAIN):
                break
        raise NotAccepted(f"{delivery.delivery_id} was not accepted within {GIVE_UP:g} s")

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
        key = {"Idempotency-Key": delivery.delivery_id} if configured.idempotency_key else {}
        self.tries += 1
        with requests.Session() as session:
            session.trust_env = False  # A proxy for the world is none for this host.
            try:
                return session.post(
                    self.url + path, data=delivery.body, headers={**headers, **key}, timeout=self.patience
                )
            except requests.RequestException:
                return None


def _events(delivery: Delivery, told: list[Json]) -> list[UUID]:
    if any(each["conflict"] for each in told) or len(told) != len(delivery.says):
        raise NotAccepted(f"{delivery.delivery_id} is said to hold {len(told)} events, or a conflict")
    return [UUID(str(each["event_id"])) for each in told]


@dataclass(slots=True)
class Stream:
    """Several senders at once until `over`; each sends what it is given in order, and ends what it has begun.

    `pause`: seconds that each waits between two deliveries.
    """

    deliver: Callable[[Delivery], object]
    given: tuple[Iterator[Delivery], ...]
    pause: float
    over: threading.Event = field(default_factory=threading.Event)
    failures: list[BaseException] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        self.threads = [threading.Thread(target=self._run, args=(each,), daemon=True) for each in self.given]
        for thread in self.threads:
            thread.start()

    def ended(self) -> bool:
        """Whether all have nothing in hand any more."""
        self.over.set()
        return not any(thread.is_alive() for thread in self.threads)

    def _run(self, given: Iterator[Delivery]) -> None:
        try:
            for delivery in given:
                self.deliver(delivery)
                if self.over.wait(self.pause):
                    return
        except BaseException as failed:  # noqa: BLE001  # A thread's failure is told by the thread that asks for it.
            self.failures.append(failed)
