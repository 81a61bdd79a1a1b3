"""What number stands in a typed text.  `raw` alone decides, wherever it came from.

    read("987 654 321", "PE").e164        # "+51987654321", ok
    read("051987654321", "PE")            # the same, repaired
    read("US.51987654321", "PE")          # not a phone: WhatsApp's business-scoped id

libphonenumber reads most of it.  What it would misread is caught before it (ids, spreadsheet numbers), what it gives
up on is tried again in the few ways that people and tools really spoil a number.  One that stays unreadable is a flag.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Literal

import phonenumbers
from phonenumbers import PhoneNumber

from intake import documents
from intake.lead import Phone

# Meta, "Business-scoped user IDs" (31 Mar 2026): country, dot, up to 128 letters and digits; the parent form has ENT.
BSUID = re.compile(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}")
MALFORMED_BSUID = re.compile(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]\S*")
# The library refuses longer texts, and nobody's number is that long.
MAX_LENGTH = 250
# An extension is somebody's desk: it stays in the raw text.
EXTENSION = re.compile(
    r"(?<![\s,;.])[\s,;.]*(?:ext(?:ensi[oó]n)?|anexo|int(?:erno)?|x)[\s.:=#]*[0-9]{1,6}$", re.IGNORECASE
)
SCHEME = re.compile(r"^(?:tel|whatsapp|callto|sms)\s*:\s*", re.IGNORECASE)
SPREADSHEET = re.compile(r"\+?[0-9]+[.,]0{1,2}|[0-9](?:[.,][0-9]+)?E\+?[0-9]{1,2}", re.IGNORECASE)
SEPARATORS = re.compile(r"[/;|,\n]|\s-\s|\s[oyue]\s", re.IGNORECASE)
# The library takes what follows a comma for an extension to be dialled, as long as a number of its own.
LONGEST_EXTENSION = 6
DATE = re.compile(r"[0-9]{1,2}/[0-9]{1,2}/(?:19|20)[0-9]{2}")
THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3}){2,}")
# A typed number of this many digits may begin with its country's code; with fewer it would be a guess.
INTERNATIONAL_DIGITS = 11


def read(raw: str, region: str | None) -> Phone:
    """Read a phone as somebody typed it.  Never raises.

    `region` is the country of numbers that are typed without one; None or unknown: none is assumed.
    """
    typed = _plain(raw)
    text = _without_addresses(typed)
    if reason := _other_than_phone(text):
        return Phone(raw, verdict="not_a_phone", reason=reason)
    home = region.upper() if region and region.upper() in phonenumbers.SUPPORTED_REGIONS else None
    if is_of_a_spreadsheet(text):
        return _spreadsheet(raw, text, home)
    if not _words(text) and (number := _valid(text, home)):
        return _phone(raw, number, "ok", "ok") if text == typed else _phone(raw, number, "repaired", "repair")
    if kept := _kept(text):
        # WhatsApp knows this number though the library calls it invalid: it stays the identity.
        return Phone(raw, kept, "flagged", "keep", _variants(kept))
    if number := next(_repaired(text, home), None):
        return _phone(raw, number, "repaired", "repair")
    return Phone(raw, verdict="flagged", reason=_why_invalid(text, home))


def is_of_a_spreadsheet(text: str) -> bool:
    """Whether a program has taken a number for an amount: 51987654321.0, 5.1987654321E10."""
    return SPREADSHEET.fullmatch(text) is not None


def is_bsuid(text: str) -> bool:
    """True for WhatsApp's business-scoped ids, which no phone parser may see."""
    return BSUID.fullmatch(text) is not None


# --- what is no phone --------------------------------------------------------------------------------------------


def _plain(raw: str) -> str:
    """Full-width and other digits made ASCII, without invisible marks, a spreadsheet's apostrophe or a URL scheme."""
    composed = unicodedata.normalize("NFKC", raw[:MAX_LENGTH])
    visible = "".join(_plain_char(char) for char in composed)
    return SCHEME.sub("", visible.strip().lstrip("'`\u00b4").strip())


def _plain_char(char: str) -> str:
    if unicodedata.category(char) in ("Cf", "Cc", "Cs", "Mn", "Me"):
        return " " if char in "\t\n\r" else ""
    digit = unicodedata.decimal(char, None)
    return char if digit is None else str(digit)


def _other_than_phone(text: str) -> str | None:
    if not text:
        return "empty"
    if is_bsuid(text) or MALFORMED_BSUID.fullmatch(text):
        return "bsuid"
    if "@" in text:
        return _address(text)
    digits = sum(char.isdigit() for char in text)
    return "text" if digits == 0 or (_words(text) and digits < 6) else None  # noqa: PLR2004  shorter is a house number


def _without_addresses(text: str) -> str:
    """What else was typed beside an e-mail address, whose digits are no phone; an address alone stays."""
    rest = " ".join(word for word in text.split() if "@" not in word)
    return rest if "@" in text and any(char.isdigit() for char in rest) else text


def _address(text: str) -> str:
    """WhatsApp Web's hidden ids and addresses; anything else with an @ is an e-mail in the wrong field."""
    match text.rpartition("@")[2].lower():
        case "lid":
            return "lid"
        case "c.us" | "s.whatsapp.net" | "g.us" | "broadcast":
            return "jid"
        case _:
            return "text"


def _words(text: str) -> bool:
    """Letters other than an extension: the library would dial them as on an old telephone."""
    return any(char.isalpha() for char in EXTENSION.sub("", text))


# --- reading and repairing ---------------------------------------------------------------------------------------


def _parsed(text: str, home: str | None) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(text, home)
    except phonenumbers.NumberParseException:
        return None


def _valid(text: str, home: str | None) -> PhoneNumber | None:
    number = _parsed(text, home)
    if number is None and home is None and text[0].isdigit():
        # Without a region bare digits can only be international, as WhatsApp writes them.
        number = _parsed(f"+{text}", None)
    if number is None or not phonenumbers.is_valid_number(number) or DATE.fullmatch(text):
        return None
    return number if len(number.extension or "") <= LONGEST_EXTENSION else None


def _repaired(text: str, home: str | None) -> Iterator[PhoneNumber]:
    """The numbers that the known ways of spoiling one lead back to, the surest first."""
    for repair in REPAIRS:
        for candidate in repair(text, home):
            if number := _valid(candidate, home):
                yield number


def _second_prefix(text: str, home: str | None) -> Iterator[str]:  # noqa: ARG001
    """`+34+34612345678`: a dropdown's prefix before one that was typed."""
    first, plus, last = text.rpartition("+")
    if plus and first.strip(" +()-").isdigit() and last.startswith(first.strip(" +()-")):
        yield f"+{last}"


def _home_prefixes(text: str, home: str | None) -> Iterator[str]:
    """`051987654321`, `+5151987654321`, `0051 51987654321`: the own country's prefix with one zero, or twice."""
    code = _country_code(home)
    match = re.fullmatch(rf"0{{0,2}}(?:{code}0{{0,2}})*({code}[1-9][0-9]+)", _digits(text)) if code else None
    if match:
        yield f"+{match[1]}"


def _thousands(text: str, home: str | None) -> Iterator[str]:  # noqa: ARG001
    """`987,654,321`: a spreadsheet's amount."""
    if THOUSANDS.fullmatch(text):
        yield text.replace(",", "")


def _several_numbers(text: str, home: str | None) -> Iterator[str]:  # noqa: ARG001
    """`987654321 / 912345678`: the first that can be called; the raw text keeps them all."""
    parts = [part.strip() for part in SEPARATORS.split(text)]
    yield from (part for part in parts if part and part != text and not _words(part))


def _two_numbers(text: str, home: str | None) -> Iterator[str]:
    """`987 654 321 912 345 678`: what is a number on both sides of a blank."""
    words = [] if _words(text) else text.split()
    for place in range(1, len(words)):
        first, second = " ".join(words[:place]), " ".join(words[place:])
        if _valid(first, home) and _valid(second, home):
            yield first


def _missing_plus(text: str, home: str | None) -> Iterator[str]:  # noqa: ARG001
    """`5215512345678` in a form of another country: long enough to begin with its own country's code."""
    digits = _digits(text)
    if _words(text) or documents.is_ruc(digits):
        return
    if len(digits) >= INTERNATIONAL_DIGITS and not text.startswith(("+", "0")):
        yield f"+{digits}"


def _number_in_prose(text: str, home: str | None) -> Iterator[str]:
    """`mi cel es 987654321`, but not the tail of a number: `+1 987654321` has a wrong country and no repair."""
    for match in phonenumbers.PhoneNumberMatcher(text, home):
        if re.search(r"[+0-9][^\w+]*$", text[: match.start]):
            continue
        yield phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164)


REPAIRS: tuple[Callable[[str, str | None], Iterator[str]], ...] = (
    _second_prefix,
    _home_prefixes,
    _thousands,
    _several_numbers,
    _two_numbers,
    _missing_plus,
    _number_in_prose,
)


def _spreadsheet(raw: str, text: str, home: str | None) -> Phone:
    """`51987654321.0` and `5.1987654321E10`: whole only if no digit was rounded away."""
    digits = _spreadsheet_digits(text.upper().replace(",", "."))
    number = _valid(digits, home) if digits else None
    if number is None:
        return Phone(raw, verdict="flagged", reason="invalid")
    return _phone(raw, number, "repaired", "repair")


def _spreadsheet_digits(text: str) -> str | None:
    mantissa, marked, exponent = text.partition("E")
    whole, _, decimals = mantissa.partition(".")
    if not marked:
        return whole
    return whole + decimals if len(decimals) == int(exponent) else None


def _why_invalid(text: str, home: str | None) -> str:
    number = _parsed(text, home)
    if number is None:
        return "region needed" if home is None and not text.startswith("+") else "invalid"
    reason = phonenumbers.is_possible_number_with_reason(number)
    return "too long" if reason == phonenumbers.ValidationResult.TOO_LONG else "invalid"


def _digits(text: str) -> str:
    return "".join(char for char in EXTENSION.sub("", text) if char.isdigit())


def _country_code(home: str | None) -> str:
    return str(phonenumbers.country_code_for_region(home)) if home else ""


# --- numbers that stand for one person ---------------------------------------------------------------------------


def _phone(raw: str, number: PhoneNumber, verdict: Literal["ok", "repaired"], reason: str) -> Phone:
    e164 = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return Phone(raw, e164, verdict, reason, _variants(e164))


# WhatsApp's ids follow old numbering plans (chatwoot #5840 and PR #6222; libphonenumber calls both forms invalid).
BRAZIL_WITHOUT_NINE = re.compile(r"\+?(55[1-9][0-9])([6-9][0-9]{7})")
BRAZIL_WITH_NINE = re.compile(r"\+(55[1-9][0-9])9([6-9][0-9]{7})")
MEXICO_WITH_ONE = re.compile(r"\+?521([0-9]{10})")
MEXICO_WITHOUT_ONE = re.compile(r"\+52([0-9]{10})")
ARGENTINA_MOBILE = re.compile(r"\+549([0-9]{10})")


def _kept(text: str) -> str | None:
    """The E.164 form of a number by an old plan that WhatsApp still uses."""
    compact = re.sub(r"^00", "+", re.sub(r"[\s().-]", "", text))
    old = BRAZIL_WITHOUT_NINE.fullmatch(compact) or MEXICO_WITH_ONE.fullmatch(compact)
    return f"+{compact.removeprefix('+')}" if old else None


def _variants(e164: str) -> tuple[str, ...]:
    """Other numbers under which the same person may be known.

    A nine is never added to a Brazilian land line, and an Argentine land line is never made a mobile.
    """
    if match := BRAZIL_WITHOUT_NINE.fullmatch(e164):
        return (f"+{match[1]}9{match[2]}",)
    if match := BRAZIL_WITH_NINE.fullmatch(e164):
        return (f"+{match[1]}{match[2]}",)
    if match := MEXICO_WITH_ONE.fullmatch(e164):
        return (f"+52{match[1]}",)
    if match := MEXICO_WITHOUT_ONE.fullmatch(e164):
        return (f"+521{match[1]}",)
    if match := ARGENTINA_MOBILE.fullmatch(e164):
        return (f"+54{match[1]}",)
    return ()
