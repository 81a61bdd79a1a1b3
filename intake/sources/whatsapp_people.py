"""Who wrote a WhatsApp message: a number, a business-scoped id, or both; the name stands elsewhere in the envelope.

Meta, "Business-scoped user IDs" (31 Mar 2026): once people have a username, `from` and `wa_id` may be absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from intake import phones
from intake.lead import Contact
from intake.sources.decoding import Json, mapping, sequence, text

# WhatsApp's own number of a person: digits with the country's code and no plus (E.164 has at most 15; tests use more).
WA_ID = re.compile(r"\+?[0-9]{1,20}")
# WhatsApp Web's address of a number, perhaps of one of its devices; `@lid` is a hidden id, whose digits are no number.
WEB_ADDRESS = re.compile(r"(\+?[0-9]{1,20})(?::[0-9]+)?@(?:c\.us|s\.whatsapp\.net)")
GROUP = "@g.us"


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


@dataclass(frozen=True, slots=True)
class Cards:
    """What an envelope's contacts say about people, by their ids: contacts come in another order than messages.

    `only`: the one contact of an envelope that has no other; a message without any id can only be theirs.
    """

    by_id: Mapping[str, dict[str, Json]] = field(repr=False)
    only: dict[str, Json] = field(repr=False)

    def of(self, ids: list[str]) -> dict[str, Json]:
        return next((self.by_id[known] for known in ids if known in self.by_id), {}) if ids else self.only


def cards(value: dict[str, Json]) -> Cards:
    listed = [mapping(contact) for contact in sequence(value.get("contacts"))]
    by_id = {known: card for card in reversed(listed) for known in _texts(card, "wa_id", "user_id")}
    return Cards(by_id, listed[0] if len(listed) == 1 else {})


def sender(message: dict[str, Json], known: Cards) -> Person | None:
    """The person of a message, with what the envelope's contacts say about them; None: no id anywhere."""
    ids = _texts(message, "from", "from_user_id", "from_parent_user_id")
    card = known.of(ids)
    person = _person([*ids, *_texts(card, "wa_id", "user_id", "parent_user_id")], mapping(card.get("profile")))
    return person if person.ids else None


def person_of(*ids: str | None) -> Person:
    """The person with these ids, by their form; without a name."""
    return _person((given for given in ids if given), {})


def is_of_a_group(message: dict[str, Json]) -> bool:
    """Whether it was written into a group, which is nobody's enquiry."""
    return text(message.get("group_id")) is not None or (text(message.get("from")) or "").endswith(GROUP)


def _texts(card: dict[str, Json], *keys: str) -> list[str]:
    return [given for key in keys if (given := text(card.get(key)))]


def _person(ids: Iterable[str], profile: dict[str, Json]) -> Person:
    """Each id is known by its form, not by its place: a BSUID has been seen in `from` and in `wa_id`."""
    wa_id = bsuid = parent = other = None
    for written in ids:
        web = WEB_ADDRESS.fullmatch(written)
        given = web[1] if web else written
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
