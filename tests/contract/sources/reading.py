"""What one sample, or a body made from it, is read to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from intake.sources import find
from intake.sources.base import Delivered, Incoming, Reading
from intake.sources.submission import content_type_of

SAMPLES = Path(__file__).parent / "samples"
NOW = datetime(2026, 3, 2, 16, 0, tzinfo=UTC)


def reading(
    sample: str,
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    pointers: Mapping[str, str] | None = None,
    region: str = "PE",
    order_policy: Literal["lead", "ignore"] = "lead",
) -> Reading:
    """`body`: these bytes instead of the sample's, under the sample's provider."""
    sent = raw(sample) if body is None else body
    delivered = Delivered(sent, content_type_of(sent), headers or {}, NOW, region, pointers or {}, order_policy)
    return find(sample.partition("/")[0]).read(delivered)


def event(
    sample: str,
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    pointers: Mapping[str, str] | None = None,
    region: str = "PE",
) -> Incoming:
    (only,) = reading(sample, body=body, headers=headers, pointers=pointers, region=region).events
    return only


def raw(sample: str) -> bytes:
    return (SAMPLES / sample).read_bytes()


def changed(sample: str, old: str, new: str) -> bytes:
    """The sample with one text in it replaced, which must be there."""
    before = raw(sample)
    assert old.encode() in before
    return before.replace(old.encode(), new.encode())


def with_members(sample: str, **members: object) -> bytes:
    """The JSON sample with these members of its top object."""
    return json.dumps({**json.loads(raw(sample)), **members}).encode()
