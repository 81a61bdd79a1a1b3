"""What a scenario is made of: what is sent, what the CRM is told to do to it, and what must come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from intake.explain_texts import Text
from intake.identity import Mode
from intake.worklist import ItemKind

Json = Mapping[str, object]
Answered = Literal["new", "duplicate", "conflict", "refused"]


@dataclass(frozen=True, slots=True)
class Send:
    """One delivery to the receiver, signed as its sender signs.

    `delivery_id` is the sender's id where its provider signs one.  `at_once`: the same bytes so often at one moment.
    `later`: only when everything before it in its scenario has come to its end.  `answers`: what the receiver says of
    each event in it, all answers together.
    """

    source: str
    body: Json = field(repr=False)
    answers: tuple[Answered, ...] = ("new",)
    delivery_id: str = ""
    at_once: int = 1
    mode: Mode = "live"
    later: bool = False
    forged: bool = False


@dataclass(frozen=True, slots=True)
class InCrm:
    """How many records the CRM must hold in the end, each exactly once."""

    contacts: int = 0
    opportunities: int = 0
    tasks: int = 0
    notes: int = 0


@dataclass(frozen=True, slots=True)
class Scenario:
    """`states`: of its events in the order in which they came, where it matters with the reason ("review: validation").

    `dials`: rules for the sandbox CRM, as docs/sandbox.md words them; each of them must have hit something.
    `shows`, `hides`: what must and must not stand in its records in the CRM.  `items`: what must wait for a person.
    `told`: what the reader should notice.
    """

    title: Text
    sends: tuple[Send, ...]
    states: tuple[str, ...]
    in_crm: InCrm
    told: Text
    dials: tuple[Json, ...] = ()
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    items: tuple[ItemKind, ...] = ()
