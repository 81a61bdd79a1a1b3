"""An account's own fields, as `[destinations.fields]` names them."""

from __future__ import annotations

from collections.abc import Iterator

from crm_clients.answers import digits, text
from crm_clients.base import ContactDraft, OpportunityDraft, kind_of


def own_fields(draft: ContactDraft | OpportunityDraft) -> Iterator[tuple[str, str]]:
    """Those of this kind of record: `contact.NAME` and `opportunity.NAME` stand there alone, NAME at both."""
    kind = kind_of(draft).value
    for name, value in draft.fields:
        place, dot, own = name.partition(".")
        if not dot:
            yield name, text(value)
        elif place == kind:
            yield own, text(value)


def own_number(draft: ContactDraft, name: str | None) -> str:
    """The digits of one of them, as of a WhatsApp number; "" where there is no such field, or nothing in it."""
    return digits(dict(own_fields(draft)).get(name or "", ""))
