"""Any form tool or program: JSON or a form in any coding, from whoever carries the source's secret.

Fields are found by well-known names or by the source's pointers.  The sender gives no id, so identity is made of the
answers within a window.  A list of objects is a batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from intake import authenticity
from intake.sources import fields
from intake.sources.base import Delivered, Incoming, Quarantined, Reading, SourceKind, Unreadable
from intake.sources.decoding import Json, mapping
from intake.sources.leaves import is_answer, leaves
from intake.sources.opening import opened
from intake.sources.submission import content_type_of, read_body

# As many as Meta puts into one delivery; more would hold the one transaction for longer than a sender waits.
MAX_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Generic:
    """Any content type is taken: the bytes say what they are."""

    name: str = "generic"
    kinds: frozenset[SourceKind] = frozenset({"form"})
    content_types: frozenset[str] = frozenset()

    def read(self, delivered: Delivered) -> Reading:
        body = opened(read_body(delivered))
        found = [_read(each, body.flags, delivered) for each in _submissions(body.value)]
        return Reading(
            events=tuple(each for each in found if isinstance(each, Incoming)),
            quarantined=tuple(each for each in found if isinstance(each, Quarantined)),
            ignored=found.count(None),
        )

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:  # noqa: ARG002
        return None

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        proof = authenticity.sign(self.name, secret=secret, body=body, url=url, now=now, delivery_id=delivery_id)
        return {"content-type": content_type_of(body), **proof}


def _submissions(value: Json) -> list[Json]:
    """The members of a list are as many submissions, unless they are the answers of one, each with its question.

    Raises Unreadable.
    """
    if not isinstance(value, list) or _are_answers(value):
        return [value]
    if len(value) > MAX_BATCH:
        raise Unreadable("batch_too_large", {"body": f"must be a list of at most {MAX_BATCH}"})
    return value


def _read(submission: Json, flags: tuple[str, ...], delivered: Delivered) -> Incoming | Quarantined | None:
    """None: nobody wrote anything."""
    if not isinstance(submission, dict) and not _are_answers(submission):
        return Quarantined("not_an_object", {"body": "must be an object, or a list of objects"})
    form = fields.read(leaves(submission), region=delivered.region, pointers=delivered.pointers, flags=flags)
    return None if form is None else Incoming("form", None, form.lead, form.content)


def _are_answers(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(is_answer(mapping(each)) for each in value)
