"""What is asked of one kind of record: each question writes records of its own, and looks what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from statistics import median
from uuid import uuid4

from crm_clients.base import (
    Confirmed,
    ContactDraft,
    Draft,
    Duplicate,
    Found,
    Kind,
    NoteDraft,
    OpportunityDraft,
    Rejected,
    TaskDraft,
)
from crm_clients.transport import NotSent
from workers.drafts import guarded
from workers.probe.asking import New, Probe
from workers.probe.measured import GaveUp, IdempotencyKey, OfKind, Owner, Parallel, Second, Seen, UnknownField
from workers.values import alike

PURPOSE = "A record of the contract probe, which removes it."
# No CRM has a field of this name.
UNKNOWN_FIELD = "intake_probe_no_such_field"
# As deliveries write one: many CRMs put blanks into it, or take the country away.
PHONE = "+51987000111"
# A client that gives up stays for this share of the usual time: its request has left it, and no answer has come.
STAY = 0.4
SHORTEST_STAY = timedelta(milliseconds=15)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is asked: `samples` for what is repeated, `parallel` creates at once."""

    samples: int = 10
    parallel: int = 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where records of a kind are made.  `owner`: a user of the CRM, None: none is configured."""

    kind: Kind
    parent_id: str | None
    due_at: datetime
    owner: str | None = None

    def draft(self, tag: str) -> Draft:
        """A record of this kind that says what it is."""
        title = f"[intake probe] {tag}"
        match self.kind:
            case Kind.CONTACT:
                return ContactDraft(f"Intake Probe {tag}", email=f"intake-probe-{tag}@example.com", owner=self.owner)
            case Kind.OPPORTUNITY:
                return OpportunityDraft(
                    title, "A record of the contract probe.", self.parent_id or "", owner=self.owner
                )
            case Kind.TASK:
                return TaskDraft(title, self.parent_id or "", self.due_at, owner=self.owner)
            case Kind.NOTE:
                return NoteDraft(f"{title}: {PURPOSE}", self.parent_id or "")

    def new(self, probe: Probe) -> New:
        """One that does not exist yet."""
        reference = probe.reference(self.kind)
        below = self.parent_id if self.kind in {Kind.TASK, Kind.NOTE} else None
        return New(self.draft(_tag(reference)), reference, below)


def ask(probe: Probe, place: Place, extent: Extent, say: Callable[[str], None]) -> OfKind:
    """All questions about one kind of record."""
    kind = place.kind
    say(f"{kind}: how soon a new one is seen ({extent.samples} records)")
    times, by_id, by_reference, by_match = visibility(probe, place, extent.samples)
    say(f"{kind}: a second create under one reference")
    second, second_answer = second_create(probe, place)
    say(f"{kind}: {extent.parallel} creates at once under one reference")
    at_once = parallel(probe, place, extent.parallel)
    say(f"{kind}: an Idempotency-Key")
    key = idempotency_key(probe, place, second)
    say(f"{kind}: a client that gives up early ({extent.samples} records)")
    early = gave_up(probe, place, extent.samples, usual=timedelta(seconds=median(times) if times else 1.0))
    say(f"{kind}: a field that is not known, values, the owner")
    return OfKind(
        kind,
        second,
        second_answer,
        at_once,
        by_id,
        by_reference,
        by_match,
        key,
        early,
        unknown_field(probe, place),
        rewritten(probe, place),
        owner_after_update(probe, place),
    )


# --- how soon it is seen --------------------------------------------------------------------------------------------


def visibility(probe: Probe, place: Place, samples: int) -> tuple[list[float], Seen, Seen, Seen | None]:
    """The creates' own times in seconds, and how long after its answer a record is seen by each way of looking."""
    took: list[float] = []
    by_id: list[float | None] = []
    by_reference: list[float | None] = []
    by_match: list[float | None] = []
    for _ in range(samples):
        new = place.new(probe)
        told = probe.create(new)
        took.append(told.took)
        if isinstance(told.means, Confirmed):
            by_id.append(probe.until_seen(partial(_is_read, probe, place.kind, told.means.crm_id)))
        by_reference.append(probe.until_seen(partial(_is_found, probe, new)))
        if isinstance(new.draft, ContactDraft):
            by_match.append(probe.until_seen(partial(probe.is_matched, new.draft)))
    return took, Seen.of(by_id), Seen.of(by_reference), Seen.of(by_match) if by_match else None


def _is_read(probe: Probe, kind: Kind, crm_id: str) -> bool:
    return isinstance(probe.read(kind, crm_id), Found)


def _is_found(probe: Probe, new: New) -> bool:
    return bool(probe.find(new))


# --- twice ----------------------------------------------------------------------------------------------------------


def second_create(probe: Probe, place: Place) -> tuple[Second, str]:
    """The same create again, after the first was answered."""
    new = place.new(probe)
    first, again = probe.create(new), probe.create(new)
    records = probe.records_under(new, first, again)
    if len(records) > 1:
        return "doubled", again.word
    match again.means:
        case Confirmed() if records:
            return "adopted", again.word
        case Duplicate() | Rejected() if records:
            return "refused", again.word
        case _:
            return "unclear", again.word


def parallel(probe: Probe, place: Place, asked: int) -> Parallel:
    """Many creates of one record at once, each on a connection of its own."""
    new = place.new(probe)
    with ThreadPoolExecutor(asked) as pool:
        told = list(pool.map(lambda _: probe.create(new), range(asked)))
    return Parallel(asked, len(probe.records_under(new, *told)), dict(Counter(each.word for each in told)))


def idempotency_key(probe: Probe, place: Place, second: Second) -> IdempotencyKey:
    """Whether the header changes what a second create does; where one is refused anyhow, that cannot be told."""
    if second != "doubled":
        return "cannot_tell"
    new, key = place.new(probe), str(uuid4())
    told = probe.create(new, key=key), probe.create(new, key=key)
    return "one_record" if len(probe.records_under(new, *told)) == 1 else "no_effect"


# --- gone before the answer -----------------------------------------------------------------------------------------


def gave_up(probe: Probe, place: Place, samples: int, *, usual: timedelta) -> GaveUp:
    """Leave before the answer comes, and see whether the record is made all the same, and how much later."""
    stay = usual * STAY
    asked, delays = 0, list[float]()
    for _ in range(samples):
        new = place.new(probe)
        told = probe.create(new, within=max(SHORTEST_STAY, stay))
        if told.means is not None:
            # It was answered, or not even sent: stay for less, or for more.
            stay *= 1.3 if isinstance(told.means, NotSent) else 0.7
            continue
        asked += 1
        seen = probe.until_seen(partial(_is_found, probe, new))
        if seen is not None:
            delays.append(seen)
    return GaveUp(asked, len(delays), round(max(delays), 3) if delays else None)


# --- what it makes of what it is told -------------------------------------------------------------------------------


def unknown_field(probe: Probe, place: Place) -> UnknownField:
    """A custom field that is not defined: a CRM that drops it would drop our reference too, if that were missing."""
    new = place.new(probe)
    if not isinstance(new.draft, ContactDraft | OpportunityDraft):
        return "not_asked"
    told = probe.create(replace(new, draft=replace(new.draft, fields=((UNKNOWN_FIELD, "x"),))))
    match told.means:
        case Confirmed():
            return "dropped"
        case Rejected():
            return "refused"
        case _:
            return "unclear"


def rewritten(probe: Probe, place: Place) -> dict[str, tuple[str, str]]:
    """Which guarded values come back otherwise than they were written, beyond mere notation.

    Of a contact that is the telephone, where the client shows it.
    """
    new = place.new(probe)
    draft = _telling(new.draft)
    if draft is None:
        return {}
    told = probe.create(replace(new, draft=draft))
    looked = probe.read(place.kind, told.means.crm_id) if isinstance(told.means, Confirmed) else None
    if not isinstance(looked, Found):
        return {}
    now = looked.seen.values
    return {
        name: (value, now.get(name, ""))
        for name, value in guarded(draft).items()
        if (name in now or isinstance(draft, OpportunityDraft)) and not alike(value, now.get(name))
    }


def _telling(draft: Draft) -> OpportunityDraft | ContactDraft | None:
    """With values of which CRMs make something else; None: nothing of this kind is compared."""
    match draft:
        case OpportunityDraft():
            return replace(draft, text="Una línea\nOtra  línea · ñ 😀", amount=Decimal("1200.5"))
        case ContactDraft():
            return replace(draft, phone=PHONE)
        case _:
            return None


def owner_after_update(probe: Probe, place: Place) -> Owner:
    """Whether a change of the text alone leaves the owner where he was."""
    if place.owner is None or place.kind is not Kind.OPPORTUNITY:
        return "not_asked"
    told = probe.create(place.new(probe))
    if not isinstance(told.means, Confirmed):
        return "not_asked"
    client, crm_id = probe.wired.client, told.means.crm_id
    before = _owner(probe, place.kind, crm_id)
    request = client.update(place.kind, crm_id, {"text": "A changed text."})
    probe.write(request, lambda answer: client.updated(place.kind, crm_id, answer))
    if before is None:
        return "not_asked"
    return "kept" if _owner(probe, place.kind, crm_id) == before else "lost"


def _owner(probe: Probe, kind: Kind, crm_id: str) -> str | None:
    looked = probe.read(kind, crm_id)
    return looked.seen.owner if isinstance(looked, Found) else None


def _tag(reference: str) -> str:
    """What a reference says, in short, for names and addresses."""
    return reference.removeprefix("intake-probe-").rpartition("-")[0]
