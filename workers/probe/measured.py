"""What the probe measured, as values and as JSON; and how it makes deliveries more careful, never less."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any, ClassVar, Literal, get_args

from marshmallow import Schema, ValidationError, fields, post_load, validate

from crm_clients.base import Capability, Kind

# How a second create under one reference ended.
Second = Literal["refused", "adopted", "doubled", "unclear"]
IdempotencyKey = Literal["one_record", "no_effect", "cannot_tell"]
UnknownField = Literal["refused", "dropped", "unclear", "not_asked"]
Owner = Literal["kept", "lost", "not_asked"]

# A result that is older says little about a CRM that is changed every week.
OLD = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Seen:
    """How long after its answer a new record was first seen, in seconds; `unseen`: not within the probe's patience.

    p50, p99 and most are of those that were seen; None: none was, or it was not asked.
    """

    asked: int
    unseen: int
    p50: float | None
    p99: float | None
    most: float | None

    @staticmethod
    def of(delays: Sequence[float | None]) -> Seen:
        """From one delay for each record; None: it was not seen."""
        seen = sorted(each for each in delays if each is not None)
        if not seen:
            return Seen(len(delays), len(delays), None, None, None)
        return Seen(len(delays), len(delays) - len(seen), _rank(seen, 0.5), _rank(seen, 0.99), round(seen[-1], 3))


def _rank(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank percentile."""
    return round(ordered[max(0, ceil(share * len(ordered)) - 1)], 3)


@dataclass(frozen=True, slots=True)
class Parallel:
    """`records`: how many stood under one reference after `asked` creates at once; `answers`: how often each came."""

    asked: int
    records: int
    answers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class GaveUp:
    """`made`: how many of `asked` creates that we gave up on were executed all the same; `latest`: the last one was
    seen so many seconds after we had gone; None: none was."""

    asked: int
    made: int
    latest: float | None


@dataclass(frozen=True, slots=True)
class OfKind:
    """What one kind of record does.  `rewritten`: value as written -> value as read back, of those that differ."""

    kind: Kind
    second: Second
    second_answer: str
    parallel: Parallel
    by_id: Seen
    by_reference: Seen
    by_match: Seen | None
    idempotency_key: IdempotencyKey
    gave_up: GaveUp
    unknown_field: UnknownField
    rewritten: Mapping[str, tuple[str, str]]
    owner: Owner


@dataclass(frozen=True, slots=True)
class Left:
    """A record of the probe that could not be removed."""

    kind: Kind
    crm_id: str


@dataclass(frozen=True, slots=True)
class Contract:
    """One run.  `run` tags every record of it; `removed` and `left`: what became of them."""

    account: str
    client: str
    measured_at: datetime
    run: str
    kinds: tuple[OfKind, ...]
    removed: int
    left: tuple[Left, ...]

    def of(self, kind: Kind) -> OfKind | None:
        """What was measured of this kind; None: nothing."""
        return next((each for each in self.kinds if each.kind is kind), None)


# --- what deliveries take from it -----------------------------------------------------------------------------------


def careful(can: Capability, measured: OfKind | None) -> Capability:
    """A client's word, corrected by what was measured where that asks for more care; never the other way round.

    A reference that let two records through is not enforced.  A look that missed what stood there is weak.  What came
    later than declared moves lag and limit; a limit that is unknown stays so, since no measurement can be its bound.
    """
    if measured is None:
        return can
    if can.reference == "enforced" and (measured.second == "doubled" or measured.parallel.records > 1):
        can = replace(can, reference="stored")
    if measured.by_reference.unseen:
        can = replace(can, look="weak")
    can = replace(can, lag=max(can.lag, _seconds(measured.by_reference.most)))
    if can.limit is not None:
        can = replace(can, limit=max(can.limit, _seconds(measured.gave_up.latest)))
    return can


def _seconds(measured: float | None) -> timedelta:
    """Up to the next whole second: a measurement is one sample of what may happen."""
    return timedelta(seconds=ceil(measured or 0.0)) if (measured or 0.0) >= 1.0 else timedelta(0)


# --- as JSON --------------------------------------------------------------------------------------------------------


class _Shape(Schema):
    """What is read becomes a value of the class `of`."""

    of: ClassVar[Callable[..., object]]

    @post_load
    def make(self, data: dict[str, object], **_: object) -> object:
        return self.of(**data)


class _Seen(_Shape):
    of = Seen
    asked = fields.Integer(required=True)
    unseen = fields.Integer(required=True)
    p50 = fields.Float(required=True, allow_none=True)
    p99 = fields.Float(required=True, allow_none=True)
    most = fields.Float(required=True, allow_none=True)


class _Parallel(_Shape):
    of = Parallel
    asked = fields.Integer(required=True)
    records = fields.Integer(required=True)
    answers = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)


class _GaveUp(_Shape):
    of = GaveUp
    asked = fields.Integer(required=True)
    made = fields.Integer(required=True)
    latest = fields.Float(required=True, allow_none=True)


class _OfKind(_Shape):
    of = OfKind
    kind = fields.Enum(Kind, by_value=True, required=True)
    second = fields.String(required=True, validate=validate.OneOf(get_args(Second)))
    second_answer = fields.String(required=True)
    parallel = fields.Nested(_Parallel, required=True)
    by_id = fields.Nested(_Seen, required=True)
    by_reference = fields.Nested(_Seen, required=True)
    by_match = fields.Nested(_Seen, required=True, allow_none=True)
    idempotency_key = fields.String(required=True, validate=validate.OneOf(get_args(IdempotencyKey)))
    gave_up = fields.Nested(_GaveUp, required=True)
    unknown_field = fields.String(required=True, validate=validate.OneOf(get_args(UnknownField)))
    rewritten = fields.Dict(
        keys=fields.String(), values=fields.Tuple((fields.String(), fields.String())), required=True
    )
    owner = fields.String(required=True, validate=validate.OneOf(get_args(Owner)))


class _Left(_Shape):
    of = Left
    kind = fields.Enum(Kind, by_value=True, required=True)
    crm_id = fields.String(required=True)


class _Contract(_Shape):
    account = fields.String(required=True)
    client = fields.String(required=True)
    measured_at = fields.AwareDateTime(required=True)
    run = fields.String(required=True)
    kinds = fields.List(fields.Nested(_OfKind), required=True)
    removed = fields.Integer(required=True)
    left = fields.List(fields.Nested(_Left), required=True)

    @staticmethod
    def of(kinds: Sequence[OfKind], left: Sequence[Left], **rest: Any) -> Contract:  # noqa: ANN401 - checked above
        return Contract(kinds=tuple(kinds), left=tuple(left), **rest)


_CONTRACT = _Contract()


def to_json(contract: Contract) -> str:
    """One document, as `from_json` reads it."""
    return str(_CONTRACT.dumps(contract, ensure_ascii=False, indent=2))


def from_json(text: str | bytes) -> Contract:
    """Raises ValueError where this is no result of the probe."""
    try:
        loaded = _CONTRACT.loads(text)
    except ValidationError as wrong:
        raise ValueError(f"no result of the contract probe: {wrong}") from wrong
    if not isinstance(loaded, Contract):
        raise ValueError("no result of the contract probe")  # noqa: TRY004  # a document of another shape
    return loaded
