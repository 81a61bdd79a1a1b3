"""Cases of the providers as their senders would make them: what is sent, and what it must give.

A file `cases/<provider>.toml` has a `[[case]]` for each:

    says = "one sentence"
    settings = "..."                 # of the source, if any; `pointers` are those that are in it
    body = '''...'''                 # also `type`, `headers`, and `id`, the delivery's own where a header names it
    gives = "event"                  # or update, ignored, quarantined, a table of counts, or a status such as 415
    lead = { name = "...", ... }     # what the first event's lead says, in words of its own (`told`)
    then = [{ swap = [["old", "new"]], gives = "conflict" }]    # what follows: another `body`, or the last one changed
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from intake.lead import Item, Lead

CASES = Path(__file__).parent / "cases"
COUNTS = ("event", "duplicate", "conflict", "update", "ignored", "quarantined")

Wanted = str | int | Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Sent:
    """One delivery and what must come of it."""

    body: bytes = field(repr=False)
    gives: Wanted
    content_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delivery_id: str | None = None

    @property
    def counts(self) -> dict[str, int]:
        if isinstance(self.gives, int):
            return {}
        given = {self.gives: 1} if isinstance(self.gives, str) else dict(self.gives)
        assert given.keys() <= set(COUNTS), given
        return {name: given.get(name, 0) for name in COUNTS}


@dataclass(frozen=True, slots=True)
class Case:
    provider: str
    number: int
    says: str
    deliveries: tuple[Sent, ...]
    lead: Mapping[str, object] | None
    settings: str
    pointers: Mapping[str, str]

    @property
    def source(self) -> str:
        return f"{self.provider.replace('_', '-')}-{self.number}"

    def __str__(self) -> str:
        return f"{self.provider}: {self.says}"


def cases() -> list[Case]:
    return [case for file in sorted(CASES.glob("*.toml")) for case in _in(file)]


def _in(file: Path) -> Iterator[Case]:
    for number, told in enumerate(tomllib.loads(file.read_text("utf-8"))["case"]):
        given = dict(told)
        says, lead, then = given.pop("says"), given.pop("lead", None), given.pop("then", [])
        settings, pointers = given.pop("settings", ""), given.pop("pointers", {})
        yield Case(file.stem, number, says, tuple(_sent([given, *then])), lead, settings, pointers)


def _sent(tables: list[dict[str, object]]) -> Iterator[Sent]:
    """Each delivery is as the one before it, but for what it says itself."""
    last: dict[str, object] = {}
    for table in tables:
        last = last | table
        assert last.keys() <= {"body", "swap", "gives", "type", "headers", "id"}, last.keys()
        body = str(last["body"])
        for old, new in last.pop("swap", []):  # type: ignore[attr-defined]
            assert old in body, old
            body = body.replace(old, new)
        last["body"] = body
        yield Sent(_bytes(body), last["gives"], last.get("type"), last.get("headers", {}), last.get("id"))  # type: ignore[arg-type]


def _bytes(body: str) -> bytes:
    """Characters from U+E000 on stand for the bytes that are no UTF-8: `\\ue0e9` is the byte E9."""
    return b"".join(bytes([ord(char) - 0xE000]) if 0xE000 <= ord(char) < 0xE100 else char.encode() for char in body)


def told(lead: Lead) -> dict[str, object]:
    """A lead as a flat table, without what is empty."""
    contact, enquiry, attribution = lead.contact, lead.enquiry, lead.attribution
    everything: dict[str, object] = {
        "name": contact.name,
        "phone": contact.phone and contact.phone.e164,
        "phone_raw": contact.phone and contact.phone.raw,
        "email": contact.email,
        "company": contact.company,
        "document": contact.document,
        "wa_id": contact.wa_id,
        "bsuid": contact.bsuid,
        "username": contact.username,
        "text": enquiry.text,
        "product": enquiry.product,
        "amount": _number(enquiry.amount),
        "currency": enquiry.currency,
        "items": [_line(item) for item in enquiry.items],
        "media": [[media.kind, media.id or "", media.filename or ""] for media in enquiry.media],
        "utm": dict(attribution.utm),
        "ad_id": attribution.ad_id,
        "ad_headline": attribution.ad_headline,
        "click_id": attribution.click_id,
        "consent": lead.consent,
        "answers": dict(lead.answers),
        "flags": list(lead.flags),
        "at": lead.occurred_at and lead.occurred_at.isoformat(),
    }
    return {name: value for name, value in everything.items() if value not in (None, "", [], {})}


def _line(item: Item) -> list[object]:
    return [item.sku or "", item.name, _number(item.quantity) or "", _number(item.unit_price) or ""]


def _number(number: object) -> str | None:
    return None if number is None else str(number)
