"""Any form tool or program: JSON or an urlencoded form, from whoever carries the source's secret.

Fields are found by well-known names or by the source's pointers.  The sender gives no id, so identity is made of the
answers within a window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from intake import authenticity
from intake.sources import fields
from intake.sources.base import Delivered, Incoming, Reading, SourceKind, Unreadable
from intake.sources.decoding import Decoded, read_form, read_json
from intake.sources.leaves import leaves

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Generic:
    """One delivery is one submission.  Any content type is taken: the bytes say what they are."""

    name: str = "generic"
    kinds: frozenset[SourceKind] = frozenset({"form"})
    content_types: frozenset[str] = frozenset()

    def read(self, delivered: Delivered) -> Reading:
        read = decoded(delivered.body)
        form = fields.read(
            leaves(read.value),
            region=delivered.region,
            pointers=delivered.pointers,
            flags=read.flags,
        )
        if form is None:
            return Reading(ignored=1)
        return Reading((Incoming("form", None, form.lead, form.content),))

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:  # noqa: ARG002
        return None

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        proof = authenticity.sign(self.name, secret=secret, body=body, url=url, now=now, delivery_id=delivery_id)
        kind = "application/json" if _looks_like_json(body) else FORM
        return {"content-type": kind, **proof}


def decoded(body: bytes) -> Decoded:
    """JSON where it looks like JSON, whatever a header says: tools send it as text/plain and as a form.

    Raises Unreadable.
    """
    if _looks_like_json(body):
        return read_json(body)
    if b"=" not in body:
        raise Unreadable("neither_json_nor_form")
    return read_form(body)


def _looks_like_json(body: bytes) -> bool:
    return body.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
