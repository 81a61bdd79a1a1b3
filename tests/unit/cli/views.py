"""Events and records as views show them, made up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from intake.ops import EventRow
from intake.trail import RecordRow

EVENT = EventRow(
    event_id=UUID(int=1),
    mode="live",
    source="web",
    kind="form",
    request_id="msg_1",
    version=None,
    need="nabc",
    state="received",
    reason=None,
    received_at=datetime(2026, 11, 29, tzinfo=UTC),
    due_at=None,
    attempts=0,
    contact_id=None,
    opportunity_id=None,
    task_id=None,
    note_id=None,
    contact_ref=None,
    opportunity_ref=None,
    task_ref=None,
    note_ref=None,
    open_item=None,
)
RECORD = RecordRow(
    record_id=1,
    kind="contact",
    destination="crm",
    reference="cabc-c",
    state="none",
    crm_id=None,
    asked_until=None,
    look_at=None,
    ruled_absent=False,
    blocks=False,
    being_asked=False,
)


def event(*, state: str, reason: str | None = None) -> EventRow:
    """An event whose delivery stands there."""
    return replace(EVENT, state=state, reason=reason)


def in_doubt(record_id: int = 1) -> RecordRow:
    """A record of which nobody knows whether it was made."""
    return replace(RECORD, record_id=record_id, state="in_doubt")
