"""The demonstration from curtain to curtain.

home, ports ─> every process of `intake up` ─> the story ─> the judgement ─> the table ─> (until Ctrl-C) ─> all gone
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import requests

from workers import up
from workers.demo.home import temporary_home
from workers.demo.judging import Judgement, judge
from workers.demo.playing import REST_WITHIN, NotReady, play
from workers.demo.printing import Printer
from workers.demo.progress import Progress
from workers.demo.seeing import see
from workers.demo.stage import Stage, Stopped, set_up, surroundings
from workers.demo.story import story
from workers.plan import Plan
from workers.supervisor import Supervisor, log_of

# The last lines of a log that are shown when something is wrong; the logs are gone afterwards.
LAST_LINES = 12
ROUTINE = '"level": "info"'


@dataclass(slots=True)
class Show:
    """`worker`: the command of another worker than ours, None: ours.  `patience`: seconds for the deliveries."""

    printer: Printer
    progress: Progress
    environ: Mapping[str, str]
    once: bool
    worker: Sequence[str] | None = None
    patience: float = REST_WITHIN
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def run(self, stop: threading.Event) -> bool:
        """Whether everything came to the outcome that the story names; False too if it was stopped before.

        Raises CannotStart, EmbeddedError, OSError, psycopg.Error and requests.RequestException.
        """
        judgements: list[Judgement] = []
        self.progress.step("starting PostgreSQL, Valkey, the sandbox CRM, the receiver, workers and clock")
        with temporary_home(self.progress.note) as home:
            environ = surroundings(self.environ, home)
            up.up(environ, self.progress.note, stop, partial(self._perform, judgements))
        self.progress.done()
        return bool(judgements) and judgements[0].good

    def _perform(self, judgements: list[Judgement], plan: Plan, supervisor: Supervisor, stop: threading.Event) -> None:
        try:
            stage = set_up(plan, supervisor, stop, self.worker)
            judgements.append(self._play(stage))
            if not self.once:
                self.printer.try_next(stage, judgements[0], self.environ)
                while True:
                    stage.pause()
        except Stopped:
            self.progress.step("stopping")
        except (NotReady, requests.RequestException) as failed:
            self.progress.note(f"the receiver does not answer ({type(failed).__name__})")
            self._tell_logs(supervisor)

    def _play(self, stage: Stage) -> Judgement:
        played = play(stage, story(self.now()), self.progress.step, self.patience)
        seen = see(stage)
        judgement = judge(played, seen)
        self.progress.done()
        self.printer.report(judgement, seen)
        if self.once:
            self.printer.once()
        else:
            self.printer.places(stage)
        if not judgement.good:
            self._tell_logs(stage.supervisor)
        return judgement

    def _tell_logs(self, supervisor: Supervisor) -> None:
        """What the processes said last: their logs are about to be removed.  No personal data is in them."""
        for child in supervisor.children:
            log = log_of(supervisor.home, child.program.name)
            lines = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
            for line in [each for each in lines if ROUTINE not in each][-LAST_LINES:]:
                self.progress.note(f"{child.program.name}: {line}")
