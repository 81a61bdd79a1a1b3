"""Several messages of one conversation as one lead: each in its order with its time, and what is known of the person.

The first work names the person and the need; the others fill what it leaves open.  Another profile name of the same
person changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from zoneinfo import ZoneInfo

from intake.lead import Attribution, Contact, Enquiry, Lead, Media
from workers.work import Work

T = TypeVar("T")


def joined(first: Work, works: Sequence[Work], zone: ZoneInfo) -> Work:
    """One work of all of these, which are in the order in which they were said; `first` is one of them."""
    if len(works) == 1:
        return first
    leads = [first.lead, *(each.lead for each in works if each.event_id != first.event_id)]
    in_order = [each.lead for each in works]
    lead = Lead(
        contact=_contact([each.contact for each in leads]),
        enquiry=_enquiry(works, leads, zone),
        attribution=_attribution([each.attribution for each in leads]),
        consent=_first(each.consent for each in leads),
        answers=tuple(answer for each in in_order for answer in each.answers),
        flags=tuple(dict.fromkeys(flag for each in in_order for flag in each.flags)),
        occurred_at=first.lead.occurred_at,
    )
    return replace(first, lead=lead, files=tuple(file for each in in_order for file in each.enquiry.media))


def moment(work: Work, zone: ZoneInfo) -> str:
    """When it was said, as people here write it: "20/11 15:04", with its year where that is another than it came in."""
    said, came = said_at(work).astimezone(zone), work.received_at.astimezone(zone)
    return said.strftime("%d/%m %H:%M" if said.year == came.year else "%d/%m/%Y %H:%M")


def said_at(work: Work) -> datetime:
    """By the sender's clock, if that is credible (not in the future)."""
    return min(work.lead.occurred_at or work.received_at, work.received_at)


def media_lines(files: Iterable[Media]) -> Iterator[str]:
    """A line for each file that came."""
    return (_file(each) for each in files)


def _file(each: Media) -> str:
    """`intake media` brings it by its reference, as soon as it is here."""
    parts = (f"[{each.kind}]", each.filename, f"guardado: {each.reference}" if each.reference else None)
    return " ".join(part for part in parts if part)


# ---------------------------------------------------------------------------------------------------------------------


def _enquiry(works: Sequence[Work], leads: Sequence[Lead], zone: ZoneInfo) -> Enquiry:
    enquiries = [each.enquiry for each in leads]
    priced = next((each for each in enquiries if each.amount is not None), enquiries[0])
    return Enquiry(
        text="\n".join(_block(each, zone) for each in works),
        product=_first(each.product for each in enquiries),
        amount=priced.amount,
        currency=priced.currency,
        items=tuple(item for each in works for item in each.lead.enquiry.items),
    )


def _block(work: Work, zone: ZoneInfo) -> str:
    """One message: its files stand with its words, so that it can be seen what belongs together."""
    enquiry = work.lead.enquiry
    lines = (*((enquiry.text,) if enquiry.text else ()), *media_lines(enquiry.media))
    return f"{moment(work, zone)} · " + "\n".join(lines)


def _contact(people: Sequence[Contact]) -> Contact:
    return Contact(
        name=_first(each.name for each in people),
        phone=_first(each.phone for each in people),
        email=_first(each.email for each in people),
        company=_first(each.company for each in people),
        document=_first(each.document for each in people),
        wa_id=_first(each.wa_id for each in people),
        bsuid=_first(each.bsuid for each in people),
        username=_first(each.username for each in people),
    )


def _attribution(origins: Sequence[Attribution]) -> Attribution:
    """That of the first message which names any."""
    return next((each for each in origins if each != Attribution()), Attribution())


def _first(values: Iterable[T | None]) -> T | None:
    return next((each for each in values if each is not None), None)
