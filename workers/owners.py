"""Who gets a new opportunity: the first of the destination's rules that names a user who is still there.

affinity ─ owner of an open opportunity of the contact, else of the contact  ·  assign ─ by product, region, source
round_robin ─ the next of the users        nobody: the CRM decides
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from phonenumbers import NumberParseException, parse, region_code_for_number

from crm_clients.abilities import KnowsUsers
from crm_clients.base import Seen, Unsure
from crm_clients.transport import Answered
from intake.config import Assignment
from intake.lead import Lead
from intake.sources.leaves import folded
from workers import calls, sending
from workers.desk import Desk, Wired
from workers.work import Work

# A flag on the opportunity: somebody should have had it who has left.
OWNER_AWAY: Final = "owner_away"

# How long an answer about a user counts; people do not leave by the minute.
STILL_THERE: Final = timedelta(minutes=5)

COUNTRY_LETTERS: Final = 2


@dataclass(frozen=True, slots=True)
class Chosen:
    """`owner` None: the CRM decides.  `passed_over`: a rule named somebody who has left."""

    owner: str | None
    passed_over: bool = False


def choose(desk: Desk, wired: Wired, work: Work, contact: Seen | None) -> Chosen:
    """The same answer however often the step is taken, unless people change something meanwhile.

    `contact` None: it was made just now, so that nobody speaks with this person yet.
    """
    passed_over = False
    for candidate in _candidates(desk, wired, work, contact):
        if is_there(desk, wired, candidate):
            return Chosen(candidate, passed_over)
        passed_over = True
    return Chosen(None, passed_over)


def _candidates(desk: Desk, wired: Wired, work: Work, contact: Seen | None) -> Iterator[str]:
    rule = wired.destination.owner
    for word in rule.rule:
        match word:
            case "affinity" if contact is not None:
                yield from _affinity(desk, wired, contact)
            case "assign":
                yield from (each.user for each in rule.assign if meets(each, work.source, work.lead))
            case "round_robin" if rule.users:
                # By the need, not by a counter; the others follow, should this one have left.
                first = work.need_id % len(rule.users)
                yield from (*rule.users[first:], *rule.users[:first])
            case _:
                pass


def _affinity(desk: Desk, wired: Wired, contact: Seen) -> Iterator[str]:
    """Who speaks with this person already."""
    listed = calls.opportunities_of(desk, wired, contact.crm_id)
    opportunities: tuple[Seen, ...] = () if listed is None or isinstance(listed, Unsure) else listed
    yield from (each.owner for each in opportunities if each.live and each.closed is not True and each.owner)
    if contact.owner:
        yield contact.owner


# --- by product, region and source ------------------------------------------------------------------------------------


def meets(assignment: Assignment, source: str, lead: Lead) -> bool:
    """Whether a lead meets every condition; words are compared without case and accents."""
    return (
        (assignment.source is None or assignment.source == source)
        and (assignment.product is None or _asks_for(assignment.product, lead))
        and (assignment.region is None or _comes_from(assignment.region, lead))
    )


def _asks_for(product: str, lead: Lead) -> bool:
    named = (lead.enquiry.product or "", *(each.name for each in lead.enquiry.items))
    return any(folded(product) in folded(each) for each in named)


def _comes_from(region: str, lead: Lead) -> bool:
    """A country by the phone, a place by any answer that is this word."""
    if len(region) == COUNTRY_LETTERS and region.isupper():
        return _country(lead) == region
    return any(folded(value) == folded(region) for _, value in lead.answers)


def _country(lead: Lead) -> str | None:
    number = lead.contact.phone.e164 if lead.contact.phone else None
    number = number or (f"+{lead.contact.wa_id}" if lead.contact.wa_id else None)
    try:
        return region_code_for_number(parse(number)) if number else None
    except NumberParseException:
        return None


# --- still there ------------------------------------------------------------------------------------------------------


def is_there(desk: Desk, wired: Wired, owner: str) -> bool:
    """Whether this user may still own records; where the CRM does not tell, yes."""
    known = desk.users.get((wired.destination.name, owner))
    if known is not None and desk.clock() - known[0] < STILL_THERE.total_seconds():
        return known[1]
    told = _ask(desk, wired, owner)
    if told is None:
        return True
    desk.users[wired.destination.name, owner] = (desk.clock(), told)
    return told


def _ask(desk: Desk, wired: Wired, owner: str) -> bool | None:
    client = wired.client
    if not isinstance(client, KnowsUsers):
        return None
    sent = sending.look(desk, wired, client.user(owner), must=True)
    return client.is_there(owner, sent.response) if isinstance(sent, Answered) else None
