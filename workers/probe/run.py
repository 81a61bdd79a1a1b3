"""All questions in order, children below one contact and one opportunity of the probe's own, and the removal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from crm_clients.abilities import CancelsFirst, Removes
from crm_clients.base import Confirmed, Kind, Request, Unsure
from crm_clients.transport import Answered, Sent
from workers.probe.asking import Probe
from workers.probe.measured import Contract, Left, OfKind
from workers.probe.questions import Extent, Place, ask

Say = Callable[[str], None]

# Children before their parents, since some CRMs refuse to remove what has children.
REMOVAL = (Kind.NOTE, Kind.TASK, Kind.OPPORTUNITY, Kind.CONTACT)


class CannotProbe(Exception):
    """The account does not let the probe begin; the text says why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured, and when; `owner`: a user of the CRM to whom records are given, None: nobody."""

    kinds: Sequence[Kind]
    extent: Extent
    now: datetime
    owner: str | None


def measure(probe: Probe, wanted: Wanted, say: Say) -> Contract:
    """Ask everything, then remove what was made, also where it is interrupted.  Raises CannotProbe."""
    try:
        _control(probe)
        kinds = tuple(_each(probe, wanted, say))
    finally:
        say("removing what was made")
        removed, left = remove(probe)
    wired = probe.wired
    return Contract(wired.destination.name, wired.client.name, wanted.now, probe.run, kinds, removed, left)


def _each(probe: Probe, wanted: Wanted, say: Say) -> list[OfKind]:
    due_at = wanted.now + timedelta(days=1)
    contact = _base(probe, Place(Kind.CONTACT, None, due_at, wanted.owner))
    opportunity = _base(probe, Place(Kind.OPPORTUNITY, contact, due_at, wanted.owner))
    parents = {Kind.CONTACT: None, Kind.OPPORTUNITY: contact, Kind.TASK: opportunity, Kind.NOTE: opportunity}
    places = [Place(kind, parents[kind], due_at, wanted.owner) for kind in wanted.kinds]
    return [ask(probe, place, wanted.extent, say) for place in places]


def _control(probe: Probe) -> None:
    """Raises CannotProbe where credential or account do not work."""
    client = probe.wired.client
    answer = probe.ask(client.control())
    failed = answer if isinstance(answer, Unsure) else client.controlled(answer)
    if failed is not None:
        raise CannotProbe(f"the account does not work: {failed.reason}")


def _base(probe: Probe, place: Place) -> str:
    """A record below which others are made.  Raises CannotProbe."""
    new = place.new(probe)
    told = probe.create(new)
    if isinstance(told.means, Confirmed):
        return told.means.crm_id
    ids = probe.records_under(new, told)
    if not ids:
        raise CannotProbe(f"a first {place.kind} could not be made: {told.word}")
    return min(ids)


# --- removing -------------------------------------------------------------------------------------------------------


def remove(probe: Probe) -> tuple[int, tuple[Left, ...]]:
    """Remove all that bears a reference of this run; returns how many, and what could not be.

    A list may show one page only: what stands there still is seen when the first ones are away.
    """
    tried: set[tuple[Kind, str]] = set()
    left: list[Left] = []
    while new := [each for each in _standing(probe) if each not in tried]:
        tried.update(new)
        left += [Left(kind, crm_id) for kind, crm_id in new if not _is_removed(probe, kind, crm_id)]
    return len(tried) - len(left), tuple(left)


def _standing(probe: Probe) -> list[tuple[Kind, str]]:
    """Whatever was made, as far as any look or answer told, also what was executed after we had gone."""
    for new in {each.reference: each for each in probe.written}.values():
        probe.find(new)  # It notes what it sees.
    return [(kind, crm_id) for kind in REMOVAL for crm_id in sorted(probe.made.get(kind, ()))]


def _is_removed(probe: Probe, kind: Kind, crm_id: str) -> bool:
    client = probe.wired.client
    if not isinstance(client, Removes):
        return False
    request = client.remove(kind, crm_id)
    if request is None:
        return False
    first = client.cancel(kind, crm_id) if isinstance(client, CancelsFirst) else None
    if first is not None:
        _send(probe, first)  # Whether that worked, the removal tells.
    sent = _send(probe, request)
    return isinstance(sent, Answered) and client.removed(kind, sent.response)


def _send(probe: Probe, request: Request) -> Sent:
    deadline = probe.clock() + probe.patience.call.total_seconds()
    return probe.transport.write(probe.wired.account, request, send_by=deadline, deadline=deadline)
