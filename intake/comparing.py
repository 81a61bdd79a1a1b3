"""The two contents of a conflict, side by side: what stands, and what came under the same identity."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from intake import conflicts, revisions
from intake.at_rest import Damaged, Unopenable
from intake.config import Settings
from intake.content_fields import Field, fields_of
from intake.db import Conn
from intake.decided import Refused
from intake.lead import Lead
from intake.worklist import ItemRow


@dataclass(frozen=True, slots=True)
class Compared:
    """One field in both contents; "": that one has none."""

    name: str
    first: str = field(repr=False)
    other: str = field(repr=False)
    differs: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """`first_readable`, `other_readable` False: purged, or it can be read no more; its side is empty."""

    item_id: int
    event_id: UUID
    first_readable: bool
    other_readable: bool
    fields: tuple[Compared, ...]


def compare(conn: Conn, settings: Settings, item: ItemRow, *, unmasked: bool) -> Comparison | None:
    """None: the item is no conflict.  `unmasked`: who asks for it is to be on record first (`intake.desk.access`)."""
    if item.kind != "conflict" or item.event_id is None:
        return None
    first, other = _first(conn, item), _other(conn, settings, item)
    return Comparison(
        item.item_id,
        item.event_id,
        first is not None,
        other is not None,
        tuple(_compared(_by_name(first), _by_name(other), unmasked=unmasked)),
    )


def _first(conn: Conn, item: ItemRow) -> Lead | None:
    """What stands while it is open; what came first once it is closed, since the other may stand by then."""
    return revisions.legible(conn, item.event_id or UUID(int=0), "newest" if item.closed_at is None else "first")


def _other(conn: Conn, settings: Settings, item: ItemRow) -> Lead | None:
    try:
        return conflicts.other_content(conn, settings, item)
    except (Refused, Damaged, Unopenable):
        return None


def _by_name(lead: Lead | None) -> dict[str, Field]:
    return {each.name: each for each in fields_of(lead)} if lead else {}


def _compared(first: dict[str, Field], other: dict[str, Field], *, unmasked: bool) -> list[Compared]:
    return [
        Compared(name, _shown(first.get(name), unmasked), _shown(other.get(name), unmasked),
                 differs=first.get(name) != other.get(name))
        for name in dict.fromkeys((*first, *other))
    ]  # fmt: skip


def _shown(of: Field | None, unmasked: bool) -> str:
    if of is None:
        return ""
    return of.value if unmasked else of.masked
