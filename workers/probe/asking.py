"""Speaking to one account for the probe: one write, one look, and waiting until something is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from threading import Lock

from crm_clients.base import (
    Absent,
    Confirmed,
    ContactDraft,
    Draft,
    Found,
    Kind,
    Looked,
    Request,
    Response,
    Several,
    UnreadableAnswer,
    Unsure,
    Written,
    kind_of,
)
from crm_clients.transport import Answered, NotSent, Transport, Unanswered
from crm_clients.watchdog import Clock
from workers.desk import Wired

IDEMPOTENCY_KEY = "Idempotency-Key"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the probe waits: for one call, and until a record that must be there is seen."""

    call: timedelta = timedelta(seconds=30)
    sight: timedelta = timedelta(seconds=30)
    poll: timedelta = timedelta(milliseconds=50)
    # Two counts of records are taken this far apart, and must agree.
    quiet: timedelta = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class New:
    """A record that is to be made.  `parent_id`: below which a look finds it, None: it needs none."""

    draft: Draft = field(repr=False)
    reference: str
    parent_id: str | None

    @property
    def kind(self) -> Kind:
        return kind_of(self.draft)


@dataclass(frozen=True, slots=True)
class Told:
    """A write that is over.  `means` None: no answer came; `word`: the same for the report; `took`: seconds."""

    means: Written | NotSent | None
    word: str
    took: float


@dataclass(slots=True)
class Probe:
    """One run against one account.  `pause` waits so many seconds; `run` tags every record."""

    wired: Wired
    transport: Transport
    clock: Clock
    pause: Callable[[float], None]
    run: str
    patience: Patience = field(default_factory=Patience)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    # Whatever was written, and every id that an answer or a look named: what must be removed at the end.
    written: list[New] = field(default_factory=list)
    made: dict[Kind, set[str]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def reference(self, kind: Kind) -> str:
        """A reference that no record bears yet."""
        return f"intake-probe-{self.run}-{next(self.numbers)}-{kind.value}"

    def note(self, kind: Kind, *crm_ids: str) -> None:
        """These exist, or existed, because of us."""
        with self.lock:
            self.made.setdefault(kind, set()).update(crm_ids)

    def create(self, new: New, *, within: timedelta | None = None, key: str | None = None) -> Told:
        """Write once.  `within`: how long we stay for the answer, None: as usual; `key`: an Idempotency-Key."""
        client = self.wired.client
        request = client.create(new.draft, new.reference)
        with self.lock:
            self.written.append(new)
        own = tuple(each for each in request.headers if each[0] != IDEMPOTENCY_KEY)
        request = replace(request, headers=own + (((IDEMPOTENCY_KEY, key),) if key else ()))
        told = self.write(request, lambda answer: client.created(new.kind, answer), within=within)
        if isinstance(told.means, Confirmed):
            self.note(new.kind, told.means.crm_id)
        return told

    def write(self, request: Request, read: Callable[[Response], Written], *, within: timedelta | None = None) -> Told:
        """Send a request that changes something."""
        began = self.clock()
        deadline = began + (within or self.patience.call).total_seconds()
        sent = self.transport.write(self.wired.account, request, send_by=deadline, deadline=deadline)
        took = self.clock() - began
        match sent:
            case Answered(response):
                means = read(response)
                return Told(means, f"{response.status} {type(means).__name__.lower()}", took)
            case Unanswered(reason):
                return Told(None, f"no answer ({reason})", took)
            case NotSent(reason):
                return Told(sent, f"not sent ({reason})", took)

    def ask(self, request: Request) -> Response | Unsure:
        """A request that changes nothing."""
        deadline = self.clock() + self.patience.call.total_seconds()
        sent = self.transport.look(self.wired.account, request, deadline=deadline)
        return sent.response if isinstance(sent, Answered) else Unsure(sent.reason)

    def find(self, new: New) -> tuple[str, ...]:
        """The ids under its reference."""
        client = self.wired.client
        answer = self.ask(client.find(new.kind, new.reference, parent_id=new.parent_id))
        ids = () if isinstance(answer, Unsure) else ids_of(client.found(new.kind, new.reference, answer))
        self.note(new.kind, *ids)
        return ids

    def read(self, kind: Kind, crm_id: str) -> Looked:
        """By its id."""
        client = self.wired.client
        answer = self.ask(client.read(kind, crm_id))
        return answer if isinstance(answer, Unsure) else client.was_read(kind, crm_id, answer)

    def is_matched(self, draft: ContactDraft) -> bool:
        """Whether the search by phone or e-mail finds this contact."""
        return any(self._matched(draft, request) for request in self.wired.client.matches(draft))

    def _matched(self, draft: ContactDraft, request: Request) -> bool:
        answer = self.ask(request)
        try:
            return not isinstance(answer, Unsure) and bool(self.wired.client.matched(draft, answer))
        except UnreadableAnswer:
            return False

    def until_seen(self, sees: Callable[[], bool]) -> float | None:
        """Seconds until the look that saw it first was asked; None: none within our patience did."""
        began = self.clock()
        while True:
            after = self.clock() - began
            if sees():
                return after
            if after > self.patience.sight.total_seconds():
                return None
            self.pause(self.patience.poll.total_seconds())

    def records_under(self, new: New, *told: Told) -> set[str]:
        """The ids under its reference, also those that answers named, when nothing new comes any more."""
        seen = {each.means.crm_id for each in told if isinstance(each.means, Confirmed)}
        self.until_seen(lambda: bool(self.find(new)))
        self.pause(self.patience.quiet.total_seconds())
        while more := set(self.find(new)) - seen:
            seen |= more
            self.pause(self.patience.quiet.total_seconds())
        return seen


def ids_of(looked: Looked) -> tuple[str, ...]:
    """The ids that a look named."""
    match looked:
        case Found(seen):
            return (seen.crm_id,)
        case Several(crm_ids):
            return crm_ids
        case Absent() | Unsure():
            return ()
