"""Who wrote a WhatsApp message: a number, a business-scoped id, or both; the name stands elsewhere in the envelope.

Meta, "Business-scoped user IDs" (31 Mar 2026): once people have a username, `from` and `wa_id` may be absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from intake import phones
from intake.lead import Contact
from intake.sources.decoding import Json, mapping, sequence, text

# WhatsApp's own number of a person: digits with the country's code and no plus (E.164 has at most 15; tests use more).
WA_ID = re.compile(r"\+?[0-9]{1,20}")


@dataclass(frozen=True, slots=True)
class Person:
    """The sender.  `other_id`: what stood where an id should be, and is neither; used only if there is nothing else."""

    wa_id: str | None = field(default=None, repr=False)
    bsuid: str | None = field(default=None, repr=False)
    parent_bsuid: str | None = field(default=None, repr=False)
    other_id: str | None = field(default=None, repr=False)
    name: str | None = field(default=None, repr=False)
    username: str | None = field(default=None, repr=False)

    @property
    def ids(self) -> tuple[str, ...]:
        """All ids, the strongest first: a number is the same for every business, a BSUID only for one portfolio."""
        sure = tuple(known for known in (self.wa_id, self.bsuid, self.parent_bsuid) if known)
        return sure or ((self.other_id,) if self.other_id else ())

    @property
    def contact(self) -> Contact:
        return Contact(
            name=self.name,
            phone=phones.read(self.wa_id, None) if self.wa_id else None,
            wa_id=self.wa_id,
            bsuid=self.bsuid or (None if self.wa_id else self.other_id),
            username=self.username,
        )


def sender(message: dict[str, Json], value: dict[str, Json]) -> Person | None:
    """The person of a message, with what the envelope's contacts say about them; None: no id anywhere."""
    named = [text(message.get(key)) for key in ("from", "from_user_id", "from_parent_user_id")]
    ids = [given for given in named if given]
    card = _card(ids, [mapping(contact) for contact in sequence(value.get("contacts"))])
    listed = [text(card.get(key)) for key in ("wa_id", "user_id", "parent_user_id")]
    person = _person([*ids, *(given for given in listed if given)], mapping(card.get("profile")))
    return person if person.ids else None


def _card(ids: list[str], cards: list[dict[str, Json]]) -> dict[str, Json]:
    """The contact with one of the ids, wherever it stands: contacts come in another order than messages.

    A message without any id is its only contact's; with several contacts nobody can say whose it is.
    """
    if not ids:
        return cards[0] if len(cards) == 1 else {}
    known = [card for card in cards if {text(card.get("wa_id")), text(card.get("user_id"))} & set(ids)]
    return known[0] if known else {}


def _person(ids: Iterable[str], profile: dict[str, Json]) -> Person:
    """Each id is known by its form, not by its place: a BSUID has been seen in `from` and in `wa_id`."""
    wa_id = bsuid = parent = other = None
    for given in ids:
        if phones.is_bsuid(given):
            if given[3:].startswith("ENT."):
                parent = parent or given
            else:
                bsuid = bsuid or given
        elif WA_ID.fullmatch(given):
            wa_id = wa_id or given.removeprefix("+")
        else:
            other = other or given
    username = text(profile.get("username"))
    return Person(wa_id, bsuid, parent, other, text(profile.get("name")), username.lstrip("@") if username else None)
