"""All of it in order: load and faults, then quiet, then what the CRM's ledger says."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from crm_clients.sandbox.dials import Dials
from workers.prove.chaos.evidence import STATES, collect
from workers.prove.chaos.faults import FAULTS, Scene
from workers.prove.chaos.home import Change, Home, home
from workers.prove.chaos.letters import deliveries
from workers.prove.chaos.report import Report, named
from workers.prove.chaos.schedule import schedule
from workers.prove.chaos.senders import GIVE_UP, Sender, Stream
from workers.prove.chaos.verdict import judge
from workers.prove.chaos.works import Stuck, Works
from workers.supervisor import Say

TAG = "prueba"
# A sender's pause between two deliveries, in seconds; an hour of them makes some ten thousand events.
PAUSE = 1.0
# Seconds in which all that was accepted should be confirmed, or a person's: leases of a minute, some looks, and pauses
# of an account.
SETTLES_WITHIN = 900.0
LOOK_EVERY = 0.5  # seconds
RECONCILES_WITHIN = 1800.0  # seconds

# Of the events that senders were told of, those that are in no table yet (but in the spool), or may still move by
# themselves.
MOVING = """
    SELECT count(*) AS moving FROM unnest(%(events)s::uuid[]) AS told (event_id)
     WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = told.event_id
                          AND d.state NOT IN ('received', 'delivering', 'waiting', 'uncertain'))
"""
# Writes of which nobody knew for a while whether they were executed; the others were settled by their own answer.
DOUBTS = "SELECT count(*) AS doubts FROM attempts WHERE kind = 'write' AND settled_how IS DISTINCT FROM 'answer'"


@dataclass(frozen=True, slots=True)
class Wishes:
    """`seconds` of load and faults, `faults` None: all that the host allows.

    `change`: what each program is changed to.  `nudge`: called again and again while all is quiet; a test cuts long
    waits short by it.  `mounts`: False: this process is not one to mount anything.
    """

    seconds: float
    seed: int
    faults: Sequence[str] | None = None
    senders: int = 4
    pause: float = PAUSE
    change: Change = lambda program: program
    nudge: Callable[[Works], None] = lambda _works: None
    mounts: bool = True


def run(wishes: Wishes, say: Say) -> Report:
    """One proof.  Raises Stuck, CannotStart, EmbeddedError, psycopg.Error, OSError."""
    say("starting PostgreSQL, Valkey, the sandbox CRM, the receiver, two workers and the clock")
    with home(say, change=wishes.change, mounts=wishes.mounts) as made:
        sender = made.works.sender()
        begun = time.monotonic()
        faults, failures = _disturb(made, sender, wishes, say)
        last = time.monotonic()
        say("quiet: waiting until nothing moves any more")
        recovery = _settled(made.works, sender, wishes, last)
        incidents = _reconcile(made.works)
        return Report(
            seed=wishes.seed,
            seconds=last - begun,
            verdict=judge(sender.acknowledged, collect(made.works.rows(STATES), made.ledger)),
            faults=faults,
            left_out={fault: why for fault, why in made.left_out.items() if fault in (wishes.faults or FAULTS)},
            tries=sender.tries,
            doubts=int(str(made.works.rows(DOUBTS)[0]["doubts"])),
            recovery=recovery,
            incidents=incidents,
            refusals=tuple(failures),
        )


# --- load and faults --------------------------------------------------------------------------------------------------


def _disturb(made: Home, sender: Sender, wishes: Wishes, say: Say) -> tuple[Counter[str], list[str]]:
    """What befell it how often, and what the senders could not get rid of."""
    done: Counter[str] = Counter()
    scene = Scene(made.works, made.line, made.disk, made.skew, random.Random(wishes.seed))  # noqa: S311  # repeatable
    faults = [name for name in wishes.faults or FAULTS if name not in made.left_out]
    begun = time.monotonic()
    with _load(made.works, sender, wishes) as stream:
        for strike in schedule(wishes.seed, wishes.seconds, faults):
            if time.monotonic() - begun > wishes.seconds:
                break  # Servers that start again take longer here than the schedule thought.
            say(f"{time.monotonic() - begun:5.0f} s  {named(strike.fault)}")
            with FAULTS[strike.fault](scene):
                made.works.watch_for(strike.lasts)
            done[strike.fault] += 1
            made.works.watch_for(strike.quiet)
        made.works.dial(Dials.no_faults)
    return done, [str(each) for each in stream.failures]


@contextmanager
def _load(works: Works, sender: Sender, wishes: Wishes) -> Iterator[Stream]:
    """Senders send in the block, and then until all they began is acknowledged."""
    given = (deliveries(TAG, itertools.count(place, wishes.senders)) for place in range(wishes.senders))
    stream = Stream(sender.deliver, tuple(given), wishes.pause)
    stream.start()
    try:
        yield stream
        works.until(stream.ended, "the senders are rid of everything", within=2 * GIVE_UP)
    finally:
        stream.over.set()
        sender.abandoned.set()


# --- quiet ------------------------------------------------------------------------------------------------------------


def _settled(works: Works, sender: Sender, wishes: Wishes, since: float) -> float | None:
    """Seconds from `since` until nothing moves any more; None: something still does."""
    events = [each.event_id for each in sender.acknowledged]
    looked = 0.0

    def quiet() -> bool:
        nonlocal looked
        if time.monotonic() - looked < LOOK_EVERY:
            return False
        looked = time.monotonic()
        wishes.nudge(works)
        return works.rows(MOVING, events=events)[0]["moving"] == 0

    try:
        works.until(quiet, "all is confirmed or a person's", within=SETTLES_WITHIN)
    except Stuck:
        return None
    return time.monotonic() - since


def _reconcile(works: Works) -> Mapping[str, int] | None:
    """What the product's own proof finds, by reason; None: it could not be run."""
    command = (sys.executable, "-P", "-m", "workers.main", "reconcile", "--verify", "--json", "--per-second", "1000")
    done = subprocess.run(
        command, env=dict(works.environ), capture_output=True, text=True, check=False, timeout=RECONCILES_WITHIN
    )
    try:
        tally: dict[str, int] = json.loads(done.stdout)["tally"]
    except (ValueError, KeyError):
        return None
    return tally
