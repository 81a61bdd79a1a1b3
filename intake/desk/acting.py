"""One decision about one event, as the console and the API make it.

What needs the CRM's word first (a record that a person names, one that may be gone) is read by a worker; until it has
answered, `NotReadYet` says so, and the decision may simply be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never
from uuid import UUID

from intake import contact_choice, contacts, decided, decisions, remaking, spam
from intake.config import Settings
from intake.db import Conn
from intake.decided import Author
from intake.decisions import Applied, Approval, Correction
from intake.desk import crm_reads
from intake.desk.crm_reads import CrmRead, Wanted
from intake.explain_texts import Action
from intake.permitted import View
from intake.records import RecordKind
from intake.trail import RecordRow

EventDeed = Action | Literal["not spam"]


class NotReadYet(Exception):
    """A worker was asked to read the CRM, and has not answered: nothing was decided; do the same again in a moment."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        super().__init__("the CRM was not read yet")
        self.wanted = tuple(wanted)


class NotInCrm(Exception):
    """Nothing was decided: the CRM does not show what it must.  `why` is a key of NOT_IN_CRM."""

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Wish:
    """What a decision needs besides author and reason; each action looks at its own.

    `crm_id`, `record`, `unverified`: settle.  `fields`: correct.  `revision`, `fingerprint`: approve, the content that
    was seen.
    """

    crm_id: str = ""
    record: RecordKind | None = None
    unverified: bool = False
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)
    revision: int | None = None
    fingerprint: str | None = None


NOTHING = Wish()


@dataclass(frozen=True, slots=True)
class Done:
    """`state` of the event afterwards; `new_event`: the one that was opened by it."""

    state: str
    new_event: UUID | None = None


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides, by which configuration, on which connection.

    `hint` wakes a worker; `patience`: how many seconds a decision may wait for the CRM's word.
    """

    conn: Conn
    settings: Settings
    author: Author
    hint: Callable[[], object]
    patience: float = 0.0

    def act(self, event_id: UUID, deed: EventDeed, wish: Wish = NOTHING) -> Done:
        """Do it.  Raises Refused, NotAllowed, InvalidCorrection, LookupError, NotReadYet, NotInCrm."""
        new = self._do(event_id, deed, wish)
        self.hint()
        return Done(decided.view(self.conn, event_id).event.state, new)

    def _do(self, event_id: UUID, deed: EventDeed, wish: Wish) -> UUID | None:  # noqa: PLR0912  # one case an action
        conn, author = self.conn, self.author
        match deed:
            case "look":
                decisions.look(conn, author, event_id)
            case "settle applied":
                self._settle_applied(event_id, wish)
            case "settle not-applied":
                decisions.settle_not_applied(conn, author, event_id, kind=wish.record)
            case "settle contact":
                self._settle_contact(event_id, wish)
            case "settle note":
                decisions.settle_note(conn, author, event_id)
            case "settle new":
                decisions.settle_new(conn, author, event_id)
            case "correct":
                gated = self._is_gated(event_id)
                decisions.correct(conn, author, event_id, Correction(wish.fields, self.settings.region, gated))
            case "revive":
                decisions.revive(conn, author, event_id)
            case "approve":
                self._approve(event_id, wish)
            case "cancel" | "decline":
                decisions.cancel(conn, author, event_id, action=deed)
            case "redeliver":
                self._redeliver(event_id)
            case "reissue":
                return remaking.reissue(conn, author, event_id, gated=self._is_gated(event_id))
            case "spam":
                spam.mark(conn, author, event_id)
            case "not spam":
                spam.unmark(conn, author, event_id)
            case _:
                assert_never(deed)
        return None

    def _is_gated(self, event_id: UUID) -> bool:
        source = self.settings.sources.get(decided.view(self.conn, event_id).event.source)
        return source is not None and source.approval == "required"

    def _approve(self, event_id: UUID, wish: Wish) -> None:
        source = self.settings.sources.get(decided.view(self.conn, event_id).event.source)
        lasts = source.approval_lasts if source else None
        decisions.approve(self.conn, self.author, event_id, Approval(wish.revision, wish.fingerprint, lasts))

    # --- what the CRM is asked first ---

    def _settle_applied(self, event_id: UUID, wish: Wish) -> None:
        seen = decided.allowed(self.conn, event_id, "settle applied")
        record = decisions.to_settle(seen, wish.record, only_doubtful=False)
        if not wish.unverified:
            (found,) = self._read([Wanted(record.destination, record.kind, wish.crm_id, record.record_id)])
            _must_live(found)
            if found.reference not in contacts.references(self.conn, record.record_id):
                raise NotInCrm("other_reference" if found.reference else "no_reference", found.reference or "")
        applied = Applied(wish.crm_id, verified=not wish.unverified)
        decisions.settle_applied(self.conn, self.author, event_id, record, applied)

    def _settle_contact(self, event_id: UUID, wish: Wish) -> None:
        seen = decided.allowed(self.conn, event_id, "settle contact")
        if not wish.unverified:
            (found,) = self._read([Wanted(seen.destination, "contact", wish.crm_id)])
            _must_live(found)
        contact_choice.settle_contact(self.conn, self.author, event_id, wish.crm_id)

    def _redeliver(self, event_id: UUID) -> None:
        seen = decided.allowed(self.conn, event_id, "redeliver")
        stood = standing(seen)
        found = self._read([_wanted(seen, each) for each in stood])
        for each in found:
            if each.outcome == "unsure":
                raise NotInCrm("unsure", each.reason or "")
        lost = [record for record, read in zip(stood, found, strict=True) if read.outcome != "live"]
        missing = [each for each in seen.records if each.is_missing]
        remaking.redeliver(self.conn, self.author, event_id, [*missing, *lost])

    def _read(self, wanted: Sequence[Wanted]) -> list[CrmRead]:
        """What stands in the CRM, by an answer of the last minutes.  Raises NotReadYet."""
        missing = [each for each in wanted if crm_reads.latest(self.conn, each) is None]
        if missing:
            crm_reads.ask(self.conn, missing)
            self.hint()
        found = crm_reads.answers(self.conn, wanted, within=self.patience)
        if found is None:
            raise NotReadYet(wanted)
        return found


def standing(seen: View) -> list[RecordRow]:
    """The records that a redelivery asks the CRM about."""
    return [each for each in seen.records if each.state in {"known", "gone"} and each.crm_id and not each.is_missing]


def _wanted(seen: View, record: RecordRow) -> Wanted:
    return Wanted(seen.destination, record.kind, record.crm_id or "", record.record_id)


def ask_all(conn: Conn, seen: View) -> list[Wanted]:
    """Have all that is known of an event read from the CRM."""
    wanted = [_wanted(seen, each) for each in standing(seen)]
    crm_reads.ask(conn, wanted)
    return wanted


def _must_live(found: CrmRead) -> None:
    match found.outcome:
        case "live":
            return
        case "dead" | "absent":
            raise NotInCrm(found.outcome)
        case _:
            raise NotInCrm("unsure", found.reason or "")
