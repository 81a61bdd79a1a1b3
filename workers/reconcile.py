"""Reconciliation: the database against itself, and, when asked, against the CRM both ways.

begin: what our own rows say ──> a page of records after another ──> a page of each CRM's lists after another ──> result

Whoever drives it takes one step after another: a person's command in its own process, or the workers at night, each
step by whichever has nothing better to do.  Where it stands is told by `Place`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

from crm_clients.base import Kind, Unsure
from intake import incidents, reconcile
from intake.db import transaction
from intake.incidents import Incident
from intake.reconcile import Reconciliation, Standing
from intake.records import RecordKind
from workers import verify
from workers.desk import Desk
from workers.verify import Verified

# An account that did not tell so many times is not asked again in this run.
ENOUGH = 3
NOT_VERIFIED = "account_not_verified"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands.  `run` names it; `lists` are the (destination, kind) whose lists are still to be read.

    `unsure`: destination -> how often it did not tell.  `tally`: reason -> incidents so far.
    """

    run: str
    started_at: str
    step: str = "records"  # records, lists, over
    after: int = 0
    lists: tuple[tuple[str, RecordKind], ...] = ()
    list_after: str | None = None
    checked: int = 0
    unsure: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    tally: Mapping[str, int] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Only the result is missing."""
        return self.step == "over"

    def document(self) -> dict[str, object]:
        """As it is stored."""
        return asdict(self)

    @classmethod
    def of(cls, document: Mapping[str, object]) -> Place:
        """A stored place."""
        read = cls(**document)  # type: ignore[arg-type]  # our own document
        return replace(read, lists=tuple((destination, kind) for destination, kind in read.lists))


@dataclass(frozen=True, slots=True)
class Found:
    """An incident, and its open item."""

    item_id: int
    incident: Incident


@dataclass(frozen=True, slots=True)
class Step:
    """Where the run stands now, and what the step found."""

    place: Place
    found: tuple[Found, ...] = ()


# What is acquitted where it was not accused again: reasons, and the subjects (None: all).
Acquittal = tuple[tuple[str, ...], list[str] | None]


def begin(desk: Desk, run: str, *, since: datetime | None, verified: bool) -> Step:
    """What our own rows say."""
    with transaction(desk.pool) as conn:
        conn.execute(reconcile.PATIENTLY)
        incidents.recover(conn)
        counts = reconcile.counts(conn, since)
        accused = list(reconcile.accuse(conn, since))
    step = "records" if verified else "over"
    place = Place(run, datetime.now(UTC).isoformat(), step=step, lists=_lists(desk), counts=counts)
    # With `since`, what lies before it was not looked at.
    acquitted: list[Acquittal] = [] if since else [(tuple(reconcile.ACCUSATIONS), None)]
    return _note(desk, place, accused, acquitted)


def _lists(desk: Desk) -> tuple[tuple[str, RecordKind], ...]:
    return tuple(
        (name, kind)
        for name, wired in sorted(desk.wired.items())
        if wired.destination.mode == "live"
        for kind in verify.KINDS
        if verify.can_list(wired, kind)
    )


def advance(desk: Desk, place: Place, *, since: datetime | None) -> Step:
    """One page further."""
    return _records(desk, place, since) if place.step == "records" else _list(desk, place)


def finish(desk: Desk, place: Place, *, since: datetime | None, verified: bool) -> Reconciliation:
    """Keep the result."""
    started = datetime.fromisoformat(place.started_at)
    result = Reconciliation(started, since, verified, place.counts, dict(sorted(place.tally.items())))
    with transaction(desk.pool) as conn:
        reconcile.keep(conn, result)
    return result


# --- records by their ids -------------------------------------------------------------------------------------------


def _records(desk: Desk, place: Place, since: datetime | None) -> Step:
    with desk.pool.connection() as conn:
        page = reconcile.standing(conn, after=place.after, since=since)
    if not page:
        return Step(replace(place, step="lists"))
    unsure, accused, checked = Counter(place.unsure), list[Incident](), list[Standing]()
    for each in page:
        if unsure[each.destination] >= ENOUGH:
            continue
        verified = _verified(desk, each)
        if verified.unsure is None:
            accused += verified.incidents
            checked.append(each)
        else:
            unsure[each.destination] += 1
    counted = place.checked + len(checked)
    on = replace(place, after=page[-1].record_id, checked=counted, unsure=dict(+unsure))
    return _note(desk, on, accused, _cleared(desk, checked))


def _verified(desk: Desk, standing: Standing) -> Verified:
    """Twice, if the first answer was lost."""
    verified = verify.verify(desk, standing)
    verified = verified if verified.unsure is None else verify.verify(desk, standing)
    if (
        verified.unsure is None
        and desk.wired[standing.destination].capability(Kind(standing.kind)).absence_may_mean_done
    ):
        # Somebody did it, and the CRM keeps nothing of what is done.
        done = f"{standing.kind}_gone"
        return replace(verified, incidents=tuple(each for each in verified.incidents if each.reason != done))
    return verified


def _cleared(desk: Desk, checked: Iterable[Standing]) -> list[Acquittal]:
    subjects: dict[tuple[str, ...], list[str]] = {}
    for each in checked:
        listed = verify.can_list(desk.wired[each.destination], each.kind)
        subjects.setdefault(verify.reasons(each.kind, listed=listed), []).append(f"record:{each.record_id}")
    return list(subjects.items())


# --- lists ----------------------------------------------------------------------------------------------------------


def _list(desk: Desk, place: Place) -> Step:
    if not place.lists:
        return _end(desk, place)
    (destination, kind), rest = place.lists[0], place.lists[1:]
    wired = desk.wired.get(destination)
    if wired is None or place.unsure.get(destination, 0) >= ENOUGH:
        return Step(replace(place, lists=rest, list_after=None))
    page = verify.page(desk, wired, kind, place.list_after)
    if isinstance(page, Unsure):
        unsure = Counter(place.unsure) + Counter([destination])
        return Step(replace(place, unsure=dict(unsure)))
    accused = list(verify.compare(desk, wired, kind, page.seen))
    ended = page.after is None
    on = replace(place, lists=rest if ended else place.lists, list_after=page.after)
    # Only when the last account's list of this kind has ended is it known what stands nowhere any more.
    last = ended and not place.unsure and all(other != kind for _, other in rest)
    return _note(desk, on, accused, [(tuple(f"{kind}_{each}" for each in verify.LISTED_WRONG), None)] if last else [])


def _end(desk: Desk, place: Place) -> Step:
    """An account that did not tell is an incident of its own: of what stands there not all is known."""
    accused = [Incident(NOT_VERIFIED, f"account:{name}") for name in sorted(place.unsure)]
    return _note(desk, replace(place, step="over"), accused, [((NOT_VERIFIED,), None)])


# ---------------------------------------------------------------------------------------------------------------------


def _note(desk: Desk, place: Place, accused: Iterable[Incident], acquitted: Iterable[Acquittal]) -> Step:
    """Open an item for each incident, close those of what was found no more, and count."""
    assignees = {name: each.assignee for name, each in desk.settings.sources.items() if each.assignee}
    found: list[Found] = []
    with transaction(desk.pool) as conn:
        for each in accused:
            item_id = incidents.accuse(conn, each, run=place.run, assignees=assignees)
            if item_id is not None:
                found.append(Found(item_id, each))
        for reasons, subjects in acquitted:
            incidents.acquit(conn, reasons, run=place.run, subjects=subjects)
    tally = Counter(place.tally) + Counter(each.incident.reason for each in found)
    return Step(replace(place, tally=dict(tally)), tuple(found))
