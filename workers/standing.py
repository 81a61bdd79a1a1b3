"""How a step of a delivery stands: it is done, or why the delivery stops here for now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Known:
    """The record stands in the CRM.  `made`: by a write of ours just now.

    `left`: what this version wanted otherwise and a person changed, so that it stays: field -> the value wanted.
    """

    crm_id: str
    made: bool = False
    left: Mapping[str, str] = field(default_factory=dict, repr=False)


# Why a delivery waits whose account does not work: it is none of its own tries.
ACCOUNT_PAUSED = "account_paused"


@dataclass(frozen=True, slots=True)
class Later:
    """Due again after a while; `after` None: our backoff decides, `blocked_on`: or when this record is clear."""

    reason: str
    after: timedelta | None = None
    blocked_on: int | None = None


@dataclass(frozen=True, slots=True)
class InDoubt:
    """The record may or may not stand in the CRM."""

    record_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class ForPerson:
    """A person must act; `fields`: field -> rule, no values."""

    reason: str
    fields: Mapping[str, str] = field(default_factory=dict)
    blocked_on: int | None = None


@dataclass(frozen=True, slots=True)
class Superseded:
    """A newer version stands there already, and this one never wrote."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The opportunity of its need takes no more: another need takes it."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """This process was told to stop between two calls: another one goes on where it stands."""


Halt = Later | InDoubt | ForPerson | Superseded | Elsewhere | Interrupted
Standing = Known | Halt
