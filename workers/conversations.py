"""A conversation that a restored database has forgotten: its opportunity is looked for before one is opened anew.

The messages may come again in another order, so that another one opens the need, under another reference.  But all
references of a talk begin with its name and tell when they were opened: one whose opener lies within the window is it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from crm_clients.base import Seen, Unsure
from intake import needs
from intake.db import transaction
from intake.deliveries import Claim
from intake.identity import talk_opened_at, talk_stem
from intake.needs import TalkNeed
from workers import calls
from workers.desk import Desk
from workers.pausing import unreachable
from workers.standing import ForPerson, Halt
from workers.work import Work

SUFFIX = "-o"  # of an opportunity's reference, as intake.identity.record_reference makes it


def recall(desk: Desk, held: Claim, work: Work, contact_id: str) -> Work | Halt:
    """The work with the stem under which its need stands in the CRM already, or unchanged if it does not."""
    if not work.talk:
        return work
    with desk.pool.connection() as conn:
        talk = needs.talk_of(conn, held.need_id)
    return _recalled(desk, held, work, contact_id, talk) if talk is not None and talk.forgetful else work


def _recalled(desk: Desk, held: Claim, work: Work, contact_id: str, talk: TalkNeed) -> Work | Halt:
    wired = desk.wired[held.destination]
    listed = calls.opportunities_of(desk, wired, contact_id)
    if listed is None:
        return ForPerson("conversation_unlisted") if talk.before_epoch else work
    if isinstance(listed, Unsure):
        return unreachable(desk, wired, listed.reason)
    stems = _stems(desk, work, talk, listed)
    if len(stems) > 1:
        return ForPerson("conversation_ambiguous")
    if not stems or stems == {work.reference}:
        return work
    (reference,) = stems
    with transaction(desk.pool) as conn:
        needs.rename(conn, held.need_id, reference)
    return replace(work, reference=reference)


def _stems(desk: Desk, work: Work, talk: TalkNeed, listed: tuple[Seen, ...]) -> set[str]:
    stem = talk_stem(work.mode, talk.conversation)
    window = timedelta(hours=_hours(desk, work.source))
    return {
        each.reference.removesuffix(SUFFIX)
        for each in listed
        if each.live
        and each.reference
        and (opened := talk_opened_at(stem, each.reference)) is not None
        and talk.first_at - window <= opened <= talk.last_at + window
    }


def _hours(desk: Desk, source: str) -> int:
    configured = desk.settings.sources.get(source)
    return configured.conversation_hours if configured else 24
