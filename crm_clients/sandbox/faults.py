"""The dials: which request meets which fault, and what each fault does.

A fault is told by four things: how long the request waits, what is executed, what is answered, and how the answer
goes over the wire.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from marshmallow import RAISE, Schema, ValidationError, fields, validate

from crm_clients.sandbox.records import KINDS, Invalid, Json, broken

WHATS = ("create", "find", "read", "update", "delete", "merge", "control")


class Effect(StrEnum):
    """What is executed.  UNDONE: the answer is made as if it had been, and nothing is left of it."""

    ONCE = "once"
    NEVER = "never"
    TWICE = "twice"
    UNDONE = "undone"
    HIDDEN = "hidden"


class Wire(StrEnum):
    """How the answer is sent.  HALF: up to the middle of the body, or of the headers, and then cut."""

    WHOLE = "whole"
    NOTHING = "nothing"
    HALF = "half"
    DRIP = "drip"
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Fault:
    """`seconds` is the default of a rule's; `status` None: the answer is what the execution gave."""

    effect: Effect = Effect.ONCE
    status: int | None = None
    waits: Literal["no", "slow", "held"] = "no"
    wire: Wire = Wire.WHOLE
    seconds: float = 0.0


FAULTS: Mapping[str, Fault] = {
    "lost_answer": Fault(wire=Wire.NOTHING),
    "cut_answer": Fault(wire=Wire.HALF),
    "duplicate_answer": Fault(wire=Wire.REPEATED),
    "drip": Fault(wire=Wire.DRIP, seconds=0.05),
    "answer_without_effect": Fault(Effect.UNDONE),
    "double_execution": Fault(Effect.TWICE),
    "lagging": Fault(Effect.HIDDEN, seconds=5.0),
    "slow": Fault(waits="slow", seconds=5.0),
    "late": Fault(waits="held"),
    "500_with_effect": Fault(status=500),
    "500_without_effect": Fault(Effect.NEVER, 500),
    "503": Fault(Effect.NEVER, 503),
    "429": Fault(Effect.NEVER, 429),
    "408": Fault(Effect.NEVER, 408),
    "401": Fault(Effect.NEVER, 401),
    "403": Fault(Effect.NEVER, 403),
    "422": Fault(Effect.NEVER, 422),
    "refuse_reference": Fault(Effect.NEVER, 422),
    "redirect": Fault(Effect.NEVER, 302),
    "garbage": Fault(Effect.NEVER, 200),
    "no_id": Fault(),
    "false_absent": Fault(Effect.NEVER, 404),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the rules see it.  `reference` is the body's, the filter's, or the named record's."""

    method: str
    what: str
    kind: str | None
    record_id: str | None
    reference: str | None
    body: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """Which requests meet a fault: after `skip` matching ones, `times` of them (None: all that come).

    `seconds` None: the fault's own.  `effect` None: the fault's own; True or False: executed, or not.
    """

    fault: str
    match: Mapping[str, str] = field(default_factory=dict)
    times: int | None = 1
    skip: int = 0
    seconds: float | None = None
    effect: bool | None = None
    retry_after: int | None = None
    retry_after_as: str = "seconds"
    fields: Mapping[str, str] = field(default_factory=dict)
    cut_in: str = "body"

    def wait(self) -> float:
        return FAULTS[self.fault].seconds if self.seconds is None else self.seconds

    def executed(self) -> Effect:
        if self.effect is None:
            return FAULTS[self.fault].effect
        return Effect.ONCE if self.effect else Effect.NEVER

    def meets(self, asked: Asked) -> bool:
        return all(_meets(name, value, asked) for name, value in self.match.items())


def _meets(name: str, value: str, asked: Asked) -> bool:
    match name:
        case "reference_prefix":
            return (asked.reference or "").startswith(value)
        case "contains":
            return value in asked.body
        case "method":
            return value.upper() == asked.method
        case "what":
            return value == asked.what
        case _:
            return value == asked.kind


class _Match(Schema):
    class Meta:
        unknown = RAISE

    method = fields.String()
    kind = fields.String(validate=validate.OneOf(tuple(KINDS.values())))
    what = fields.String(validate=validate.OneOf(WHATS))
    reference_prefix = fields.String()
    contains = fields.String()


class _Rule(Schema):
    class Meta:
        unknown = RAISE

    fault = fields.String(required=True, validate=validate.OneOf(tuple(FAULTS)))
    match = fields.Nested(_Match)
    times = fields.Integer(strict=True, allow_none=True, validate=validate.Range(min=0))
    skip = fields.Integer(strict=True, validate=validate.Range(min=0))
    seconds = fields.Float(allow_none=True, validate=validate.Range(0, 86_400))
    effect = fields.Boolean(allow_none=True)
    retry_after = fields.Integer(strict=True, allow_none=True, validate=validate.Range(0, 1_000_000))
    retry_after_as = fields.String(validate=validate.OneOf(("seconds", "date")))
    fields_ = fields.Dict(keys=fields.String(), values=fields.String(), data_key="fields")
    cut_in = fields.String(validate=validate.OneOf(("head", "body")))


def rule(body: object) -> Rule:
    """A rule as it is written in JSON.  Raises Invalid."""
    if not isinstance(body, dict):
        raise Invalid({"_": "Not a JSON object."})
    try:
        loaded = _Rule().load(body)
    except ValidationError as invalid:
        raise broken(invalid) from None
    return Rule(**{name.rstrip("_"): value for name, value in loaded.items()})


@dataclass(slots=True)
class _Counted:
    rule: Rule
    met: int = 0
    applied: int = 0


class Rules:
    """The rules in their order, with what became of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: list[_Counted] = []

    def take(self, asked: Asked) -> Rule | None:
        """The first rule that this request meets and that is not used up; it is then used once."""
        with self._lock:
            for counted in self._counted:
                if counted.rule.meets(asked) and _due(counted):
                    counted.applied += 1
                    return counted.rule
        return None

    def replace(self, rules: list[Rule]) -> None:
        with self._lock:
            self._counted = [_Counted(rule) for rule in rules]

    def add(self, rule: Rule) -> None:
        with self._lock:
            self._counted.append(_Counted(rule))

    def shown(self) -> list[Json]:
        with self._lock:
            return [_shown(counted) for counted in self._counted]


def _shown(counted: _Counted) -> Json:
    rule = counted.rule
    what: Json = {"fault": rule.fault, "match": dict(rule.match), "times": rule.times, "skip": rule.skip}
    return what | {"met": counted.met, "applied": counted.applied}


def _due(counted: _Counted) -> bool:
    counted.met += 1
    if counted.met <= counted.rule.skip:
        return False
    return counted.rule.times is None or counted.applied < counted.rule.times
