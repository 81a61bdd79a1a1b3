"""Invented leads for the contract suite: an ordinary one, the emptiest, and one that is longer than any CRM likes."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft

DUE = datetime(2026, 12, 24, 15, 30, tzinfo=UTC)
ODD = 'Ñandú "O\'Brien" \\ <b>&amp; 🚰\t\u202e'


def ordinary(kind: Kind, *, tag: str = "a1", parent_id: str = "p-1", owner: str | None = None) -> Draft:
    """A lead as it usually comes.  `tag` makes what must be unique differ; `parent_id` is a contact or opportunity."""
    match kind:
        case Kind.CONTACT:
            return ContactDraft(f"Rosa Quispe {tag}", "+51987654321", f"rosa.{tag}@example.com", owner=owner)
        case Kind.OPPORTUNITY:
            return OpportunityDraft(
                f"Rosa Quispe · web · bomba {tag}",
                "Quiero una bomba de 2 HP.",
                parent_id,
                Decimal("1200.50"),
                "USD",
                owner,
            )
        case Kind.TASK:
            return TaskDraft(f"Llamar a Rosa Quispe {tag}", parent_id, DUE, owner)
        case Kind.NOTE:
            return NoteDraft(f"¿Cuánto demora? {tag}", parent_id)


def emptiest(kind: Kind, *, parent_id: str = "p-1") -> Draft:
    """A lead of which nothing is known."""
    match kind:
        case Kind.CONTACT:
            return ContactDraft("")
        case Kind.OPPORTUNITY:
            return OpportunityDraft("", "", parent_id)
        case Kind.TASK:
            return TaskDraft("", parent_id, DUE)
        case Kind.NOTE:
            return NoteDraft("", parent_id)


def longest(kind: Kind, *, parent_id: str = "p-1") -> Draft:
    """A lead that fills every field with more than fits, and with odd characters."""
    line, text = ODD * 60, f"{ODD}\n" * 300
    match kind:
        case Kind.CONTACT:
            return ContactDraft(line, "+519876543210123", "largo@example.com", line)
        case Kind.OPPORTUNITY:
            return OpportunityDraft(line, text, parent_id, Decimal("1234567890.999"), "PEN")
        case Kind.TASK:
            return TaskDraft(line, parent_id, DUE)
        case Kind.NOTE:
            return NoteDraft(text, parent_id)
