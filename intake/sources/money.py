"""An amount of money as people write it, where only one number can be meant.

    read("S/ 1,500.50")    # 1500.50, PEN
    read("1.500,50 €")     # 1500.50, EUR
    read("5 mil")          # None

`1.500` is a program's number: nobody can know whether a person meant thousands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from intake.sources.decoding import decimal

# Signs that only one currency has; a bare $ is many countries', and says none.
SIGNS: Mapping[str, str | None] = {
    "": None,
    "$": None,
    "S/": "PEN",
    "S/.": "PEN",
    "SOL": "PEN",
    "SOLES": "PEN",
    "US$": "USD",
    "U$S": "USD",
    "R$": "BRL",
    "€": "EUR",
    "EUROS": "EUR",
    **{code: code for code in "PEN USD EUR BRL CLP COP MXN ARS BOB UYU PYG CRC GTQ DOP GBP CAD".split()},  # noqa: SIM905
}
# Any other word may be a number too: `5 mil`.
AROUND = re.compile(r"(?P<before>[^0-9+-]{0,10}?)(?P<number>[0-9][0-9.,]*)(?P<after>[^0-9]{0,10}?)")
COMMA_GROUPS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]{1,2})?")
DOT_GROUPS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]{1,2}|[0-9]{1,3}(?:\.[0-9]{3}){2,}")
COMMA_DECIMALS = re.compile(r"[0-9]+,[0-9]{1,2}")


@dataclass(frozen=True, slots=True)
class Money:
    """`currency`: ISO 4217, None where the text names none that is surely one."""

    amount: Decimal
    currency: str | None = None


def read(typed: str) -> Money | None:
    """The amount in it; None: there is none, or it could be two."""
    if (plain := decimal(typed)) is not None:
        return Money(plain)
    match = AROUND.fullmatch(typed.strip())
    signs = [match[part].strip().upper() for part in ("before", "after")] if match else []
    number = decimal(_plain(match["number"])) if match else None
    if number is None or any(sign not in SIGNS for sign in signs):
        return None
    named = {currency for sign in signs if (currency := SIGNS[sign])}
    return Money(number, named.pop()) if len(named) == 1 else Money(number)


def _plain(number: str) -> str:
    if COMMA_GROUPS.fullmatch(number):
        return number.replace(",", "")
    if DOT_GROUPS.fullmatch(number) or COMMA_DECIMALS.fullmatch(number):
        return number.replace(".", "").replace(",", ".")
    return number
