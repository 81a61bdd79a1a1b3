"""Playing the story: dials set, deliveries sent, and then waiting until nothing moves by itself any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import psycopg

from intake.deliveries import FINAL
from intake.ops import EventRow
from workers import up
from workers.demo.scenario import Scenario
from workers.demo.seeing import events
from workers.demo.sending import Answers, Senders
from workers.demo.stage import Stage

READY_WITHIN = 60.0  # seconds, on a slow machine; two are usual
# Seconds for the deliveries.  The longest wait that is meant to be is the one that the CRM asks for: about three.
REST_WITHIN = 40.0
STEP_WITHIN = 20.0

MOVING = frozenset({"received", "delivering", "waiting"})

Progress = Callable[[str], None]


class NotReady(Exception):
    """The receiver does not accept deliveries."""


@dataclass(slots=True)
class Played:
    """A scenario, and the answers to what it sent so far."""

    scenario: Scenario
    answers: list[Answers] = field(default_factory=list)

    @property
    def events(self) -> tuple[UUID, ...]:
        """Its events in the order in which they came, each once."""
        return tuple(dict.fromkeys(event for each in self.answers for event in each.events))


def play(stage: Stage, story: Sequence[Scenario], progress: Progress, patience: float = REST_WITHIN) -> list[Played]:
    """Send everything, and wait at most `patience` seconds until it has come to an end.

    Raises NotReady, Stopped, requests.RequestException and psycopg.Error.
    """
    if not stage.wait_until(lambda: up.is_ready(stage.plan.process.port), READY_WITHIN):
        raise NotReady
    stage.dials.replace_faults([rule for scenario in story for rule in scenario.dials])
    senders = Senders(stage.url, stage.plan.settings)
    played = [Played(scenario) for scenario in story]
    with psycopg.connect(stage.database_url, autocommit=True) as conn:
        for each in played:
            progress(each.scenario.title.en)
            _send(each, senders)
        for each in played:
            _send_later(each, senders, stage, conn)
        stage.wait_until(lambda: _at_rest(conn, played, progress), patience)
    return played


def _send(played: Played, senders: Senders) -> None:
    """What comes before the first delivery that waits for the end of the others."""
    for sending in played.scenario.sends:
        if sending.later:
            return
        played.answers.append(senders.send(sending))


def _send_later(played: Played, senders: Senders, stage: Stage, conn: psycopg.Connection) -> None:
    for sending in played.scenario.sends[len(played.answers) :]:
        stage.wait_until(lambda: _at_rest(conn, [played], _silent), STEP_WITHIN)
        played.answers.append(senders.send(sending))


def _silent(_text: str) -> None:
    """Nobody wants to know."""


def _at_rest(conn: psycopg.Connection, played: Sequence[Played], progress: Progress) -> bool:
    """Whether every event is where its scenario wants it, or where it stays."""
    rows = events(conn)
    pairs = [
        (rows.get(event), state)
        for each in played
        for event, state in zip(each.events, each.scenario.states, strict=False)
    ]
    resting = [row is not None and _rests(row, state) for row, state in pairs]
    progress(f"{sum(resting)} of {len(resting)} events have come to their end")
    return all(resting)


def _rests(row: EventRow, wanted: str) -> bool:
    if row.state in MOVING:
        return False
    return is_as(row, wanted) or row.state in FINAL or row.state == "review"


def is_as(row: EventRow, wanted: str) -> bool:
    """Whether an event is in the wanted state, and for the wanted reason where one is named ("review: validation")."""
    state, _, reason = wanted.partition(": ")
    return row.state == state and reason in ("", row.reason)
