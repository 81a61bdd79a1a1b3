"""Answers that a real server gave, and what each must be taken for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crm_clients.base import (
    Absent,
    Confirmed,
    Duplicate,
    Found,
    Kind,
    Rejected,
    Response,
    Retry,
    Several,
    Uncertain,
    Unsure,
)

FOLDER = Path(__file__).with_name("recordings")

Outcome = Confirmed | Retry | Rejected | Duplicate | Uncertain | Found | Absent | Several | Unsure | None


@dataclass(frozen=True, slots=True)
class Recording:
    """One answer.  `step` is the client's method that reads it; `means` is what `described` must say of its result."""

    client: str
    name: str
    source: str
    step: str
    kind: Kind
    reference: str
    crm_id: str
    request: str
    status: int
    headers: Mapping[str, str]
    body: str
    means: str

    @property
    def response(self) -> Response:
        return Response(self.status, self.headers, self.body.encode())


@cache
def recordings_of(client: str) -> tuple[Recording, ...]:
    """All recordings of one client, by their file names."""
    return tuple(_read(client, path) for path in sorted((FOLDER / client).glob("*.json")))


def _read(client: str, path: Path) -> Recording:
    data = json.loads(path.read_text(encoding="utf-8"))
    return Recording(client=client, name=path.stem, kind=Kind(data.pop("kind")), **data)


def write(recording: Recording) -> None:
    """Keep a recording as a file that reads well in a diff."""
    fields = ("source", "step", "kind", "reference", "crm_id", "request", "status", "headers", "body", "means")
    path = FOLDER / recording.client / f"{recording.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({name: getattr(recording, name) for name in fields}, ensure_ascii=False, indent=2)
    path.write_text(text + "\n", encoding="utf-8")


def described(outcome: Outcome) -> str:  # noqa: PLR0911 - one line for each outcome there is
    """An outcome in a few words: its name, and what the pipeline decides by."""
    match outcome:
        case None:
            return "works"
        case Confirmed(crm_id, how):
            return f"Confirmed {crm_id} {how}"
        case Retry(reason, _, scope):
            return f"Retry {reason} {scope}"
        case Rejected(reason, fields):
            return " ".join(["Rejected", reason, *sorted(name for name, _ in fields)])
        case Duplicate(by, crm_id):
            return f"Duplicate {by} {crm_id or ''}".rstrip()
        case Uncertain(reason, _):
            return f"Uncertain {reason}"
        case Found(seen):
            return f"Found {seen.crm_id} {seen.reference} live={seen.live}"
        case Absent():
            return "Absent"
        case Several(crm_ids):
            return f"Several {len(crm_ids)}"
        case Unsure(reason, _, scope):
            return f"Unsure {reason} {scope}"
