"""Deliveries at an even pace, as a sales team gets them on its best day: how long each waits for its answer."""

from __future__ import annotations

import http.client
import queue
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass

# Senders at once: enough that a slow answer holds no other one up.
SENDERS = 8
TRIES = 5


@dataclass(frozen=True, slots=True)
class Paced:
    """Seconds until each answer, from when it should have been sent; `late`: until it was really sent, the longest."""

    waits: tuple[float, ...]
    late: float


def send(port: int, requests: Iterable[bytes], *, a_second: float) -> Paced:
    """Send them one after the other, each when its time has come.  Raises OSError."""
    due: queue.SimpleQueue[tuple[float, bytes] | None] = queue.SimpleQueue()
    begin = time.monotonic() + 0.1
    for number, each in enumerate(requests):
        due.put((begin + number / a_second, each))
    for _ in range(SENDERS):
        due.put(None)
    waits: list[tuple[float, float]] = []
    threads = [threading.Thread(target=_sender, args=(port, due, waits), daemon=True) for _ in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Paced(tuple(wait for wait, _ in waits), max((late for _, late in waits), default=0.0))


def _sender(port: int, due: queue.SimpleQueue[tuple[float, bytes] | None], waits: list[tuple[float, float]]) -> None:
    while (given := due.get()) is not None:
        when, request = given
        time.sleep(max(0.0, when - time.monotonic()))
        late = time.monotonic() - when
        _send(port, request)
        waits.append((time.monotonic() - when, late))


def _send(port: int, request: bytes) -> None:
    """Until it is taken, as senders do: a door that has to wait too long for its database wants it again."""
    status = 0
    for _ in range(TRIES):
        if (status := _answer(port, request)) == http.client.OK:
            return
    raise OSError(f"answered with {status}")


def _answer(port: int, request: bytes) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30.0)) as connection:
        connection.connect()
        connection.sock.sendall(request)
        with closing(http.client.HTTPResponse(connection.sock, method="POST")) as answer:
            answer.begin()
            answer.read()
            return answer.status


def share(values: Sequence[float], part: float) -> float:
    """The value that this part of all lies below (0.5: the median)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
