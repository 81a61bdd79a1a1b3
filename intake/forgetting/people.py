"""Whom a text is about, asked of keyed hashes alone, so that a list of the forgotten holds nothing of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import unquote_plus

import phonenumbers

from intake import contacts
from intake.forgetting.ledger import Forgetting
from intake.identity import IdentityKey
from intake.lead import Contact

ADDRESS: Final = re.compile(r"[^\s\"'<>()\[\],;:&=\\/|]{1,64}@[^\s\"'<>()\[\],;:&=\\/|@]{3,190}")
BETWEEN: Final = re.compile(r"(?<=[0-9])[ ().\-]{1,2}(?=[0-9])")
DIGITS: Final = re.compile(r"[0-9]{7,15}")
# A number as JSON has it: there a "+" is no blank of a URL, and were it one, the same digits would be read.
QUOTED: Final = re.compile(r'"\+[0-9]+"')
# As JSON may write "@" and "+".
ESCAPED: Final = {"\\u0040": "@", "\\u002b": "+", "\\u002B": "+", "\\/": "/"}


@dataclass(frozen=True, slots=True)
class People:
    """A list of them, each called by a number from 0 on.  Nobody is meant by what came after their own time.

    `whose`: by what `contacts.keys_of` gives; several may have the same.  `until`: up to when each is meant.
    `region`: of numbers that are written without a country.
    """

    whose: Mapping[bytes, tuple[int, ...]] = field(repr=False)
    until: tuple[datetime, ...]
    key: IdentityKey
    region: str

    def with_contact(self, contact: Contact, at: datetime | None) -> set[int]:
        """Whose ids this contact has.  `at`: when it came, None: whenever it was."""
        typed = self.named_in(contact.phone.raw, at) if contact.phone else set()
        return typed | self.with_keys(contacts.digests_of(contact, self.key), at)

    def named_in(self, text: str, at: datetime | None) -> set[int]:
        """Whose numbers or addresses stand in it, however they are written."""
        ids = set(_ids(text, phonenumbers.country_code_for_region(self.region)))
        return self.with_keys((self.key.mac("contact", *each) for each in ids), at)

    def with_keys(self, keys: Iterable[bytes], at: datetime | None) -> set[int]:
        """Whose keys these are."""
        return {one for key in keys for one in self.whose.get(key, ()) if self.is_meant(one, at)}

    def everybody(self, at: datetime | None) -> Iterator[int]:
        """All who are meant by what came then."""
        return (one for one in range(len(self.until)) if self.is_meant(one, at))

    def is_meant(self, one: int, at: datetime | None) -> bool:
        """Whether something that came then may be erased as this one's."""
        return at is None or at <= self.until[one]


def people_of(forgettings: Iterable[Forgetting], key: IdentityKey, region: str) -> People:
    """In the order of the list."""
    whose: dict[bytes, tuple[int, ...]] = {}
    until = []
    for one, each in enumerate(forgettings):
        until.append(each.at)
        for each_key in set(each.keys):
            whose[each_key] = (*whose.get(each_key, ()), one)
    return People(whose, tuple(until), key, region)


def _ids(text: str, country: int) -> Iterator[tuple[str, str]]:
    """Whatever in a text may be an id of somebody; the same may be given twice."""
    if "\\" in text:
        for escape, plain in ESCAPED.items():
            text = text.replace(escape, plain)
    yield from _addresses(text)
    yield from _numbers(text, country)
    if "%" in text or text.count("+") != len(QUOTED.findall(text)):
        in_url = unquote_plus(text, errors="replace")
        yield from _addresses(in_url)
        yield from _numbers(in_url, country)


def _addresses(text: str) -> Iterator[tuple[str, str]]:
    for address in ADDRESS.findall(text) if "@" in text else ():
        yield "email", address.strip(".").casefold()


def _numbers(text: str, country: int) -> Iterator[tuple[str, str]]:
    together, joined = BETWEEN.subn("", text)
    for digits in {*DIGITS.findall(text), *(DIGITS.findall(together) if joined else ())}:
        yield "phone", "+" + digits
        yield "phone", "+" + digits.lstrip("0")
        yield "phone", f"+{country}{digits.lstrip('0')}"


def text_of(content: bytes) -> str:
    """Whatever it is, as far as it is text."""
    return content.decode("utf-8", "replace")
