"""A load generator that is not ours: wrk, with requests that were made before."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.bench import letters, paced
from tests.bench.effort import cpu_seconds
from tests.bench.letters import Kind
from tests.bench.place import Web

SCRIPT = Path(__file__).with_name("wrk.lua")

# More than any door here takes in a second, so that none runs out of deliveries that are new.
MOST_A_SECOND = 4_000
MOST_BATCHES_A_SECOND = 200
# In seconds: where nothing was answered a longer run may tell more.
LONGEST = 8.0
# As fast as they are answered.
AT_ONCE = 1e9
# Seconds after its time in which wrk still sends.
AT_MOST_LATE = 0.5
# A cell that sends the same ones again has so many.
SOME = 300


class CannotMeasure(RuntimeError):
    """Something that the bench needs is not on this machine, or a run told nothing; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Hammered:
    """One run: deliveries a second, seconds of their latencies, and CPU seconds of the door and database for each.

    `wrong`: how many were answered otherwise or not at all, as a share of the others; a starved machine answers 503.
    """

    rate: float
    p50: float
    p99: float
    web_cpu: float
    db_cpu: float
    wrong: float

    @property
    def cpu(self) -> float:
        return self.web_cpu + self.db_cpu


@dataclass(frozen=True, slots=True)
class Knock:
    """Where and how wrk knocks: `clients` connections for `seconds`."""

    kind: Kind
    path: str
    clients: int
    seconds: float

    @property
    def count(self) -> int:
        """How many deliveries to make."""
        most = MOST_BATCHES_A_SECOND if self.kind.events > 1 else MOST_A_SECOND
        # On a busy machine wrk ends late, by more than a short time.
        return SOME if self.kind.again else round(most * (self.seconds + AT_MOST_LATE))


def wrk() -> str:
    """Raises CannotMeasure."""
    found = shutil.which("wrk")
    if found is None:
        raise CannotMeasure("wrk is missing: install it, on Debian with `apt-get install wrk`")
    return found


def hammer(web: Web, knock: Knock, *, postgres: int, folder: Path) -> Hammered:
    """Knock, and see what it cost.  `postgres`: the process number of the server.  Raises CannotMeasure."""
    file = folder / "requests"
    made = list(letters.requests(web.settings, knock.kind, knock.count, knock.path))
    letters.write(file, made)
    if knock.kind.known:
        paced.send(web.port, made, a_second=AT_ONCE)
    before = cpu_seconds(web.pid), cpu_seconds(postgres)
    told = _run(web, file, knock)
    web_cpu, db_cpu = cpu_seconds(web.pid) - before[0], cpu_seconds(postgres) - before[1]
    answered = told["requests"] - told["refused"] if knock.kind.signature else told["refused"]
    if told["ran_out"]:
        raise CannotMeasure(f"{knock.path}: all {knock.count} deliveries were sent before the time was over")
    if answered <= 0 and knock.seconds < LONGEST:
        return hammer(web, replace(knock, seconds=knock.seconds * 3), postgres=postgres, folder=folder)
    if answered <= 0:
        raise CannotMeasure(f"{knock.path}: none was answered as it should: {web.log}")
    rate = answered / told["seconds"]
    wrong = (told["requests"] + told["lost"]) / answered - 1
    return Hammered(rate, told["p50"], told["p99"], web_cpu / answered, db_cpu / answered, wrong)


def _run(web: Web, file: Path, knock: Knock) -> dict[str, float]:
    return _wrk(web, knock.clients, knock.seconds, [str(file), *(["again"] if knock.kind.again else [])])


def _wrk(web: Web, clients: int, seconds: float, arguments: Iterable[str]) -> dict[str, float]:
    duration = f"{max(1, round(seconds))}s"
    command = [wrk(), "-t1", f"-c{clients}", f"-d{duration}", "--timeout", "10s", "-s", str(SCRIPT), web.url]
    done = subprocess.run([*command, "--", *arguments], capture_output=True, text=True, check=False, timeout=60)
    told = [line for line in done.stdout.splitlines() if line.startswith("JSON ")]
    if not told:
        raise CannotMeasure(f"wrk told nothing: {done.stderr or done.stdout}")
    found: dict[str, float] = json.loads(told[0].removeprefix("JSON "))
    return found
