"""One request to a CRM: sent, and its answer read by the client that knows the CRM's language.

A write comes back as what was answered and how it is noted; a look as what was seen.  No row moves here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import assert_never

from crm_clients.base import (
    Absent,
    Client,
    Confirmed,
    ContactDraft,
    Duplicate,
    Found,
    Kind,
    Looked,
    Rejected,
    Request,
    Response,
    Retry,
    Seen,
    Several,
    Uncertain,
    UnreadableAnswer,
    Unsure,
    Written,
)
from crm_clients.transport import Answered, NotSent, Unanswered
from intake.attempts import Answer
from workers import sending
from workers.desk import Desk, Wired
from workers.sending import RATE_LIMITED, NoRoom, Timing


@dataclass(frozen=True, slots=True)
class Call:
    """A write that is over: what it means (`NotSent`: it never left), and how the attempt is noted."""

    means: Written | NotSent
    answer: Answer


def write(desk: Desk, wired: Wired, request: Request, *, prepared: float, read: Callable[[Response], Written]) -> Call:
    """Send a committed write.  `prepared`: the clock's reading before its commit, from which `send_by` counts."""
    send_by = prepared + desk.patience.send_within.total_seconds()
    deadline = send_by + desk.patience.call.total_seconds()
    first_byte: list[float] = []
    sent = sending.write(
        desk, wired, request, Timing(send_by, deadline), on_first_byte=lambda: first_byte.append(desk.clock())
    )
    since = _Since(desk, prepared)
    sent_after = since.at(first_byte[0]) if first_byte else None
    match sent:
        case NotSent():
            return Call(sent, Answer("not_sent", sent.reason))
        case Unanswered():
            return Call(Uncertain(sent.reason), Answer("uncertain", sent.reason, sent_after))
        case Answered():
            means = read(sent.response)
            if isinstance(means, Retry) and means.reason == RATE_LIMITED:
                sending.close(desk, wired, request, means.after)
            return Call(means, _noted(means, sent.response, sent_after, since.now()))
        case _:
            assert_never(sent)


@dataclass(frozen=True, slots=True)
class _Since:
    desk: Desk
    start: float

    def at(self, reading: float) -> timedelta:
        return timedelta(seconds=max(0.0, reading - self.start))

    def now(self) -> timedelta:
        return self.at(self.desk.clock())


def _noted(means: Written, response: Response, sent_after: timedelta | None, answered_after: timedelta) -> Answer:
    """A duplicate counts as refused: this write made nothing."""
    evidence: dict[str, object] = {"status": response.status}
    match means:
        case Confirmed():
            return Answer(
                "confirmed", means.how, sent_after, answered_after, response.body, evidence | {"crm_id": means.crm_id}
            )
        case Retry():
            return Answer("retry", means.reason, sent_after, answered_after, response.body, evidence)
        case Rejected():
            rules = {"fields": sorted(name for name, _ in means.fields)}
            return Answer("rejected", means.reason, sent_after, answered_after, response.body, evidence | rules)
        case Duplicate():
            return Answer("rejected", f"duplicate_{means.by}", sent_after, answered_after, response.body, evidence)
        case Uncertain():
            hints = {"candidates": list(means.candidates)}
            return Answer("uncertain", means.reason, sent_after, answered_after, response.body, evidence | hints)
        case _:
            assert_never(means)


# --- looks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sight:
    """What one or more looks saw together.  `answered` False: at least one of them got no answer."""

    looked: Looked
    answered: bool = True
    took: timedelta = timedelta(0)
    asked: tuple[str, ...] = ()
    evidence: dict[str, object] = field(default_factory=dict)


def look(
    desk: Desk, wired: Wired, request: Request, read: Callable[[Response], Looked], *, must: bool = False
) -> Sight:
    """Ask once; no answer is Unsure.  A call that was spared is no silence of the account.  `must`: as in `sending`."""
    since = _Since(desk, desk.clock())
    sent = sending.look(desk, wired, request, must=must)
    match sent:
        case Answered():
            looked = read(sent.response)
            if isinstance(looked, Unsure) and looked.reason == RATE_LIMITED:
                sending.close(desk, wired, request, looked.after)
            return Sight(looked, took=since.now(), evidence={"status": sent.response.status})
        case NoRoom(after=after):
            return Sight(Unsure(RATE_LIMITED, after), took=since.now())
        case NotSent() | Unanswered():
            return Sight(Unsure(sent.reason, scope="account"), answered=False, took=since.now())
        case _:
            assert_never(sent)


def find(desk: Desk, wired: Wired, kind: Kind, references: Sequence[str], parent_id: str | None) -> Sight:
    """Look under every reference that the record may bear; absent only if absent under each."""
    client = wired.client
    sights = [
        look(
            desk,
            wired,
            client.find(kind, reference, parent_id=parent_id),
            _finder(client, kind, reference),
        )
        for reference in references
    ]
    return Sight(
        looked=_together([each.looked for each in sights]),
        answered=all(each.answered for each in sights),
        took=sum((each.took for each in sights), timedelta(0)),
        asked=tuple(references),
        evidence={"statuses": [each.evidence.get("status") for each in sights]},
    )


def _finder(client: Client, kind: Kind, reference: str) -> Callable[[Response], Looked]:
    return lambda response: client.found(kind, reference, response)


def _together(looked: Sequence[Looked]) -> Looked:
    """What looks under several references say of one record; two different records are a double."""
    ids = dict.fromkeys(crm_id for each in looked for crm_id in _ids(each))
    if len(ids) > 1:
        return Several(tuple(ids))
    found = next((each for each in looked if isinstance(each, Found)), None)
    unsure = next((each for each in looked if isinstance(each, Unsure)), None)
    return found or unsure or Absent()


def _ids(looked: Looked) -> tuple[str, ...]:
    match looked:
        case Found(seen):
            return (seen.crm_id,)
        case Several(crm_ids):
            return crm_ids
        case Absent() | Unsure():
            return ()
        case _:
            assert_never(looked)


def read(desk: Desk, wired: Wired, kind: Kind, crm_id: str, *, must: bool = False) -> Sight:
    """One record by its id, as it stands now."""
    client, request = wired.client, wired.client.read(kind, crm_id)
    sight = look(desk, wired, request, lambda response: client.was_read(kind, crm_id, response), must=must)
    return Sight(sight.looked, sight.answered, sight.took, (crm_id,), sight.evidence)


UNREADABLE_MATCH = "unreadable_match"


def matches(desk: Desk, wired: Wired, draft: ContactDraft) -> tuple[Seen, ...] | Unsure:
    """The live contacts that are this person by phone or e-mail, though not under a reference of ours.

    Where some are the person by each of them, only those: several may share the telephone of a house.
    """
    answers: list[dict[str, Seen]] = []
    for request in wired.client.matches(draft):
        sent = sending.look(desk, wired, request)
        if isinstance(sent, NoRoom):
            return Unsure(RATE_LIMITED, sent.after)
        if not isinstance(sent, Answered):
            return Unsure(sent.reason)
        try:
            answers.append({each.crm_id: each for each in wired.client.matched(draft, sent.response)})
        except UnreadableAnswer:
            return Unsure(UNREADABLE_MATCH)
    return _same_person(answers)


def _same_person(answers: Sequence[Mapping[str, Seen]]) -> tuple[Seen, ...]:
    anyone = {crm_id: seen for answer in answers for crm_id, seen in answer.items()}
    by_each = [seen for crm_id, seen in anyone.items() if all(crm_id in answer for answer in answers)]
    return tuple(by_each or anyone.values())


def opportunities_of(desk: Desk, wired: Wired, contact_id: str) -> tuple[Seen, ...] | Unsure | None:
    """The opportunities of one contact; None: this CRM cannot list them."""
    request = wired.client.opportunities_of(contact_id)
    if request is None:
        return None
    sent = sending.look(desk, wired, request, must=True)
    if not isinstance(sent, Answered):
        return Unsure(sent.reason, scope="account")
    try:
        return wired.client.listed(contact_id, sent.response)
    except UnreadableAnswer:
        return Unsure("unreadable_list")


def control(desk: Desk, wired: Wired) -> Unsure | None:
    """The control call of an account; None: credential and account work."""
    sent = sending.look(desk, wired, wired.client.control(), must=True)
    return wired.client.controlled(sent.response) if isinstance(sent, Answered) else Unsure(sent.reason)
