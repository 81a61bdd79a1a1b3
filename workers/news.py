"""What a sender changed later, in a note for the adviser: a text that changed in silence is read by nobody.

The note comes before the update: what it says is the difference from our last write, which the update takes away.  It
bears the delivery's own reference, so that it is written once however often the step is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from zoneinfo import ZoneInfo

from crm_clients.base import NoteDraft, OpportunityDraft, Seen
from intake.records import Record
from workers.desk import Desk
from workers.drafts import CHANNELS, LONGEST_TEXT, guarded
from workers.standing import Halt
from workers.update import read_now, written
from workers.values import alike, compare
from workers.work import Work

LEFT = "Lo que alguien cambió aquí se dejó como está."
CONTACT_LEFT = "El número del contacto en el CRM se dejó como está."


def note(
    desk: Desk, work: Work, record: Record, draft: OpportunityDraft, *, contact_left: bool
) -> NoteDraft | Halt | None:
    """What is to be told of this opportunity, which stands; None: nothing that this content says is news.

    `contact_left`: the contact does not have the number that this content names.
    """
    seen = read_now(desk, record)
    if not isinstance(seen, Seen):
        return seen
    before, wanted = written(desk, record), guarded(draft)
    lines = tuple(changed(before, wanted))
    if not lines:
        return None
    left = compare(before, seen.values, wanted).left
    notes = (*((LEFT,) if left else ()), *((CONTACT_LEFT,) if contact_left else ()))
    text = "\n".join((_head(work, desk.settings.timezone), *lines, *notes))
    return NoteDraft(text[:LONGEST_TEXT], seen.crm_id, said_at=work.lead.as_of)


def changed(before: Mapping[str, str], wanted: Mapping[str, str]) -> Iterator[str]:
    """The lines that are new, and those that are no more; and the amount, if its text names none."""
    old, new = (_lines(values.get("text", "")) for values in (before, wanted))
    fresh = [line for line in new if line not in old]
    amount = wanted.get("amount")
    if amount is not None and not alike(amount, before.get("amount")) and not any(amount in line for line in fresh):
        fresh.append(f"Monto: {amount} {wanted.get('currency', '')}".rstrip())
    yield from fresh
    yield from (f"(antes) {line}" for line in old if line not in new)


def _lines(text: str) -> list[str]:
    return [line for each in text.splitlines() if (line := each.strip())]


def _head(work: Work, zone: ZoneInfo) -> str:
    named = f"{CHANNELS[work.kind]} {work.number or ''}".rstrip()
    when = work.lead.as_of
    return f"{named}: cambió" + (f" el {when.astimezone(zone):%d/%m/%Y %H:%M}." if when else ".")
