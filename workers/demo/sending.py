"""Sending what a scenario sends, as its senders would, and reading what the receiver says."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from uuid import UUID

import requests

from intake.config import Settings
from intake.sources import find
from workers.demo.scenario import Send

TIMEOUT = 10.0  # seconds; the receiver answers within one
FORGERS_SECRET = "whsec_Zm9yZ2VkLWZvcmdlZC1mb3JnZWQtZm9y"  # noqa: S105  # nobody's


@dataclass(frozen=True, slots=True)
class Answers:
    """What came back for one `Send`, all its deliveries together; `events` in the order of their arrival, each once."""

    said: tuple[str, ...]
    events: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Senders:
    """The programs that send to this receiver."""

    url: str
    settings: Settings

    def send(self, sending: Send) -> Answers:
        """Raises requests.RequestException where the receiver does not answer."""
        start = threading.Barrier(sending.at_once)
        with ThreadPoolExecutor(sending.at_once) as pool:
            waiting = [pool.submit(self._deliver, sending, start) for _ in range(sending.at_once)]
            answers = [each.result() for each in waiting]
        events = dict.fromkeys(event for answer in answers for event in answer.events)
        return Answers(tuple(said for answer in answers for said in answer.said), tuple(events))

    def _deliver(self, sending: Send, start: threading.Barrier) -> Answers:
        source = self.settings.sources[sending.source]
        path = f"{'/test' if sending.mode == 'test' else ''}/hooks/{source.name}"
        body = json.dumps(sending.body, ensure_ascii=False).encode()
        headers = find(source.provider).sign(
            body,
            secret=FORGERS_SECRET if sending.forged else source.secret_values[0],
            url=self.settings.public_base_url + path,
            now=datetime.now(UTC),
            delivery_id=sending.delivery_id or "msg",
        )
        with requests.Session() as session:
            session.trust_env = False  # A proxy for the world is none for this host.
            start.wait(TIMEOUT)
            answer = session.post(self.url + path, data=body, headers=dict(headers), timeout=TIMEOUT)
        return _read(answer)


def _read(answer: requests.Response) -> Answers:
    if answer.status_code == HTTPStatus.UNAUTHORIZED:
        return Answers(("refused",), ())
    if answer.status_code != HTTPStatus.OK:
        return Answers((f"status {answer.status_code}",), ())
    events = answer.json()["events"]
    said = tuple("conflict" if each["conflict"] else "duplicate" if each["duplicate"] else "new" for each in events)
    return Answers(said, tuple(UUID(each["event_id"]) for each in events))
