"""From checked tables to `Settings`: defaults are merged, secrets looked up, and what is missing is told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import timedelta

from intake.config.document import Document, Table
from intake.config.known import UNSIGNED
from intake.config.secret import Secret
from intake.config.settings import (
    DEFAULT_MEDIA_HOSTS,
    MEDIA_HOSTS,
    MEDIA_URLS,
    SANDBOX,
    Alerts,
    Assignment,
    ContactRule,
    Destination,
    OAuthRule,
    OwnerRule,
    Settings,
    Source,
    TaskRule,
)

Resolve = Callable[[str], Secret]

# What anybody may send is held small; the longest contact form with all its answers has a tenth of this.
UNSIGNED_BODY_BYTES = 64 * 1024


def settings(document: Document, resolve: Resolve, built_in: Collection[str]) -> Settings:
    """The settings of a document without complaints."""
    destinations = [_destination(table, resolve) for table in document.destinations]
    only = destinations[0].name if destinations else SANDBOX
    sources = [_source(document.merged(index), only, resolve, built_in) for index in range(len(document.sources))]
    alerts = _alerts(document.alerts, resolve)
    intake: Table = {**document.intake, "holidays": frozenset(document.intake.get("holidays", ()))}
    return Settings(
        **intake,
        alerts=alerts,
        destinations={one.name: one for one in (Destination(SANDBOX, SANDBOX, mode="test"), *destinations)},
        sources={one.name: one for one in sources},
        notices=(*_destination_notices(destinations), *_source_notices(sources), *_alert_notices(alerts)),
    )


def _alerts(table: Table, resolve: Resolve) -> Alerts:
    read = dict(table)
    for name in ("webhook_url", "smtp_url", "heartbeat_url"):
        if name in read:
            read[name] = resolve(read[name])
    return Alerts(**read)


def _destination(table: Table, resolve: Resolve) -> Destination:
    read = dict(table)
    if "credential" in read:
        read["credential"] = resolve(read["credential"])
    if "assume_limit" in read:
        read["assume_limit"] = timedelta(seconds=read["assume_limit"])
    if "oauth" in read:
        read["oauth"] = _oauth(read["oauth"], resolve)
    owner = dict(read.get("owner", {}))
    owner["assign"] = tuple(Assignment(**each) for each in owner.get("assign", ()))
    read["owner"] = OwnerRule(**owner)
    read["contacts"] = ContactRule(**read.get("contacts", {}))
    read["task"] = TaskRule(**read.get("task", {}))
    return Destination(**read)


def _oauth(table: Table, resolve: Resolve) -> OAuthRule:
    read = dict(table)
    for name in ("client_secret", "key"):
        if name in read:
            read[name] = resolve(read[name])
    return OAuthRule(**read)


def _source(table: Table, only: str, resolve: Resolve, built_in: Collection[str]) -> Source:
    """One source.  `only` is where its events go if nothing is said; with several destinations something is."""
    secrets = tuple(resolve(reference) for reference in table.get("secrets", ()))
    read = {"destination": only, **table, "secrets": secrets}
    if table["provider"] in UNSIGNED:
        read.setdefault("max_body_bytes", UNSIGNED_BODY_BYTES)
    read.setdefault("media_url", MEDIA_URLS.get(table["provider"], ""))
    read.setdefault("media_hosts", MEDIA_HOSTS.get(table["provider"], DEFAULT_MEDIA_HOSTS))
    for name in ("verify_token", "page_token", "media_token", "consumer_key", "consumer_secret"):
        if name in read:
            read[name] = resolve(read[name])
    return Source(
        **read,
        available=table["provider"] in built_in,
        closed_because=_closed_because(secrets),
    )


def _closed_because(secrets: tuple[Secret, ...]) -> str | None:
    """While a secret is rotated one that is there is enough."""
    problems = [secret.problem for secret in secrets if secret.problem]
    return "; ".join(problems) if problems and len(problems) == len(secrets) else None


def _destination_notices(destinations: list[Destination]) -> Iterator[str]:
    for one in destinations:
        if one.closed_because:
            yield f'destination "{one.name}" is closed: {one.closed_because}'


def _source_notices(sources: list[Source]) -> Iterator[str]:
    for one in (each for each in sources if each.enabled):
        if not one.available:
            yield f'source "{one.name}" is not served: this version has no provider "{one.provider}"'
        if one.closed_because:
            yield f'source "{one.name}" is closed: {one.closed_because}'
        else:
            yield from (f'source "{one.name}": {secret.problem}' for secret in one.secrets if secret.problem)
        if one.verify_token and one.verify_token.problem:
            yield f'source "{one.name}" cannot answer a handshake: {one.verify_token.problem}'
        if one.cannot_fetch:
            yield f'source "{one.name}" cannot fetch its leads, which wait: {one.cannot_fetch}'


def _alert_notices(alerts: Alerts) -> Iterator[str]:
    for name, secret in (
        ("webhook", alerts.webhook_url),
        ("e-mail", alerts.smtp_url),
        ("heartbeat", alerts.heartbeat_url),
    ):
        if secret is not None and secret.problem:
            yield f"alerts by {name} are not sent: {secret.problem}"
