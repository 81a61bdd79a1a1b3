"""The shape of nearly every form tool: one delivery is one submission of one form.

A tool's own module says only what is its own: how its body becomes values (`decoded`), and which of them a visitor
wrote, under which id (`submission`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from intake import authenticity
from intake.sources import fields, questions
from intake.sources.base import Delivered, Incoming, Reading, SourceKind, Unreadable, Update
from intake.sources.decoding import UTF_16_MARKS, Decoded, Json, read_form, read_json
from intake.sources.leaves import Leaf, leaves
from intake.sources.multipart import MEDIA_TYPE as MULTIPART
from intake.sources.multipart import opening_boundary, read_multipart
from intake.sources.questions import Question

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
LINK = re.compile(r"https?://\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Submission:
    """What a visitor wrote.  `request_id` None: the tool names no submission, identity is made of the answers.

    `occurred_at` is by the tool's clock, None where it tells no zone.  `suspicion`: as in `Incoming`.
    """

    answers: tuple[Leaf, ...] = field(repr=False)
    request_id: str | None = None
    occurred_at: datetime | None = None
    on_change: Literal["conflict", "update"] = "conflict"
    suspicion: str | None = None


@dataclass(frozen=True, slots=True)
class FormTool:
    """What all tools do alike; each module has one of its own, with `submission`."""

    name: str
    content_types: frozenset[str] = frozenset({JSON})
    kinds: frozenset[SourceKind] = frozenset({"form"})

    def decoded(self, delivered: Delivered) -> Decoded:
        """The body as values.  Raises Unreadable."""
        return read_body(delivered)

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission | Update | None:
        """Where the answers stand; None: nobody submitted anything (a ping, another topic).  Raises Unreadable."""
        raise NotImplementedError

    def read(self, delivered: Delivered) -> Reading:
        decoded = self.decoded(delivered)
        if not isinstance(decoded.value, dict):
            raise Unreadable("not_an_object", {"body": "must be an object"})
        match self.submission(decoded.value, delivered.headers):
            case Submission() as found:
                return _reading(found, decoded.value, decoded.flags, delivered)
            case Update() as update:
                return Reading(updates=(update,))
            case None:
                return Reading(ignored=1)

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:  # noqa: ARG002
        return None

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        proof = authenticity.sign(self.name, secret=secret, body=body, url=url, now=now, delivery_id=delivery_id)
        return {"content-type": content_type_of(body), **proof}


def read_body(delivered: Delivered) -> Decoded:
    """JSON where it looks like JSON, else the form that the content type says.  Raises Unreadable."""
    return read_bytes(delivered.body, delivered.content_type)


def read_bytes(body: bytes, content_type: str) -> Decoded:
    """JSON whatever a header says, since tools send it as text/plain and as a form.  Raises Unreadable."""
    if _looks_like_json(body):
        return read_json(body)
    if content_type.partition(";")[0].strip().lower() == MULTIPART:
        return read_multipart(body, content_type)
    if b"=" not in body:
        raise Unreadable("neither_json_nor_form")
    return read_form(body)


def content_type_of(body: bytes) -> str:
    if boundary := opening_boundary(body):
        return f"{MULTIPART}; boundary={boundary}"
    return JSON if _looks_like_json(body) else URLENCODED


def under(body: dict[str, Json], *places: str) -> tuple[Leaf, ...]:
    """The answers below these JSON Pointers, each of which ends in a slash."""
    return tuple(leaf for leaf in leaves(body) if leaf.pointer.startswith(places))


def titled(answers: Iterable[Leaf]) -> tuple[Leaf, ...]:
    """Answers whose labels are people's own questions ("¿Cuál es tu nombre?"), by the names that these are known by."""
    return questions.answers(Question(leaf.pointer, leaf.label, leaf.text) for leaf in answers)


def pointer(*names: str) -> str:
    """The JSON Pointer to a member (RFC 6901)."""
    return "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in names)


def named(form: str | None, own: str | None) -> str | None:
    """The id of a submission that its tool counts per form; None: it gives none.  No two pairs are named alike."""
    return f"{(form or '').replace('%', '%25').replace(':', '%3A')}:{own}" if own else None


def without_links(content: Mapping[str, object]) -> dict[str, object]:
    """Uploaded files are links with tokens that expire: they are in the lead, and in no fingerprint."""
    return {where: answer for where, answer in content.items() if not _is_only_links(str(answer))}


def _reading(found: Submission, body: dict[str, Json], flags: tuple[str, ...], delivered: Delivered) -> Reading:
    form = fields.read(
        (*found.answers, *_pointed_at(found, body, delivered.pointers)),
        region=delivered.region,
        pointers=delivered.pointers,
        flags=(*flags, *((found.suspicion,) if found.suspicion else ())),
        occurred_at=found.occurred_at,
    )
    if form is None:
        return Reading(ignored=1)
    content, lead = without_links(form.content), form.lead
    event = Incoming("form", found.request_id, lead, content, on_change=found.on_change, suspicion=found.suspicion)
    return Reading((event,))


def _pointed_at(found: Submission, body: dict[str, Json], pointers: Mapping[str, str]) -> Iterator[Leaf]:
    """What the source points at and the tool's module does not take for an answer."""
    known = {leaf.pointer for leaf in found.answers}
    return (leaf for leaf in leaves(body) if leaf.pointer in pointers.values() and leaf.pointer not in known)


def _is_only_links(answer: str) -> bool:
    return all(LINK.fullmatch(part) for part in answer.split(", "))


def _looks_like_json(body: bytes) -> bool:
    # The zeros of UTF-16 are beside its letters.
    plain = body.lstrip(b"\xff\xfe\x00") if body.startswith(UTF_16_MARKS) else body
    return plain.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
