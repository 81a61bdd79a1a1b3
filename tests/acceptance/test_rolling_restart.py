"""Everything is restarted, one after another, while leads come: no delivery is refused, and none is doubled.

ROLLING_RATE: deliveries a second (12 without it); ROLLING_SECONDS: how long they come before and after each (0.5).
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
import requests

from tests.acceptance.test_chaos import assert_each_stands_once
from tests.plant import CHECKOUT, Plant, plant
from tests.senders import Sender, stream
from workers.prove.chaos.senders import REPEATED

pytestmark = pytest.mark.slow

RATE = float(os.environ.get("ROLLING_RATE") or 12)
BETWEEN = float(os.environ.get("ROLLING_SECONDS") or 0.5)
SENDERS = 6
# Seconds that a sender waits for an answer: a slow machine's restart is no refusal.
PATIENCE = 60.0

# What systemd does for a service with a socket: sd_listen_fds(3).
AS_SYSTEMD = """
import os, sys
os.dup2(int(sys.argv[1]), 3, inheritable=True)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


@pytest.fixture(scope="module")
def works() -> Iterator[Plant]:
    with plant("web", "clock", "ordinary-1", "ordinary-2") as made:
        yield made


@contextmanager
def load(works: Plant, tag: str, url: str = "") -> Iterator[Sender]:
    """So many deliveries a second in the block, and then until all that was begun is acknowledged."""
    sender = Sender(works.settings, url or works.url, patience=PATIENCE)
    running = stream(sender, tag, next(works.blocks), count=SENDERS, pause=SENDERS / RATE)
    running.start()
    began = time.monotonic()
    try:
        works.watch_for(BETWEEN)
        yield sender
        works.watch_for(BETWEEN)
    finally:
        works.until(running.ended, "the senders are rid of everything")
        took = time.monotonic() - began
        print(f"{sender.tries} deliveries in {took:.0f} s, {refused(sender)} refused")  # noqa: T201  # for whoever measures
    assert not running.failures, running.failures


def refused(sender: Sender) -> int:
    """How many tries were not acknowledged, for whatever cause."""
    return sender.tries - sender.delivered - sender.delivered // REPEATED


def test_a_rolling_restart_refuses_nothing_and_doubles_nothing(works: Plant) -> None:
    with load(works, "rolling") as sender:
        renew_web_workers(works)
        for name in ("ordinary-1", "ordinary-2", "clock"):
            works.watch_for(BETWEEN)
            works.stop(name)
            works.start(name)
    assert refused(sender) == 0
    all_delivered(works, sender)
    assert_each_stands_once(works, sender, "rolling")


def all_delivered(works: Plant, sender: Sender) -> None:
    """A long run leaves more than a test's usual patience is for."""

    def open_ones() -> int:
        states = works.states(sender.accepted)
        return states.total() - states["confirmed"] - states["superseded"]

    works.until(lambda: open_ones() < 50, "most are delivered", within=120 + len(sender.accepted))


def renew_web_workers(works: Plant) -> None:
    """As `systemctl reload` does: each of gunicorn's workers ends what it has begun, and another takes its place."""
    before = works.children("web")
    works.signal("web", signal.SIGHUP)
    works.until(lambda: not any(each.alive() for each in before), "all have gone")
    works.until(lambda: len(works.children("web")) == len(before), "others are there")


def test_a_receiver_that_systemd_listens_for_restarts_wholly_and_refuses_nothing(
    works: Plant, listener: socket.socket, receivers: Receivers
) -> None:
    """Connections wait in the socket while nobody serves it."""
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    receivers.start(works, listener)
    works.until(lambda: answers(url), "it answers")
    with load(works, "socket", url) as sender:
        receivers.stop()
        receivers.start(works, listener)
        works.until(lambda: answers(url), "the next one answers")
    assert refused(sender) == 0
    assert_each_stands_once(works, sender, "socket")


def answers(url: str) -> bool:
    return requests.get(f"{url}/healthz", timeout=5.0).status_code == 200


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=128) as made:
        yield made


@pytest.fixture
def receivers() -> Iterator[Receivers]:
    made = Receivers()
    try:
        yield made
    finally:
        for child in made.children:
            child.kill()
            child.wait()


@dataclass(slots=True)
class Receivers:
    """gunicorns that are handed a socket, one after another."""

    children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, works: Plant, listener: socket.socket) -> None:
        gunicorn = ("-m", "gunicorn", "--config", "python:intake.gunicorn_conf", "intake.app:create_app()")
        child = subprocess.Popen(
            [sys.executable, "-c", AS_SYSTEMD, str(listener.fileno()), *gunicorn],
            cwd=CHECKOUT,
            env=dict(works.environ),
            pass_fds=[listener.fileno()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.children.append(child)

    def stop(self) -> None:
        """End the newest, which ends what it has begun."""
        self.children[-1].terminate()
        assert self.children[-1].wait(60) == 0
