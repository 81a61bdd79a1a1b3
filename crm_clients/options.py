"""The options of a destination (`[destinations.options]`): plain words, read and checked by the client they are for."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import timedelta

from crm_clients.base import Kind

_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)

Settings = Mapping[str, str]


class BadSetting(Exception):
    """A setting of a destination is none that its client understands."""


def only(settings: Settings, *known: str) -> None:
    """Raises BadSetting for a setting that would be passed over: most often a known one, mistyped."""
    for name in settings:
        if name not in known:
            raise BadSetting(f"{name} is no option of this client; there are: {', '.join(known)}")


def seconds(settings: Settings, name: str) -> timedelta | None:
    """A positive number of seconds, None where the setting is missing.  Raises BadSetting."""
    if name not in settings:
        return None
    try:
        span = timedelta(seconds=float(settings[name]))
    except (ValueError, OverflowError):
        raise BadSetting(f"{name} is no number of seconds: {settings[name]!r}") from None
    if span <= timedelta(0):
        raise BadSetting(f"{name} is not positive: {settings[name]!r}")
    return span


def number(settings: Settings, name: str) -> int | None:
    """A positive whole number, None where the setting is missing.  Raises BadSetting."""
    if name not in settings:
        return None
    written = settings[name]
    if not (written.isascii() and written.isdigit() and len(written) < 19 and int(written) > 0):  # noqa: PLR2004  # 64 bits
        raise BadSetting(f"{name} is no positive whole number: {written!r}")
    return int(written)


def one_of(settings: Settings, name: str, words: Collection[str], default: str) -> str:
    """One word of a closed list.  Raises BadSetting."""
    word = settings.get(name, default)
    if word not in words:
        raise BadSetting(f"{name} is {word!r}; it may be: {', '.join(words)}")
    return word


def several(settings: Settings, name: str) -> tuple[str, ...]:
    """Words with commas or spaces between them, in their order; () where the setting is missing."""
    return tuple(dict.fromkeys(settings.get(name, "").replace(",", " ").split()))


def currencies(settings: Settings, name: str) -> tuple[str, ...]:
    """Several currencies by their codes (ISO 4217).  Raises BadSetting."""
    codes = several(settings, name)
    for code in codes:
        if not _CURRENCY.fullmatch(code):
            raise BadSetting(f"{name} names {code!r}; a currency is three capital letters, as PEN")
    return codes


def kinds(settings: Settings, name: str, *, of: Collection[Kind]) -> frozenset[Kind]:
    """Several kinds of record, of those that the client allows here.  Raises BadSetting."""
    known = {kind.value: kind for kind in Kind if kind in of}
    for word in several(settings, name):
        if word not in known:
            raise BadSetting(f"{name} names {word!r}; it may name: {', '.join(known)}")
    return frozenset(known[word] for word in several(settings, name))
