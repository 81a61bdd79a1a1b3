"""From raw bytes to values: JSON and form bodies, in whatever charset, with nothing in them that breaks a later step.

What comes out holds no NUL and no lone surrogate (PostgreSQL takes neither), is at most MAX_DEPTH deep, and keeps every
number exactly: big integers as integers, fractions as Decimal, and numbers that no program means as their text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from intake.sources.base import Unreadable
from intake.urlencoded import TooManyFields, pairs

Json: TypeAlias = "bool | int | Decimal | str | list[Json] | dict[str, Json] | None"

# WhatsApp's deepest message has about ten levels; readers walk recursively, far from the interpreter's limit.
MAX_DEPTH = 64
# Longer numbers are text: nobody's amount or id needs more, and arithmetic on them takes memory without bound.
MAX_DIGITS = 40
MAX_EXPONENT = 40
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
NO_ID = frozenset({"null", "none", "nil", "undefined", "nan", "false", "[object object]", "-"})
CREDIBLE_YEARS = range(1970, 2200)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body as values.  `charset_guessed`: it was no UTF-8, and Windows' charset was assumed."""

    value: Json = field(repr=False)
    charset_guessed: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        return ("charset_guessed",) if self.charset_guessed else ()


def read_json(body: bytes) -> Decoded:
    """Decode a JSON body; a BOM is allowed, NaN and Infinity are not.  Raises Unreadable."""
    text, guessed = _text(body)
    try:
        value: object = json.loads(text, parse_constant=_refuse, parse_int=_whole, parse_float=_real)
        return Decoded(_clean(value, MAX_DEPTH), guessed)
    except RecursionError:
        raise Unreadable("nested_too_deep") from None
    except ValueError:
        raise Unreadable("not_json", {"body": "must be JSON"}) from None


def read_form(body: bytes) -> Decoded:
    """Decode an urlencoded body: name -> text, or a list where a name is repeated.  Raises Unreadable."""
    try:
        return read_pairs(pairs(body))
    except TooManyFields:
        raise Unreadable("too_many_fields") from None


def read_pairs(raw: Iterable[tuple[bytes, bytes]]) -> Decoded:
    """The fields of a form in whatever coding, as `read_form` gives them."""
    fields: dict[str, list[Json]] = {}
    guesses = False
    for raw_name, raw_value in raw:
        (name, name_guessed), (value, value_guessed) = _text(raw_name), _text(raw_value)
        guesses = guesses or name_guessed or value_guessed
        fields.setdefault(clean_text(name), []).append(clean_text(value))
    return Decoded({name: values if len(values) > 1 else values[0] for name, values in fields.items()}, guesses)


def clean_text(text: str) -> str:
    """Without NUL, with halves of characters replaced: text that PostgreSQL and UTF-8 can hold."""
    whole = text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\x00", "")


def plain(value: Json) -> object:
    """The value with nothing but JSON's own types, for a fingerprint: a Decimal is its text."""
    match value:
        case Decimal():
            return str(value)
        case list():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case _:
            return value


# --- reading values that may be anything -------------------------------------------------------------------------


def mapping(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def sequence(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def text(value: Json) -> str | None:
    """A text or number, trimmed; None for anything else and for blanks.  True and False are no text."""
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
        return None
    return str(value).strip() or None


def identifier(value: Json) -> str | None:
    """An id as text; None where there is none, and for what programs write then: it would make all leads one."""
    written = text(value)
    return None if written is None or written.casefold() in NO_ID or not written.strip("0.") else written


def decimal(value: Json) -> Decimal | None:
    """An amount as number or text, such as 30, 30.5 or "30.50"; None for anything else."""
    written = text(value)
    if written is None or len(written) > MAX_DIGITS:
        return None
    try:
        number = Decimal(written)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= MAX_EXPONENT else None


def credible(moment: datetime | None) -> datetime | None:
    """None for a moment that no sender's clock means: the ends of the calendar have no time in other zones."""
    return moment if moment and moment.year in CREDIBLE_YEARS else None


def _text(body: bytes) -> tuple[str, bool]:
    try:
        return body.decode("utf-16" if body.startswith(UTF_16_MARKS) else "utf-8-sig"), False
    except UnicodeDecodeError:
        # Windows-1252 is what is left in practice; its five empty places become a mark instead of an error.
        return body.decode("cp1252", "replace"), True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= MAX_DIGITS else digits


def _real(digits: str) -> Decimal | str:
    number = decimal(digits)
    return digits if number is None else number


def _clean(value: object, depth: int) -> Json:
    if depth == 0:
        raise Unreadable("nested_too_deep")
    match value:
        case str():
            return clean_text(value)
        case bool() | int() | Decimal() | None:
            return value
        case list():
            return [_clean(item, depth - 1) for item in value]
        case dict():
            return {clean_text(str(key)): _clean(item, depth - 1) for key, item in value.items()}
        case _:
            raise Unreadable("not_json", {"body": "must be JSON"})
