"""Standard Webhooks: any JSON object, from any program that signs by that specification.

The specification advises `{"type", "timestamp", "data"}`; then the answers are in `data`.  Fields are found by
well-known names or by the source's pointers.  A thin payload, only ids, names something that we cannot fetch: ignored.
Source: standard-webhooks/standard-webhooks, spec/standard-webhooks.md @b2fa7b8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from intake import authenticity
from intake.sources import fields
from intake.sources.base import Delivered, Incoming, Reading, SourceKind, Unreadable
from intake.sources.decoding import Json, credible, identifier, mapping, read_json, text
from intake.sources.leaves import Leaf, leaves

ENVELOPE = "/data/"


@dataclass(frozen=True, slots=True)
class StandardWebhooks:
    """One delivery is one submission; its signed `webhook-id` is the same on every retry."""

    name: str = "standard_webhooks"
    kinds: frozenset[SourceKind] = frozenset({"form"})
    content_types: frozenset[str] = frozenset({"application/json"})

    def read(self, delivered: Delivered) -> Reading:
        decoded = read_json(delivered.body)
        if not isinstance(decoded.value, dict):
            raise Unreadable("not_an_object")
        form = fields.read(
            _answers(decoded.value, delivered.pointers),
            region=delivered.region,
            pointers=delivered.pointers,
            flags=decoded.flags,
            occurred_at=moment(decoded.value.get("timestamp")),
        )
        if form is None:
            return Reading(ignored=1)
        return Reading((Incoming("form", delivery_id(delivered.headers), form.lead, form.content),))

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:  # noqa: ARG002
        return None

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        proof = authenticity.sign(self.name, secret=secret, body=body, url=url, now=now, delivery_id=delivery_id)
        return {"content-type": "application/json", **proof}


def delivery_id(headers: Mapping[str, str]) -> str | None:
    """The signed id of a message; Svix had it under its own name."""
    return identifier(headers.get("webhook-id")) or identifier(headers.get("svix-id"))


def moment(value: Json) -> datetime | None:
    """A credible ISO 8601 moment with its zone; None for anything else: a time without a zone says no moment."""
    try:
        read = datetime.fromisoformat(text(value) or "")
    except ValueError:
        return None
    return credible(read) if read.utcoffset() is not None else None


def _answers(body: dict[str, Json], pointers: Mapping[str, str]) -> tuple[Leaf, ...]:
    """The answers of the envelope's data, or of the whole body where there is no envelope."""
    found = leaves(body)
    if not (text(body.get("type")) and mapping(body.get("data"))):
        return found
    return tuple(leaf for leaf in found if leaf.pointer.startswith(ENVELOPE) or leaf.pointer in pointers.values())
