"""Comparing what a CRM holds with what we want there: the same value may be written in more than one way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from crm_clients import answers


@dataclass(frozen=True, slots=True)
class Changes:
    """`send`: what may be changed.  `left`: what a person changed since, and so stays as it is (names only)."""

    send: Mapping[str, str]
    left: tuple[str, ...]


def compare(base: Mapping[str, str], now: Mapping[str, str], wanted: Mapping[str, str]) -> Changes:
    """Which of the wanted values may be sent: those whose field still reads as our last write left it."""
    send: dict[str, str] = {}
    left: list[str] = []
    for value in _values(now, wanted):
        if all(is_same(name, now.get(name), each) for name, each in value.items()):
            continue
        if all(is_same(name, now.get(name), base.get(name)) for name in value):
            send |= value
        else:
            left += value
    return Changes(send, tuple(sorted(left)))


def _values(now: Mapping[str, str], wanted: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The wanted fields, those together that are one value: an amount without its currency is another sum."""
    yield from ({name: each} for name, each in wanted.items() if name not in {"amount", "currency"})
    if "amount" in wanted:
        yield {"amount": wanted["amount"], "currency": wanted.get("currency") or now.get("currency", "")}


def is_same(name: str, one: str | None, other: str | None) -> bool:
    """The same value of this field; a telephone is written in more ways than anything else."""
    return alike(one, other) or (name == "phone" and answers.is_same_phone(one or "", other or ""))


def alike(one: str | None, other: str | None) -> bool:
    """The same value, though a CRM may write 1200.5 as "1200.50" or lose white space at the ends."""
    if one is None or other is None:
        return not one and not other
    try:
        return Decimal(one) == Decimal(other)
    except InvalidOperation:
        return one.strip() == other.strip()
