"""One provider's samples, read as a source of it would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from intake.sources import find
from intake.sources.base import Delivered, Incoming, Reading

SAMPLES = Path(__file__).parent / "samples"
IN_PERU = Delivered(b"", "", {}, datetime(2026, 3, 2, 16, 0, tzinfo=UTC), "PE")


@dataclass(frozen=True, slots=True)
class SamplesOf:
    """What the provider of this name reads in its samples and in other bytes."""

    provider: str
    settings: Delivered = IN_PERU
    pointers: Mapping[str, str] = field(default_factory=dict)

    def read(self, sample: str | bytes) -> Reading:
        body = sample if isinstance(sample, bytes) else self.bytes(sample)
        return find(self.provider).read(replace(self.settings, body=body, pointers=self.pointers))

    def event(self, sample: str | bytes) -> Incoming:
        (only,) = self.read(sample).events
        return only

    def bytes(self, sample: str) -> bytes:
        return (SAMPLES / self.provider / sample).read_bytes()
