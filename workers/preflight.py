"""What an account's CRM tells about it before anything is delivered there, beside credential and sentinels."""

from __future__ import annotations

from collections.abc import Iterator

from crm_clients.abilities import Aim, KnowsUsers, Preflight, Question, Told
from crm_clients.base import Confirmed, Response, Retry
from crm_clients.transport import Answered
from intake.config import Destination
from workers import calls, sending
from workers.desk import Desk, Wired

OWNER_GONE = "name a user who is there, in `owner` of intake.toml"


def tell(desk: Desk, wired: Wired, *, create: bool) -> Iterator[Told]:
    """All that can be told; what the CRM does not tell is left out.  With `create`, what can be made is made."""
    client = wired.client
    if isinstance(client, Preflight):
        for question in client.questions(_aim(wired.destination)):
            yield from _answered(desk, wired, question, create=create)
    if isinstance(client, KnowsUsers):
        yield from _owners(desk, wired, client)


def _aim(destination: Destination) -> Aim:
    return Aim(destination.pipeline, destination.stage, destination.task.type)


def _answered(desk: Desk, wired: Wired, question: Question, *, create: bool) -> tuple[Told, ...]:
    """Asked again after something was made: what counts is what the CRM shows then."""
    told = _ask(desk, wired, question)
    missing = [each.mends for each in told if each.mends is not None]
    if not create or not missing:
        return told
    for request in missing:
        calls.write(desk, wired, request, prepared=desk.clock(), read=_made)
    return _ask(desk, wired, question)


def _ask(desk: Desk, wired: Wired, question: Question) -> tuple[Told, ...]:
    sent = sending.look(desk, wired, question.request)
    return question.read(sent.response) if isinstance(sent, Answered) else ()


def _made(response: Response) -> Confirmed | Retry:
    """What the next look shows counts, and not this."""
    return Confirmed("-") if response.status < 300 else Retry(f"status_{response.status}")  # noqa: PLR2004 - any success


def _owners(desk: Desk, wired: Wired, client: KnowsUsers) -> Iterator[Told]:
    """Every user whom the destination's owner rule names."""
    rule = wired.destination.owner
    for owner in dict.fromkeys((*rule.users, *(each.user for each in rule.assign))):
        sent = sending.look(desk, wired, client.user(owner))
        there = client.is_there(owner, sent.response) if isinstance(sent, Answered) else None
        if there is not None:
            detail = "can own records" if there else "is not there, or may not own records"
            yield Told(f"owner {owner}", ok=there, detail=detail, remedy="" if there else OWNER_GONE)
