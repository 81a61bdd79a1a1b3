"""Records that say what they are: the positive controls of looks, made by `intake crm check --create`."""

from __future__ import annotations

from datetime import UTC, datetime

from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft

# Far enough to stand in nobody's list of the week.
NEVER_DUE = datetime(2099, 12, 31, tzinfo=UTC)


def sentinel(kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
    """The usual one; `parent_id` is the sentinel contact's or opportunity's.

    `Seen.values["text"]` shows the installation again: a contact's own field named `text` is what its client compares
    as its text, and a task's text is its title.
    """
    title, parent = f"intake-sentinel-{kind}", parent_id or ""
    match kind:
        case Kind.CONTACT:
            return ContactDraft(title, fields=(("text", installation),))
        case Kind.OPPORTUNITY:
            return OpportunityDraft(title, installation, parent, received_at=NEVER_DUE)
        case Kind.TASK:
            return TaskDraft(f"{title} {installation}", parent, NEVER_DUE)
        case Kind.NOTE:
            return NoteDraft(f"{title} {installation}", parent)
