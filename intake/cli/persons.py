"""Whom a command is about, as people type it: numbers and addresses, or a table with one row for each person."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from unicodedata import category

from intake import emails, phones
from intake.cli.certificates import told
from intake.history import Row, Untabular, numbered_rows_of
from intake.lead import Contact

SEVERAL: Final = re.compile(r"[;\n]")  # between the values of one cell
BETWEEN_DIGITS: Final = re.compile(r"[ ().+\-]")
SURELY: Final = 7  # digits by whose end two numbers are told apart
LONGEST: Final = 15  # digits of a number with its country (E.164); more are two numbers
NO_ID: Final = re.compile(r"[\s@]")


class Misread(ValueError):
    """What was typed names nobody; the text says why, and not what it was."""


@dataclass(frozen=True, slots=True)
class Person:
    """`row`: in a spreadsheet, None: typed in the command.  `contacts`: one for each number, address and id."""

    row: int | None
    contacts: tuple[Contact, ...] = field(repr=False)


def phone(typed: str, region: str) -> Contact:
    """One number; of two in one text the second would be overlooked.  Raises Misread."""
    found = phones.read(typed, region)
    if found.e164 is None or not _is_alone(typed, found.e164):
        raise Misread(told("no_phone"))
    return Contact(phone=found)


def _is_alone(typed: str, e164: str) -> bool:
    digits = "".join(str(int(char)) for char in typed if char.isdecimal())
    return phones.is_of_a_spreadsheet(typed.strip()) or digits.endswith(e164[-SURELY:])


def email(typed: str, _region: str) -> Contact:
    """Raises Misread."""
    if not emails.is_address(typed):
        raise Misread(told("no_address"))
    return Contact(email=emails.read(typed))


def wa_id(typed: str, region: str) -> Contact:
    """WhatsApp's number of a person, or its business-scoped id.  Raises Misread."""
    seen = "".join(char for char in typed if category(char) != "Cf").strip()  # What marks directions is copied, too.
    if phones.is_of_a_spreadsheet(seen):
        return Contact(wa_id=_with_country(phone(seen, region)))
    digits = BETWEEN_DIGITS.sub("", seen)
    if digits.isdecimal() and len(digits) <= LONGEST:
        return Contact(wa_id=_as_known(digits, region))
    if digits.isdecimal() or NO_ID.search(seen) or not any(map(str.isdecimal, seen)):  # such as a dash, or "N/A"
        raise Misread(told("no_wa_id"))
    return Contact(bsuid=seen)


def _as_known(digits: str, region: str) -> str:
    """WhatsApp's have a country: one that is a number of this country alone, and of none with it, lacks that."""
    plain = "".join(str(int(char)) for char in digits)
    at_home = phones.read(plain, region)
    if phones.read(f"+{plain}", region).e164 is None and at_home.e164 is not None:
        return at_home.e164.removeprefix("+")
    return plain


def _with_country(contact: Contact) -> str:
    assert contact.phone is not None  # noqa: S101  # `phone` gives one, or raises
    return (contact.phone.e164 or "").removeprefix("+")


COLUMNS: Final[Mapping[str, Callable[[str, str], Contact]]] = {"phone": phone, "email": email, "wa_id": wa_id}


def of_table(content: bytes, region: str) -> list[Person]:
    """One for each row that says something.  Raises Misread, which names row and column of all that is wrong."""
    try:
        rows, names = numbered_rows_of(content)
    except Untabular as why:
        raise Misread(str(why)) from None
    _only_known([name.casefold() for name in names])
    people: list[Person] = []
    wrong: list[str] = []
    for number, row in rows:
        contacts = list(_contacts(number, row, region, wrong))
        people += [Person(number, tuple(contacts))] if contacts else []
    if wrong or not people:
        raise Misread("\n".join(wrong) or told("names_nobody"))
    return people


def _only_known(columns: list[str]) -> None:
    for number, name in enumerate(columns, 1):
        if name not in COLUMNS:  # It is not repeated: where the names are missing, it is somebody's.
            raise Misread(told("other_column", number=number, columns=", ".join(COLUMNS)))


def _contacts(number: int, row: Row, region: str, wrong: list[str]) -> Iterator[Contact]:
    for column, cell in row.items():
        for typed in filter(None, map(str.strip, SEVERAL.split(cell))):
            try:
                yield COLUMNS[column.casefold()](typed, region)
            except Misread as why:
                wrong.append(told("cell", row=number, column=column, why=why))
