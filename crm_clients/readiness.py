"""What preflights of all CRMs say alike: whether a reference has its field, and whether a word is one of the CRM's."""

from __future__ import annotations

from collections.abc import Iterable

from crm_clients.abilities import Told
from crm_clients.base import Kind, Request

MOST_NAMED = 12  # of the words that would have been right; more do not help anybody


def has_field(kind: Kind, field: str) -> Told:
    """The reference can be kept."""
    return Told(f"reference {kind.value}", ok=True, detail=f"{field} is there")


def lacks_field(kind: Kind, field: str, remedy: str, mends: Request | None = None) -> Told:
    """The reference can not be kept."""
    how = f"{remedy}, or run `intake crm check --create`" if mends is not None else remedy
    return Told(f"reference {kind.value}", ok=False, detail=f"{field} is missing", remedy=how, mends=mends)


def wrong_field(kind: Kind, detail: str, remedy: str) -> Told:
    """There is a field, but not as it must be."""
    return Told(f"reference {kind.value}", ok=False, detail=detail, remedy=remedy)


def one_of(what: str, wanted: str | None, known: Iterable[str]) -> tuple[Told, ...]:
    """Whether a word of the destination is one that the CRM knows; () where the destination names none."""
    words = tuple(dict.fromkeys(filter(None, known)))
    if wanted is None:
        return ()
    if wanted in words:
        return (Told(what, ok=True, detail=f"{wanted} is there"),)
    named = ", ".join(words[:MOST_NAMED]) + (", …" if len(words) > MOST_NAMED else "")
    return (
        Told(what, ok=False, detail=f"{wanted} is not there", remedy=f"name another in intake.toml: {named or '—'}"),
    )


def sees_all(*, is_admin: bool, remedy: str) -> Told:
    """What such a token does not see looks absent, and would be made again."""
    if is_admin:
        return Told("visibility", ok=True, detail="the credential sees all records")
    return Told("visibility", ok=False, detail="the credential sees only some of the records", remedy=remedy)
