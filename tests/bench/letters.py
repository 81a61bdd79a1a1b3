"""Deliveries made before the clock runs: whole HTTP requests, correctly signed, each with an id that nobody had."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from intake.config import Settings
from tests import doorway
from workers.prove.chaos.letters import Delivery, batch, form, message

BATCH = 50
TAG = "bench"

# One run of the bench never sends the same delivery twice, but where it means to.
NUMBERS = itertools.count(1)

SOURCES = {
    "web": doorway.FORM,
    "wa": doorway.WHATSAPP + 'verify_token = "env:VERIFY"\n',
}


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to knock: `make` gives the next delivery.

    `events` of one delivery.  `again`: the same ones may come round.  `known`: they were here before.
    `signature`: False, it is a wrong one.
    """

    make: Callable[[], Delivery]
    events: int = 1
    again: bool = False
    known: bool = False
    signature: bool = True


def a_form() -> Delivery:
    return form(TAG, next(NUMBERS))


def a_message() -> Delivery:
    return message(TAG, next(NUMBERS), 0)


def a_batch() -> Delivery:
    return batch(TAG, [(next(NUMBERS), 0) for _ in range(BATCH)])


FORM = Kind(a_form)
MESSAGE = Kind(a_message)
BATCH_OF_50 = Kind(a_batch, events=BATCH)
DUPLICATE = Kind(a_form, again=True, known=True)
REFUSED = Kind(a_form, again=True, signature=False)


def requests(settings: Settings, kind: Kind, count: int, path: str = "/hooks/{source}") -> Iterator[bytes]:
    """So many requests.  `path` may name the delivery's source."""
    for _ in range(count):
        delivery = kind.make()
        headers = doorway.signed(settings, delivery.source, delivery.body, delivery_id=delivery.delivery_id)
        body = delivery.body if kind.signature else delivery.body + b" "
        yield request(path.format(source=delivery.source), headers.items(), body)


def request(path: str, headers: Iterable[tuple[str, str]], body: bytes) -> bytes:
    """The bytes of one POST."""
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join((*lines, "", "")).encode() + body


def write(file: Path, made: Iterable[bytes]) -> None:
    """In the form that wrk.lua reads: the length of each on a line, then its bytes."""
    with file.open("wb") as out:
        for each in made:
            out.write(b"%d\n%s" % (len(each), each))
