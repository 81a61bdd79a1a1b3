"""Commands that decide, each with --by and --reason: settle not-applied and cancel, correct, revive, look, approve...

`settle ... applied` reads the record back from the CRM, so it stands in `workers.commands.settling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Literal
from uuid import UUID

import click

from intake import decisions, item_decisions, queue
from intake.cli import place, releasing
from intake.cli.arguments import decided, event_of, language
from intake.cli.group import Finding
from intake.db import Conn
from intake.decisions import Approval, Author, Correction, Refused
from intake.deliveries import NotAllowed
from intake.explain import refusal_text
from intake.lead_schema import InvalidCorrection
from intake.permitted import View
from intake.quarantine import Corrected


@contextmanager
def deciding() -> Iterator[Conn]:
    """A connection; refusals become sentences and exit status 1, and a hint follows what was decided."""
    try:
        with place.connection() as conn:
            yield conn
    except Refused as refused:
        raise Finding(refusal_text(refused.why, refused.state, language())) from refused
    except NotAllowed as refused:
        raise Finding(str(refused)) from refused
    except LookupError as missing:
        raise Finding(f"there is no {missing}") from missing
    except InvalidCorrection as broken:
        raise Finding("\n".join(f"{field}: {rule}" for field, rule in broken.fields.items())) from broken
    hint()


def hint() -> None:
    """Let a worker see to it at once; where Redis is away the clock does."""
    process = place.process()
    if process.redis_url:
        queue.hint(queue.connect(process.redis_url), at_most=process.workers)


@click.command()
@click.argument("event")
@decided
def revive(*, event: str, by: str, reason: str) -> None:
    """Try an event in review again, from its first unconfirmed step."""
    _decide(event, Author(by, reason), decisions.revive, "received: it is tried again")


@click.command()
@click.argument("event")
@click.option("--revision", type=click.IntRange(1), help="The one that was seen; a newer one refuses the approval.")
@click.option("--fingerprint", help="The content that was seen, as `intake show` names it.")
@decided
def approve(*, event: str, revision: int | None, fingerprint: str | None, by: str, reason: str) -> None:
    """Let an event that awaits approval be delivered: exactly the content that stands there now."""
    settings = place.settings()
    with deciding() as conn:
        found = event_of(conn, event)
        source = settings.sources.get(found.source)
        wanted = Approval(revision, fingerprint, source.approval_lasts if source else None)
        approved = decisions.approve(conn, Author(by, reason), found.event_id, wanted)
    ends = "" if wanted.lasts is None else f", within {wanted.lasts}"
    click.echo(f"received: revision {approved.revision} ({approved.fingerprint}) is delivered now{ends}")


@click.command()
@click.argument("event")
@decided
def decline(*, event: str, by: str, reason: str) -> None:
    """Do not deliver an event that awaits approval."""
    with deciding() as conn:
        found = event_of(conn, event)
        decisions.cancel(conn, Author(by, reason), found.event_id, action="decline")
    click.echo("cancelled")


def _decide(event: str, author: Author, decision: Callable[[Conn, Author, UUID], None], done: str) -> None:
    with deciding() as conn:
        decision(conn, author, event_of(conn, event).event_id)
    click.echo(done)


@click.command()
@click.argument("event")
@decided
def look(*, event: str, by: str, reason: str) -> None:
    """Look in the CRM for what is in doubt, now."""
    with deciding() as conn:
        count = decisions.look(conn, Author(by, reason), event_of(conn, event).event_id)
    click.echo(f"{count} to look for; `intake show {event}` tells what was seen")


def cancel(conn: Conn, author: Author, event_id: UUID) -> None:
    """`settle EVENT cancel`: stop, and say what stands in the CRM already."""
    seen = decisions.cancel(conn, author, event_id)
    click.echo("cancelled")
    for line in standing(seen):
        click.echo(line)


def standing(seen: View) -> Iterator[str]:
    """What the CRM holds of an event, or may hold."""
    for each in seen.records:
        if each.crm_id:
            yield f"in the CRM: {each.kind} {each.crm_id}"
        elif each.in_doubt:
            yield f"perhaps in the CRM: {each.kind} under the reference {each.reference}; it is still looked for"


@click.command()
@click.argument("event")
@click.argument("changes", nargs=-1, required=True, metavar="FIELD=VALUE...")
@decided
def correct(*, event: str, changes: tuple[str, ...], by: str, reason: str) -> None:
    """Deliver an event with other values: name, phone, email, company, document, text, product, amount, currency.

    The original is kept; what stands in the CRM already is not changed.
    """
    pairs = [each.partition("=") for each in changes]
    if not all(mark for _, mark, _ in pairs):
        raise click.UsageError("corrections are given as FIELD=VALUE")
    settings = place.settings()
    with deciding() as conn:
        found = event_of(conn, event)
        source = settings.sources.get(found.source)
        gated = source is not None and source.approval == "required"
        wanted = Correction({name: value for name, _, value in pairs}, settings.region, gated)
        revision = decisions.correct(conn, Author(by, reason), found.event_id, wanted)
    click.echo(f"revision {revision}: {'it awaits approval' if gated else 'it is delivered now'}")


@click.command()
@click.argument("item_id", metavar="ITEM", type=click.IntRange(1, 2**62))
@click.argument("resolution", type=click.Choice(["keep", "accept", "release"]))
@click.option("--body", type=click.File("rb"), help="release: the body as it should have been; the original is kept.")
@click.option("--content-type", help="release: of that file, where it is not the original's.")
@decided
def resolve(  # noqa: PLR0913  # one parameter an option
    *,
    item_id: int,
    resolution: Literal["keep", "accept", "release"],
    body: BinaryIO | None,
    content_type: str | None,
    by: str,
    reason: str,
) -> None:
    """Close an item.

    keep: what stands (a conflict).  accept: it was seen to (an incident).  release: read it again, and accept what is
    in it (quarantine).
    """
    if body is not None and resolution != "release":
        raise click.UsageError("--body goes with release")
    corrected = Corrected(body.read(), content_type) if body is not None else None
    with deciding() as conn:
        if resolution == "release":
            releasing.release(conn, item_id, corrected, by=by, reason=reason)
            return
        follows = item_decisions.resolve(conn, Author(by, reason), item_id, resolution, place.settings())
    click.echo(f"item {item_id} is closed: {follows}")
