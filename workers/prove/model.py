"""A model of how one record is written once, small enough to be looked at whole: every order of every event is tried.

Workers claim, commit an attempt, look at the time, send, die, or stand still; the CRM executes what it received, within
its limit or never, answers or loses the answer, and shows what it holds after its lag; its search may be out of order;
looks prove that the record is absent.  Unsafe is a CRM that holds two.

What is assumed and what the protocol does are named, and can be left out one by one: what then comes to two records
shows why it is there.  `docs/guarantee.md` says the same in words.  Silence of the whole account is not modelled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

Part = Literal[
    "limit", "lag", "pause",  # assumptions
    "lock", "send_by", "lease", "span", "control",  # what the protocol does
]  # fmt: skip

ASSUMPTIONS: Final[Mapping[Part, str]] = {
    "limit": "the CRM executes a request within its limit of receiving it, or never",
    "lag": "a look shows what was committed a lag ago",
    "pause": "between the check of its time and the first byte nobody stands still beyond the lease",
}
RULES: Final[Mapping[Part, str]] = {
    "lock": "while a write is asked, nobody commits another",
    "send_by": "a write is not sent once its time is over",
    "lease": "a look counts once the lease of the write is over",
    "span": "a proof needs two looks, limit and lag apart",
    "control": "an absence counts where the same filter shows the sentinel",
}
EVERYTHING: Final[frozenset[Part]] = frozenset({*ASSUMPTIONS, *RULES})

# In ticks, as small as keeps them apart.
SEND_WITHIN, LEASE, LIMIT, LAG = 1, 2, 2, 1
HORIZON: Final = 9
MOST_ATTEMPTS: Final = 2
WORKERS: Final = 2


@dataclass(frozen=True, slots=True)
class Worker:
    """`send_by` None: it has nothing in hand.  `checked`: it has looked at the time, and the first byte is next."""

    send_by: int | None = None
    checked: bool = False
    lease_ends: int = 0


@dataclass(frozen=True, slots=True)
class World:
    """`received`: when the CRM got what it has not executed.  `made`: when it committed each record that it holds.

    `absent_since`: the first look of a proof, None: there is none.
    """

    now: int = 0
    record: Literal["none", "asked", "known"] = "none"
    lease_ends: int = 0
    absent_since: int | None = None
    attempts: int = 0
    workers: tuple[Worker, ...] = (Worker(),) * WORKERS
    received: tuple[int, ...] = ()
    made: tuple[int, ...] = ()
    search_works: bool = True


Step = tuple[str, World]


@dataclass(frozen=True, slots=True)
class Explored:
    """`unsafe`: the shortest way to two records, None: there is none.  `settled`: a way to one that is known exists."""

    states: int
    unsafe: tuple[str, ...] | None
    settled: bool


def explore(parts: Iterable[Part] = EVERYTHING) -> Explored:
    """Every state that can be reached where only these assumptions and rules hold."""
    held = frozenset(parts)
    first = World()
    came_from: dict[World, Step | None] = {first: None}
    waiting, settled = deque([first]), False
    while waiting:
        world = waiting.popleft()
        if len(world.made) > 1:
            return Explored(len(came_from), _way(came_from, world), settled)
        settled = settled or (world.record == "known" and len(world.made) == 1)
        for said, after in _steps(held, world):
            if after not in came_from:
                came_from[after] = (said, world)
                waiting.append(after)
    return Explored(len(came_from), None, settled)


def _way(came_from: Mapping[World, Step | None], world: World) -> tuple[str, ...]:
    said: list[str] = []
    while (step := came_from[world]) is not None:
        said.append(f"{world.now}: {step[0]}")
        world = step[1]
    return tuple(reversed(said))


def _steps(held: frozenset[Part], world: World) -> Iterator[Step]:
    yield from _time(held, world)
    yield from _works(held, world)
    yield from _crm(world)
    if world.record == "asked":
        yield from _looks(held, world)


# --- time -------------------------------------------------------------------------------------------------------------


def _time(held: frozenset[Part], world: World) -> Iterator[Step]:
    """It does not pass over what must have happened by then."""
    overdue = "limit" in held and any(each + LIMIT <= world.now for each in world.received)
    stands = "pause" in held and any(each.checked and each.lease_ends <= world.now for each in world.workers)
    if world.now < HORIZON and not overdue and not stands:
        yield "time passes", replace(world, now=world.now + 1)


# --- workers ----------------------------------------------------------------------------------------------------------


def _works(held: frozenset[Part], world: World) -> Iterator[Step]:
    for place, worker in enumerate(world.workers):
        name = f"worker {place + 1}"
        for said, after, more in _work(held, world, worker):
            workers = (*world.workers[:place], after, *world.workers[place + 1 :])
            yield f"{name} {said}", replace(more, workers=workers)


def _work(held: frozenset[Part], world: World, worker: Worker) -> Iterator[tuple[str, Worker, World]]:
    if worker.send_by is None:
        free = world.record == "none" or ("lock" not in held and world.record == "asked")
        if free and world.attempts < MOST_ATTEMPTS:
            ends = world.now + LEASE
            asked = replace(world, record="asked", lease_ends=ends, absent_since=None, attempts=world.attempts + 1)
            yield "commits an attempt", Worker(world.now + SEND_WITHIN, lease_ends=ends), asked
        return
    yield "dies", Worker(), world
    if worker.checked:
        yield "sends", Worker(), replace(world, received=tuple(sorted((*world.received, world.now))))
    elif world.now <= worker.send_by or "send_by" not in held:
        yield "looks at the time", replace(worker, checked=True), world
    else:
        free = world.record == "asked" and world.lease_ends == worker.lease_ends
        yield "gives up, and nothing was sent", Worker(), replace(world, record="none") if free else world


# --- the CRM ----------------------------------------------------------------------------------------------------------


def _crm(world: World) -> Iterator[Step]:
    for place, at in enumerate(world.received):
        if place and at == world.received[place - 1]:
            continue  # Two that came at once are alike.
        rest = replace(world, received=(*world.received[:place], *world.received[place + 1 :]))
        yield "the CRM drops a request", rest
        made = replace(rest, made=(*rest.made, world.now))
        yield "the CRM makes the record, and its answer is lost", made
        yield "the CRM makes the record, and says so", replace(made, record="known", absent_since=None)
    if world.made or world.received:
        works = not world.search_works
        yield f"the search {'works again' if works else 'is out of order'}", replace(world, search_works=works)


# --- looks ------------------------------------------------------------------------------------------------------------


def _looks(held: frozenset[Part], world: World) -> Iterator[Step]:
    """What is younger than the lag may be shown or not; a search out of order shows nothing, nor the sentinel."""
    surely = world.search_works and "lag" in held and any(each + LAG <= world.now for each in world.made)
    if world.made and world.search_works:
        yield "a look finds it", replace(world, record="known", absent_since=None)
    if surely or ("control" in held and not world.search_works):
        return
    if "lease" in held and world.now < world.lease_ends:
        return
    yield _absent(held, world)


def _absent(held: frozenset[Part], world: World) -> Step:
    begun = world.now if world.absent_since is None else world.absent_since
    if world.now - begun >= LIMIT + LAG or "span" not in held:
        return "a look proves that it is absent", replace(world, record="none", absent_since=None)
    return "a look says absent", replace(world, absent_since=begun)
