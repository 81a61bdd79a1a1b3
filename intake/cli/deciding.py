"""Commands that decide, each with --by and --reason: settle not-applied and cancel, correct, revive, look, approve...

`settle ... applied` reads the record back from the CRM, so it stands in `workers.commands.settling`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Literal
from uuid import UUID

import click

from intake import decisions, item_decisions, queue
from intake.cli import place, releasing
from intake.cli.arguments import decided, event_of, language
from intake.cli.group import Finding
from intake.cli.sentences import finding, say, sentence
from intake.db import Conn
from intake.decisions import Approval, Author, Correction, Refused
from intake.explain import refusal_text
from intake.lead_schema import InvalidCorrection
from intake.permitted import View
from intake.person_arrows import NotAllowed
from intake.quarantine import Corrected
from intake.shown_names import RECORDS, STATES, name


@contextmanager
def deciding() -> Iterator[Conn]:
    """A connection; refusals become sentences and exit status 1, and a hint follows what was decided.

    Raises ConfigError before anything is decided: what follows can be told, then.
    """
    spoken = language()
    try:
        with place.connection() as conn:
            yield conn
    except Refused as refused:
        raise Finding(refusal_text(refused.why, refused.state, spoken)) from refused
    except NotAllowed as refused:
        raise finding("moved", state=state_name(refused.state)) from refused
    except LookupError as missing:
        raise _missing(str(missing)) from missing
    except InvalidCorrection as broken:
        raise Finding("\n".join(f"{field}: {rule}" for field, rule in broken.fields.items())) from broken
    hint()


def _missing(what: str) -> Finding:
    kind, _, number = what.partition(" ")
    return finding("no_item", item=number) if kind == "item" else finding("no_such", what=what)


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
    with deciding() as conn:
        decisions.revive(conn, Author(by, reason), event_of(conn, event).event_id)
    say("revived")


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
    told = {"revision": approved.revision, "fingerprint": approved.fingerprint, "within": wanted.lasts}
    say("approved_within" if wanted.lasts else "approved", **told)


@click.command()
@click.argument("event")
@decided
def decline(*, event: str, by: str, reason: str) -> None:
    """Do not deliver an event that awaits approval."""
    with deciding() as conn:
        found = event_of(conn, event)
        cancel(conn, Author(by, reason), found.event_id, action="decline")


@click.command()
@click.argument("event")
@decided
def look(*, event: str, by: str, reason: str) -> None:
    """Look in the CRM for what is in doubt, now."""
    with deciding() as conn:
        count = decisions.look(conn, Author(by, reason), event_of(conn, event).event_id)
    say("looking", count=count, event=event)


def cancel(conn: Conn, author: Author, event_id: UUID, *, action: Literal["cancel", "decline"] = "cancel") -> None:
    """`settle EVENT cancel`: stop, and say what stands in the CRM already."""
    seen = decisions.cancel(conn, author, event_id, action=action)
    say("cancelled")
    for line in standing(seen):
        click.echo(line)


def standing(seen: View) -> Iterator[str]:
    """What the CRM holds of an event, or may hold."""
    there = [each for each in seen.records if each.crm_id or each.in_doubt]
    for each in there:
        key = "stands" if each.crm_id else "perhaps_stands"
        yield sentence(key, kind=kind_name(each.kind), crm_id=each.crm_id, reference=each.reference)
    if not there:
        yield sentence("nothing_stands")


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
    say("corrected_gated" if gated else "corrected", revision=revision, event=event)


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
    if follows in {"kept", "accepted"}:
        say(f"item_{follows}", item=item_id)
    else:
        say("item_goes_on", item=item_id, state=state_name(follows))


def state_name(state: str | None) -> str:
    """Where a delivery stands, in the language of the configuration."""
    return name(STATES, state, language())


def kind_name(kind: str) -> str:
    """What a record is, in the language of the configuration."""
    return name(RECORDS, kind, language())
