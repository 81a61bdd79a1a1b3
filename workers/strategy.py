"""How a record is written once: what follows from the CRM's capability for its kind, in one table.

    reference   look     limit     first create        after a doubt
    enforced    any      any       at once             one look, then again: the CRM refuses a double, and we adopt
    stored,     strong   known     look before         absence proven: two looks, limit + lag apart
      marker             unknown   look before         never by itself, unless the owner gave assume_limit
    stored,     weak     any       look before         never by itself
      marker
    none        -        -         at once             never by itself
    (not enforced, and what is done is deleted there: as a weak look)

and from the consequence: a doubled note is cheap, so where a look is strong, its lag alone is waited for.

No CRM refuses an update that comes twice, or late, over a newer one: what is known by its id and in doubt is written
again only as where references are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from crm_clients.base import Capability, Kind

# How long a CRM whose limit nobody knows may still execute what it got, where only a person's word is waited for.
UNKNOWN_LIMIT = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Refused:
    """A second create is refused by the CRM itself: one absent look is enough."""


@dataclass(frozen=True, slots=True)
class Proven:
    """A second create needs looks that say absent, this far apart."""

    span: timedelta


@dataclass(frozen=True, slots=True)
class Never:
    """No second create without a person, whose word replaces what a look could prove, not time: `wait` is over."""

    wait: timedelta = UNKNOWN_LIMIT


Proof = Refused | Proven | Never


@dataclass(frozen=True, slots=True)
class Strategy:
    """`look_first`: before the first create too, since a restored database has forgotten its attempts."""

    look_first: bool
    proof: Proof

    @property
    def needs_control(self) -> bool:
        """Whether an "absent" is ever relied upon, so that the sentinel must exist."""
        return self.look_first


def strategy(kind: Kind, can: Capability, assume_limit: timedelta | None) -> Strategy:
    """The row of the table.  `assume_limit`: the owner's word where the CRM's limit is unknown."""
    match can.reference:
        case "enforced":
            return Strategy(look_first=False, proof=Refused())
        case "none":
            return Strategy(look_first=False, proof=_never(can, assume_limit))
        case "stored" | "marker":
            return Strategy(look_first=True, proof=_proof(kind, can, assume_limit))


def of_update(kind: Kind, can: Capability, assume_limit: timedelta | None) -> Strategy:
    """How what stands in the CRM is changed once."""
    return Strategy(look_first=False, proof=_proof(kind, can, assume_limit))


def _proof(kind: Kind, can: Capability, assume_limit: timedelta | None) -> Proof:
    limit = can.limit if can.limit is not None else assume_limit
    if can.look == "weak" or can.absence_may_mean_done:
        return _never(can, assume_limit)
    if limit is not None:
        return Proven(limit + can.lag)
    return Proven(can.lag) if kind is Kind.NOTE else _never(can, assume_limit)


def _never(can: Capability, assume_limit: timedelta | None) -> Never:
    limit = can.limit if can.limit is not None else assume_limit
    return Never() if limit is None else Never(limit + can.lag)
