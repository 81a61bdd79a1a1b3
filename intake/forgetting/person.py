"""Whom a text is about, asked of keyed hashes alone, so that a list of the forgotten holds nothing of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_plus

import phonenumbers

from intake import contacts
from intake.identity import IdentityKey
from intake.lead import Contact

ADDRESS: Final = re.compile(r"[^\s\"'<>()\[\],;:&=\\/|]{1,64}@[^\s\"'<>()\[\],;:&=\\/|@]{3,190}")
BETWEEN: Final = re.compile(r"(?<=[0-9])[ ().\-]{1,2}(?=[0-9])")
DIGITS: Final = re.compile(r"[0-9]{7,15}")
# As JSON may write "@" and "+".
ESCAPED: Final = {"\\u0040": "@", "\\u002b": "+", "\\u002B": "+", "\\/": "/"}


@dataclass(frozen=True, slots=True)
class Person:
    """`keys`: what `contacts.keys_of` gives.  `region`: of numbers that are written without a country."""

    keys: frozenset[bytes] = field(repr=False)
    key: IdentityKey
    region: str

    def is_contact(self, contact: Contact) -> bool:
        """Whether one of their ids is this contact's."""
        mine = {each.key for each in contacts.keys_of(contact, "live", self.key)}
        return bool(mine & self.keys) or (contact.phone is not None and self.is_named_in(contact.phone.raw))

    def is_named_in(self, text: str) -> bool:
        """Whether one of their numbers or addresses stands in it, however it is written."""
        for escape, plain in ESCAPED.items():
            text = text.replace(escape, plain)
        forms = {text, unquote_plus(text, errors="replace")}
        return any(self.key.mac("contact", *each) in self.keys for form in forms for each in self._ids(form))

    def _ids(self, text: str) -> Iterator[tuple[str, str]]:
        for address in set(ADDRESS.findall(text)):
            yield "email", address.strip(".").casefold()
        country = phonenumbers.country_code_for_region(self.region)
        for digits in {*DIGITS.findall(text), *DIGITS.findall(BETWEEN.sub("", text))}:
            yield "phone", "+" + digits
            yield "phone", "+" + digits.lstrip("0")
            yield "phone", f"+{country}{digits.lstrip('0')}"


def text_of(content: bytes) -> str:
    """Whatever it is, as far as it is text."""
    return content.decode("utf-8", "replace")
