"""Senders as they are: each delivery is tried with the same id until it is answered with 200."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from workers.prove.chaos import senders
from workers.prove.chaos.letters import Delivery, form, message, quote
from workers.prove.chaos.senders import Stream

__all__ = ["Delivery", "Sender", "Stream", "deliveries", "form", "message", "quote", "stream"]


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
class Sender(senders.Sender):
    """What was acknowledged, and what that must have made."""

    expected: Counter[str] = field(default_factory=Counter)

    @property
    def accepted(self) -> list[UUID]:
        """All events, in the order in which they were acknowledged."""
        return [each.event_id for each in self.acknowledged]

    def send(self, delivery: Delivery) -> UUID:
        """Try until it is acknowledged; returns its event_id."""
        (event_id,) = self.deliver(delivery)
        with self.lock:
            self.expected.update(delivery.makes)
        return event_id


def stream(sender: Sender, tag: str, first: int, *, count: int, pause: float) -> Stream:
    """So many senders at once, each person's deliveries in order."""
    given = tuple(deliveries(tag, itertools.count(first + place, count)) for place in range(count))
    return Stream(sender.send, given, pause)
