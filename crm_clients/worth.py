"""What an opportunity is worth, in an account that keeps amounts in some currencies alone.

`currencies` are those of the account, its own first.  An account with a single one names none beside an amount.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crm_clients import answers
from crm_clients.base import Kind, OpportunityDraft


def is_kept(draft: OpportunityDraft, currencies: Sequence[str]) -> bool:
    """Whether the account can keep the amount: in another currency it would become one in the account's own."""
    return draft.currency is None or draft.currency in currencies


def in_text(draft: OpportunityDraft) -> str:
    """The text with the amount that the account cannot keep before it."""
    return f"{draft.currency} {draft.amount:f}\n\n{draft.text}"


def code(currency: str | None, currencies: Sequence[str]) -> str | None:
    """What to name beside an amount; None: nothing."""
    return currency if len(currencies) > 1 else None


def changed(
    kind: Kind, asked: Mapping[str, str], guarded: Mapping[str, str], currencies: Sequence[str]
) -> Mapping[str, str]:
    """The guarded fields of an update that may be sent: an amount that the account cannot keep is not.

    Raises ValueError for a field that is not guarded.
    """
    unknown = asked.keys() - guarded.keys()
    if unknown:
        raise ValueError(f"not a guarded field of a {kind}: {', '.join(sorted(unknown))}")
    currency = asked.get("currency") or None
    left = set() if currency is None or currency in currencies else {"amount", "currency"}
    left |= {"currency"} if code(currency, currencies) is None else set()
    return {name: value for name, value in asked.items() if name not in left}


def shown(amount: object, currency: object, currencies: Sequence[str]) -> Mapping[str, str]:
    """An amount and its currency as they were read: where none is named, it is the account's only one."""
    read, named = answers.amount(amount) or "", answers.text(currency)
    single = currencies[0] if read and len(currencies) == 1 else ""
    return {"amount": read, "currency": named or single}
