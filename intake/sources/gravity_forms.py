"""Gravity Forms' add-on "Webhooks": an entry as JSON or urlencoded, its answers under the numbers of their fields.

`1.3` and `1.6` are first and last name; what the other numbers mean only the form knows, so a source says it by
`[sources.fields]` (`phone = "/4"`), and what looks like a phone is taken for one.  The entry's id stays the same when
it is sent again.
Source: Gravity Forms webhooks add-on, class-gf-webhooks.php @0c0ab0c (the body is the entry).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from intake.sources.decoding import Json, identifier, text
from intake.sources.leaves import Leaf, leaves
from intake.sources.submission import JSON, URLENCODED, FormTool, Submission, named

# The entry's own properties, which are no answers; `currency` stands there for every form, paid or not.
PROPERTIES = frozenset({
    "id", "form_id", "post_id", "date_created", "date_updated", "is_starred", "is_read", "ip", "source_url",
    "source_id", "user_agent", "currency", "payment_status", "payment_date", "payment_amount", "payment_method",
    "transaction_id", "transaction_type", "is_fulfilled", "created_by", "status",
})  # fmt: skip
NUMBERED = re.compile(r"([0-9]+)(?:\.([0-9]+))?")
# Parts of a name field; an address has the same ones and a part 1 or 5 besides (Gravity Forms, "Name", "Address").
NAME_PARTS = {"3": "first_name", "6": "last_name"}
ADDRESS_PARTS = frozenset({"1", "5"})
PHONE = re.compile(r"[+(]?[0-9][0-9 ().-]{7,19}")
SHORTEST_PHONE, RUC_DIGITS = 9, 11


@dataclass(frozen=True, slots=True)
class GravityForms(FormTool):
    """One delivery is one entry."""

    name: str = "gravity_forms"
    content_types: frozenset[str] = frozenset({JSON, URLENCODED})

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        named = _name_field(body)
        written = (leaf for leaf in leaves(body) if leaf.pointer.split("/")[1] not in PROPERTIES)
        return Submission(tuple(_labelled(leaf, named) for leaf in written), _entry(body), _created(body))


def _entry(body: dict[str, Json]) -> str | None:
    form, entry = text(body.get("form_id")), identifier(body.get("id"))
    return named(form, entry) if form else None


def _created(body: dict[str, Json]) -> datetime | None:
    """UTC, without saying so."""
    try:
        return datetime.strptime(text(body.get("date_created")) or "", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _name_field(body: dict[str, Json]) -> str | None:
    """The number of the first filled field that has a name's parts and none of an address', blank ones included."""
    numbered = [(match, value) for key, value in body.items() if (match := NUMBERED.fullmatch(key)) and match[2]]
    addresses = {match[1] for match, _ in numbered if match[2] in ADDRESS_PARTS}
    names = (match[1] for match, value in numbered if match[2] in NAME_PARTS and text(value))
    return next((number for number in names if number not in addresses), None)


def _labelled(leaf: Leaf, named: str | None) -> Leaf:
    match = NUMBERED.fullmatch(leaf.label)
    if match is None:
        return leaf
    if match[1] == named and match[2] in NAME_PARTS:
        return replace(leaf, label=NAME_PARTS[match[2]])
    return replace(leaf, label=f"{'teléfono, ' if _like_phone(leaf.text) else ''}campo {leaf.label}")


def _like_phone(answer: str) -> bool:
    """As people or a phone field write it; bare digits are one only between a DNI's length and a RUC's."""
    digits = sum(char.isdigit() for char in answer)
    marked = answer[:1] in ("+", "(") and digits >= SHORTEST_PHONE
    return PHONE.fullmatch(answer) is not None and (marked or SHORTEST_PHONE <= digits < RUC_DIGITS)
