"""Answers of several parts as one text: a name of first and last, a phone with its area, a date, an address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from intake.sources.decoding import Json, text

NAME = ("prefix", "first", "middle", "last", "suffix")
DATE = ("year", "month", "day")
TIME = ("hour", "min", "ampm")
ADDRESS = ("addr_line1", "addr_line2", "address", "address2", "city", "state", "postal", "zip", "country")


def one_text(value: Json) -> str | None:
    """The answer as somebody would write it; None: it is no compound that we know, or blank."""
    if not isinstance(value, dict) or not value:
        return None
    parts = {name: written for name, part in value.items() if (written := text(part))}
    match value:
        case {"full": _} | {"phone": _} if value.keys() <= {"full", "country", "area", "phone"}:
            return _phone(parts)
        case {"first": _} | {"last": _} if value.keys() <= set(NAME):
            return _joined(parts, NAME, " ")
        case {"year": _, "month": _, "day": _} if value.keys() <= {*DATE, *TIME}:
            return " ".join(filter(None, (_joined(parts, DATE, "-"), _joined(parts, TIME, " ")))) or None
        case _ if value.keys() <= set(ADDRESS):
            return _joined(parts, ADDRESS, ", ")
        case _:
            return None


def _phone(parts: Mapping[str, str]) -> str | None:
    """A country alone, as a menu has it chosen beforehand, is no phone."""
    if "full" in parts:
        return parts["full"]
    if "phone" not in parts:
        return None
    country = "+" + parts["country"].lstrip("+") if "country" in parts else None
    return " ".join(filter(None, (country, parts.get("area"), parts["phone"])))


def _joined(parts: Mapping[str, str], order: Iterable[str], by: str) -> str | None:
    return by.join(parts[name] for name in order if name in parts) or None
