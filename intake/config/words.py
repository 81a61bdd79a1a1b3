"""The kinds of value in `intake.toml`, as marshmallow fields.

Each refuses what it cannot read with the rule in words.  A value is quoted in a message only where a closed list of
words was expected; whatever may be a secret never is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import phonenumbers
from marshmallow import ValidationError, fields

from intake.business_time import BusinessDuration, BusinessHours
from intake.config.errors import unknown
from intake.config.known import DELIVERED_FIELDS, HOLD_RULES, KNOWN_SCHEMES, LEAD_FIELDS, OWNER_RULES
from intake.config.secret import REFERENCE, REFERENCE_RULE
from intake.config.template import Template

T = TypeVar("T")

NAME: Final = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)
CURRENCY: Final = re.compile(r"[A-Z]{3}", re.ASCII)
HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII)  # RFC 9110, 5.6.2
POINTER: Final = re.compile(r"(/([^~/\x00-\x1f]|~[01])*)+")  # RFC 6901, but never the whole body
UTM: Final = re.compile(r"utm_[a-z0-9_]{1,40}", re.ASCII)
OPTION: Final = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
CONTROL_IN_TEXT: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")  # a text may have lines
CLOCK: Final = re.compile(r"[0-9]{2}:[0-9]{2}", re.ASCII)
EMAIL: Final = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*", re.ASCII)
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
LONGEST_WORD: Final = 200
LONGEST_TEXT: Final = 4000


class Checked(fields.Field[T]):
    """A value of a TOML file.  `read_value` raises ValidationError with the rule in words."""

    def __init__(self, *, required: bool = False, key: str | None = None) -> None:
        # `key` is for a table called "fields": marshmallow has another use for an attribute of that name.
        super().__init__(required=required, data_key=key, attribute=key, error_messages={"required": "is missing"})

    def read_value(self, value: object) -> T:
        raise NotImplementedError

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: object) -> T:  # noqa: ARG002
        return self.read_value(value)


class Word(Checked[T]):
    """A string that `read` turns into a value.  `read` raises ValueError with the rule in words."""

    def __init__(self, read: Callable[[str], T], *, required: bool = False, longest: int = LONGEST_WORD) -> None:
        super().__init__(required=required)
        self.read = read
        self.longest = longest

    def read_value(self, value: object) -> T:
        if not isinstance(value, str):
            raise ValidationError("must be a text in quotes")
        if len(value) > self.longest:
            raise ValidationError(f"must have at most {self.longest} characters")
        try:
            return self.read(value)
        except ValueError as error:
            raise ValidationError(str(error)) from None


class Number(Checked[int]):
    """A whole number within bounds, or one of a few."""

    def __init__(self, allowed: range | tuple[int, ...]) -> None:
        super().__init__()
        self.allowed = allowed

    def read_value(self, value: object) -> int:
        # A bool is an int in Python, and `200.0 in (200, 202)` is true.
        if type(value) is not int or value not in self.allowed:
            raise ValidationError(f"must be {self._rule()}")
        return value

    def _rule(self) -> str:
        if isinstance(self.allowed, range):
            return f"a whole number from {self.allowed.start} to {self.allowed.stop - 1}"
        return " or ".join(str(one) for one in self.allowed)


class Flag(Checked[bool]):
    """true or false, and no word for it."""

    def read_value(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("must be true or false")
        return value


class Holiday(Checked[date]):
    """One day on which the business is closed: a TOML date, or the same in quotes."""

    def read_value(self, value: object) -> date:
        try:
            found = date.fromisoformat(value) if isinstance(value, str) else value
        except ValueError:
            found = None
        if not isinstance(found, date) or isinstance(found, datetime):
            raise ValidationError("must be a date such as 2026-12-25")
        return found


class Hour(Checked[time]):
    """A time of the day, by the wall clock of `timezone`."""

    def read_value(self, value: object) -> time:
        try:
            found = time.fromisoformat(value) if isinstance(value, str) and CLOCK.fullmatch(value) else value
        except ValueError:
            found = None
        if not isinstance(found, time) or found.tzinfo is not None:
            raise ValidationError('must be a time of the day such as "08:00"')
        return found


class Words(Checked[tuple[T, ...]]):
    """A list, each element by its own field."""

    def __init__(self, element: Checked[T], *, required: bool = False, longest: int = 100) -> None:
        super().__init__(required=required)
        self.element = element
        self.longest = longest

    def read_value(self, value: object) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise ValidationError('must be a list, as in ["...", "..."]')
        if not 0 < len(value) <= self.longest:
            raise ValidationError(f"must have 1 to {self.longest} elements")
        found, wrong = [], {}
        for index, each in enumerate(value):
            try:
                found.append(self.element.read_value(each))
            except ValidationError as error:
                wrong[index] = error.messages
        if wrong:
            raise ValidationError(wrong)
        return tuple(found)


class WordMap(Checked[Mapping[str, str]]):
    """A table of words; `read_key` and `read` raise ValueError with the rule in words."""

    def __init__(
        self,
        read_key: Callable[[str], str],
        read: Callable[[str], str],
        *,
        key: str | None = None,
        longest: int = LONGEST_WORD,
    ) -> None:
        super().__init__(key=key)
        self.read_key = read_key
        self.value = Word(read, longest=longest)

    def read_value(self, value: object) -> Mapping[str, str]:
        if not isinstance(value, dict):
            raise ValidationError("must be a table")
        found, wrong = {}, {}
        for key, each in value.items():
            try:
                found[self.read_key(key)] = self.value.read_value(each)
            except ValidationError as error:
                wrong[key] = error.messages
            except ValueError as error:
                wrong[key] = [str(error)]
        if wrong:
            raise ValidationError(wrong)
        return found


def one_of(noun: str, allowed: Collection[str]) -> Callable[[str], str]:
    """A reader of one word of a closed list."""

    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(unknown(noun, text, allowed))
        return text

    return read


def several_of(noun: str, allowed: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """A reader of words with commas between them; "none" is no word."""

    def read(text: str) -> tuple[str, ...]:
        words = [word.strip() for word in text.split(",")]
        if words == ["none"]:
            return ()
        return tuple(dict.fromkeys(one_of(noun, allowed)(word) for word in words))

    return read


def matching(form: re.Pattern[str], rule: str) -> Callable[[str], str]:
    """A reader of words of one form."""

    def read(text: str) -> str:
        if not form.fullmatch(text):
            raise ValueError(rule)
        return text

    return read


def line(text: str) -> str:
    """Words on one line."""
    if not text.strip() or CONTROL.search(text):
        raise ValueError("must be words on one line")
    return text.strip()


def template(text: str) -> Template:
    """A title or a text."""
    if not text.strip() or CONTROL_IN_TEXT.search(text):
        raise ValueError("must have words, and no control characters")
    return Template.parse(text)


def lead_field(text: str) -> str:
    """A field of a lead; any `utm_` parameter is one."""
    return text if UTM.fullmatch(text) else one_of("lead field", LEAD_FIELDS)(text)


def delivered_field(text: str) -> str:
    """What a CRM's field may be filled with."""
    return text if UTM.fullmatch(text) else one_of("lead field", DELIVERED_FIELDS)(text)


def dedupe(text: str) -> str:
    """What names a delivery: id, body, a JSON Pointer, or a header (in lower case)."""
    if text.startswith("/") and POINTER.fullmatch(text):
        return text
    if text.startswith("/") or not HEADER.fullmatch(text):
        raise ValueError('must be "id", "body", a JSON Pointer such as "/data/id", or a header such as "X-Request-Id"')
    return text.lower()


def language(text: str) -> str:
    return one_of("language", ("es", "en"))(text)


def region(text: str) -> str:
    if text not in phonenumbers.SUPPORTED_REGIONS:
        raise ValueError('must be a country code of two capital letters, such as "PE"')
    return text


def timezone(text: str) -> ZoneInfo:
    """A name of the IANA time zone database."""
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):  # a path out of the database, a folder of it, an unknown name
        raise ValueError('must be a time zone such as "America/Lima"') from None


def folder(text: str) -> Path:
    """A place that is the same for every process, wherever it was started."""
    found = Path(line(text))
    if not found.is_absolute():
        raise ValueError("must be an absolute path, such as /var/lib/intake/spool")
    return found


def public_address(text: str) -> str:
    """The address that others call, without a slash at its end."""
    return _address(text)


def crm_address(text: str) -> str:
    """The address of a CRM; a credential goes there, so it is encrypted unless it stays on this host."""
    address = _address(text)
    if address.startswith("http://") and urlsplit(address).hostname not in LOOPBACK:
        raise ValueError("must begin with https://, because a credential is sent there")
    return address


def origin(text: str) -> str:
    """The origin of web pages, as browsers write it: small letters, and no port that goes without saying (RFC 6454)."""
    parts = urlsplit(_address(text).lower())
    if parts.path or "*" in parts.netloc:
        raise ValueError("must be one origin such as https://www.example.com, without a path")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ValueError("must begin with https://, because a person's data comes from there")
    standard = {"http": ":80", "https": ":443"}[parts.scheme]
    return f"{parts.scheme}://{parts.netloc.removesuffix(standard).removesuffix(':')}"


def _address(text: str) -> str:
    # The messages do not quote the address: some CRMs want a secret in it.
    rule = "must be an address such as https://example.com, without user, query or fragment"
    if CONTROL.search(text) or " " in text or not text.isascii():
        raise ValueError(rule)
    try:
        parts = urlsplit(text)
        port_is_fine = parts.port != 0
    except ValueError:
        raise ValueError(rule) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_fine:
        raise ValueError(rule)
    if "@" in parts.netloc or "?" in text or "#" in text:
        raise ValueError(rule)
    return text.rstrip("/")


email_address = matching(EMAIL, "must be an e-mail address such as ventas@example.com")
secret_reference = matching(REFERENCE, REFERENCE_RULE)
name = matching(NAME, "must be 1 to 64 small letters, digits or dashes")
currency = matching(CURRENCY, 'must be a currency code of three capital letters, such as "PEN"')
pointer = matching(POINTER, 'must be a JSON Pointer such as "/your-name"')
option_name = matching(OPTION, "must be small letters, digits and underscores")
scheme = one_of("scheme", KNOWN_SCHEMES)
hold_rules = several_of("rule", HOLD_RULES)
owner_rules = several_of("owner rule", OWNER_RULES)
business_hours = BusinessHours.parse
duration = BusinessDuration.parse
