"""`intake send`: a correctly signed delivery to the receiver, as the source's own sender would make it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import BinaryIO
from uuid import uuid4

import click
import requests
from rich.progress import Progress

from intake.cli import place
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json, console, print_json
from intake.config import Source
from intake.sources import find

TIMEOUT = 30.0  # seconds, longer than any sender waits
# So many answers are printed one by one; more are counted.
LISTED = 20


@dataclass(frozen=True, slots=True)
class Sent:
    """One answer.  `status` None: there was none, and `error` says why."""

    status: int | None
    answer: Mapping[str, object] = field(default_factory=dict, repr=False)
    error: str | None = None

    @property
    def ok(self) -> bool:
        return self.status is not None and HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def event_ids(self) -> list[str]:
        events = self.answer.get("events")
        return [str(each["event_id"]) for each in events] if isinstance(events, list) else []


@click.command()
@click.argument("source")
@click.argument("file", type=click.File("rb"))
@click.option("--times", type=click.IntRange(1, 1_000_000), default=1, help="Send the same delivery so often.")
@click.option("--parallel", type=click.IntRange(1, 256), default=1, help="So many at a time.")
@click.option("--test", "test_mode", is_flag=True, help="As a test: it never reaches a live CRM.")
@click.option(
    "--id", "delivery_id", help="The sender's id of the delivery, where its provider signs one; else a new one."
)
@click.option("--url", help="Where the receiver is.  Default: http://127.0.0.1:$PORT")
@as_json
def send(  # noqa: PLR0913  # one parameter an option
    *,
    source: str,
    file: BinaryIO,
    times: int,
    parallel: int,
    test_mode: bool,
    delivery_id: str | None,
    url: str | None,
    json_wanted: bool,
) -> None:
    """Sign FILE (- for standard input) as SOURCE's sender does, and deliver it.

    Repeats are the same delivery again, as a sender that got no answer repeats it.
    """
    configured = _source(source)
    path = f"{'/test' if test_mode else ''}/hooks/{configured.name}"
    base = url or f"http://127.0.0.1:{place.process().port}"
    outgoing = Outgoing(
        configured,
        file.read(),
        to=base.rstrip("/") + path,
        signed_url=place.settings().public_base_url + path,
        delivery_id=delivery_id or f"msg_{uuid4().hex}",
    )
    _report(_repeat(partial(_deliver, outgoing), times, parallel, quiet=json_wanted), json_wanted=json_wanted)


def _source(name: str) -> Source:
    settings = place.settings()
    source = settings.sources.get(name)
    if source is None:
        raise Misconfigured(f"there is no source “{name}”; there are: {', '.join(sorted(settings.sources))}")
    if not source.available:
        raise Misconfigured(f"this version has no provider “{source.provider}”")
    if not source.secret_values:
        raise Misconfigured(f"the secret to sign with is missing: {source.closed_because}")
    return source


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What to send, and where.  The signature is over `signed_url`, the address that the receiver knows itself by."""

    source: Source
    body: bytes = field(repr=False)
    to: str
    signed_url: str
    delivery_id: str


def _deliver(outgoing: Outgoing, session: requests.Session) -> Sent:
    """One request, signed now."""
    headers = find(outgoing.source.provider).sign(
        outgoing.body,
        secret=outgoing.source.secret_values[0],
        url=outgoing.signed_url,
        now=datetime.now(UTC),
        delivery_id=outgoing.delivery_id,
    )
    try:
        answer = session.post(
            outgoing.to, data=outgoing.body, headers=dict(headers), timeout=TIMEOUT, allow_redirects=False
        )
    except requests.ConnectionError:
        return Sent(None, error=f"no receiver answers at {outgoing.to}: is `intake up` running?")
    except requests.RequestException as error:
        return Sent(None, error=type(error).__name__)
    try:
        document = answer.json()
    except requests.JSONDecodeError:
        document = {}
    return Sent(answer.status_code, document if isinstance(document, dict) else {})


def _repeat(deliver: Callable[[requests.Session], Sent], times: int, parallel: int, *, quiet: bool) -> list[Sent]:
    """Send so often, on a kept connection for each thread.  A terminal shows how far it got."""
    kept = threading.local()

    def once(_: int) -> Sent:
        if not hasattr(kept, "session"):
            kept.session = requests.Session()
            kept.session.trust_env = False  # A proxy for the world is none for this host.
        return deliver(kept.session)

    hidden = quiet or times <= LISTED
    with Progress(transient=True, disable=hidden, console=console()) as progress, ThreadPoolExecutor(parallel) as pool:
        return list(progress.track(pool.map(once, range(times)), total=times, description="sending"))


def _report(sent: list[Sent], *, json_wanted: bool) -> None:
    statuses = Counter(str(each.status or "no answer") for each in sent)
    events = list(dict.fromkeys(event for each in sent for event in each.event_ids))
    if json_wanted:
        print_json({"sent": len(sent), "statuses": statuses, "distinct": len(events), "event_ids": events, "answers": [
            {"status": each.status, "error": each.error, **each.answer} for each in sent[:LISTED]
        ]})  # fmt: skip
    elif len(sent) <= LISTED:
        for each in sent:
            click.echo(_line(each))
    else:
        click.echo("  ".join(f"{status}: {count}" for status, count in sorted(statuses.items())))
        click.echo(f"{len(events)} different events")
    failed = [each for each in sent if not each.ok]
    if failed:
        why = next((each.error for each in failed if each.error), None)
        raise Finding(why or f"{len(failed)} of {len(sent)} were not accepted")


def _line(sent: Sent) -> str:
    events = sent.answer.get("events")
    if not isinstance(events, list) or not events:
        rest = {name: value for name, value in sent.answer.items() if name != "events" and value}
        return f"{sent.status or 'no answer'}  " + (sent.error or "  ".join(f"{k}={v}" for k, v in rest.items()))
    told = []
    for each in events:
        again = " duplicate" if each.get("duplicate") else " conflict" if each.get("conflict") else ""
        told.append(f"{sent.status}  {each.get('event_id')}  {each.get('kind')} {each.get('state')}{again}")
    return "\n".join(told)
