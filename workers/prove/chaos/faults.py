"""What befalls an installation: each fault is a block, that lasts for as long as its schedule says."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Final

from intake.embedded import Postgres
from intake.processes import Process
from workers.prove.chaos.disk import Disk
from workers.prove.chaos.letters import Json
from workers.prove.chaos.line import Line
from workers.prove.chaos.skewed import Skew
from workers.prove.chaos.works import Works
from workers.supervisor import Keeper

SANDBOX = "sandbox"
# How many requests a fault of the CRM befalls.
TIMES = 4
# Creates take so long in seconds, so that some are under way when something is killed.
SLOW: Final[Json] = {"fault": "slow", "match": {"what": "create"}, "times": 30, "seconds": 0.3}
# Until a held create is there, whose connection is then cut, in seconds; none comes where nothing is due.
HELD_WITHIN = 3.0
# Until creates are under way that take their time, in seconds.
UNDER_WAY = 0.5
# Those that not every host allows.
FULL_DISK, CLOCK_JUMP = "full_disk", "clock_jump"


@dataclass(frozen=True, slots=True)
class Scene:
    """What faults act upon.  `disk`, `skew` None: the host allows none."""

    works: Works
    line: Line
    disk: Disk | None
    skew: Skew | None
    chosen: random.Random


Fault = Callable[[Scene], AbstractContextManager[None]]


# --- processes --------------------------------------------------------------------------------------------------------


def _kill(*names: str) -> Fault:
    def fault(scene: Scene) -> AbstractContextManager[None]:
        _slow(scene)
        scene.works.kill(scene.chosen.choice(names))
        return nullcontext()

    return fault


def _stop(*names: str) -> Fault:
    def fault(scene: Scene) -> AbstractContextManager[None]:
        _slow(scene)
        return _standing_still(scene.works.process(scene.chosen.choice(names)))

    return fault


@contextmanager
def _standing_still(process: Process | None) -> Iterator[None]:
    """Nothing if it has just ended."""
    _tell(process, signal.SIGSTOP)
    try:
        yield
    finally:
        _tell(process, signal.SIGCONT)


def _tell(process: Process | None, number: signal.Signals) -> None:
    if process is not None and process.alive():
        os.kill(process.pid, number)


def _kill_one_web(scene: Scene) -> AbstractContextManager[None]:
    _tell(_one_web(scene), signal.SIGKILL)
    return nullcontext()


def _stop_one_web(scene: Scene) -> AbstractContextManager[None]:
    return _standing_still(_one_web(scene))


def _one_web(scene: Scene) -> Process | None:
    """One of gunicorn's own processes."""
    found = scene.works.children("web")
    return scene.chosen.choice(found) if found else None


def _flush(scene: Scene) -> AbstractContextManager[None]:
    scene.works.flush()
    return nullcontext()


def _postgres_away(scene: Scene) -> AbstractContextManager[None]:
    _slow(scene)
    return scene.works.kept_away("PostgreSQL", _at_once)


def _at_once(keeper: Keeper) -> None:
    if isinstance(keeper.server, Postgres):
        keeper.server.stop("immediate")


def _valkey_away(scene: Scene) -> AbstractContextManager[None]:
    return scene.works.away("Valkey")


# --- the CRM and the line to it ---------------------------------------------------------------------------------------


def _dialled(rule: Json) -> Fault:
    def fault(scene: Scene) -> AbstractContextManager[None]:
        _dial(scene, rule)
        return nullcontext()

    return fault


def _creates(fault: str, **how: object) -> Json:
    return {"fault": fault, "match": {"what": "create"}, "times": TIMES, **how}


def _any(fault: str, **how: object) -> Json:
    return {"fault": fault, "times": 3 * TIMES, **how}


def _dial(scene: Scene, rule: Json) -> None:
    """This rule, and none from before."""
    scene.works.dial(lambda dials: dials.replace_faults([rule]))


def _slow(scene: Scene) -> None:
    _dial(scene, SLOW)


@contextmanager
def _late(scene: Scene) -> Iterator[None]:
    """The CRM keeps creates back, within its declared limit, and executes them when their worker is cut off."""
    _dial(scene, _creates("late"))
    works, over = scene.works, time.monotonic() + HELD_WITHIN
    works.until(lambda: time.monotonic() > over or works.dials.held(), "the CRM tells")
    scene.line.cut()
    yield


@contextmanager
def _cut(scene: Scene) -> Iterator[None]:
    _slow(scene)
    scene.works.watch_for(UNDER_WAY)
    scene.line.cut()
    yield


@contextmanager
def _cut_off(scene: Scene) -> Iterator[None]:
    scene.line.broken.set()
    scene.line.cut()
    try:
        yield
    finally:
        scene.line.broken.clear()


# --- what not every host allows ---------------------------------------------------------------------------------------


@contextmanager
def _full_disk(scene: Scene) -> Iterator[None]:
    """The spool has no room just when it is needed."""
    if scene.disk is None:
        raise LookupError("no disk")
    with scene.disk.full(), _postgres_away(scene):
        yield


def _clock_jump(scene: Scene) -> AbstractContextManager[None]:
    if scene.skew is None:
        raise LookupError("no skew")
    return scene.skew.ahead()


WORKERS = ("worker-1", "worker-2")

FAULTS: Final[Mapping[str, Fault]] = {
    "kill_web": _kill("web"),
    "kill_one_web": _kill_one_web,
    "stop_one_web": _stop_one_web,
    "kill_worker": _kill(*WORKERS),
    "stop_worker": _stop(*WORKERS),
    "kill_clock": _kill("clock"),
    "stop_clock": _stop("clock"),
    "kill_crm": _kill(SANDBOX),
    "stop_crm": _stop(SANDBOX),
    "kill_valkey": _kill("Valkey"),
    "stop_valkey": _stop("Valkey"),
    "valkey_away": _valkey_away,
    "flush_valkey": _flush,
    "kill_postgres": _kill("PostgreSQL"),
    "postgres_away": _postgres_away,
    "crm_lost_answers": _dialled(_creates("lost_answer")),
    "crm_cut_answers": _dialled(_creates("cut_answer")),
    "crm_error_with_effect": _dialled(_creates("500_with_effect")),
    "crm_error_without_effect": _dialled(_creates("500_without_effect")),
    "crm_late_execution": _late,
    "crm_429": _dialled(_any("429", retry_after=1)),
    "crm_503": _dialled(_any("503")),
    "cut_connections": _cut,
    "crm_cut_off": _cut_off,
    FULL_DISK: _full_disk,
    CLOCK_JUMP: _clock_jump,
}
