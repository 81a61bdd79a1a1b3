"""Putting a worker together: settings and environment in, a desk out."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from crm_clients.abilities import FormsAccount
from crm_clients.base import Account, Client
from crm_clients.oauth import VENDORS, App, Vendor
from crm_clients.registry import BadSetting, UnknownClient, build
from crm_clients.transport import Transport
from intake import at_rest, installation, pulls, queue, sealing
from intake.config import Destination, OAuthRule, Process, Settings, load
from intake.db import Conn, Pool, connect, open_pool
from intake.installation import Installation
from intake.sources import PROVIDERS
from workers import facts
from workers.desk import Desk, Wired
from workers.limiter import RedisLimiter, Unlimited
from workers.probe import keeping
from workers.probe.measured import Contract

# Where the sandbox CRM of `intake up` listens; it tells its own processes.
SANDBOX_URL = "INTAKE_SANDBOX_URL"
SANDBOX_TOKEN = "INTAKE_SANDBOX_TOKEN"  # noqa: S105  # the name of a variable
DEFAULT_SANDBOX_URL = "http://127.0.0.1:8090"

# A thread holds a connection for a statement or a few, never over a call.  Where there are fewer than threads it waits
# its turn for so long, in seconds; then it is as if the database were lost.
TURN = 10.0


def settings_of(process: Process, environ: Mapping[str, str]) -> Settings:
    """The configuration file.  Raises ConfigError."""
    return load(process.config, environ, built_in=PROVIDERS.keys())


def unusable(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Destinations that are not closed, and yet cannot be spoken to as they are configured, with the reason."""
    found = {}
    for each in settings.destinations.values():
        try:
            if not each.closed_because:
                wire(each, environ)
        except (UnknownClient, BadSetting, ValueError) as wrong:
            found[each.name] = str(wrong)
    return found


def desk_of(process: Process, settings: Settings, environ: Mapping[str, str], *, without: Collection[str] = ()) -> Desk:
    """A worker's desk, which speaks to all open destinations but those `without`.

    Raises Mismatch where the database is another installation's, Unopenable, psycopg.Error, and what `wire` raises.
    """
    if process.database_url is None:
        raise LookupError("DATABASE_URL is not set")
    # First what can fail for the configuration's sake: nothing is open then.
    opened = [each for each in settings.destinations.values() if not each.closed_because and each.name not in without]
    wired = {each.name: wire(each, environ) for each in opened}
    keeps_files = any(each.media_token for each in settings.sources.values())
    seal = sealing.from_environ(environ) if keeps_files or any(each.app for each in wired.values()) else None
    payloads = at_rest.from_environ(environ)
    # A pool would not say why there is no connection.
    connect(process.database_url, payloads=payloads, environ=environ).close()
    most = min(process.threads + 2, process.connections)
    pool = open_pool(process.database_url, size=most, turn=TURN, payloads=payloads)
    try:
        here = known_installation(pool, process)
        with pool.connection() as conn:
            pulls.plan(conn, settings)
            wired = {name: replace(each, measured=_measured(conn, each)) for name, each in wired.items()}
            for each in wired.values():
                facts.note(conn, each)
    except BaseException:
        pool.close()
        raise
    return Desk(
        pool=pool,
        settings=settings,
        installation=here,
        wired=wired,
        transport=Transport(),
        seal=seal,
        limiter=RedisLimiter(queue.connect(process.redis_url)) if process.redis_url else Unlimited(),
    )


def _measured(conn: Conn, wired: Wired) -> Contract | None:
    """What the contract probe saw of this account last."""
    return keeping.newest(conn, wired.destination.name, wired.client.name)


def known_installation(pool: Pool, process: Process) -> Installation:
    """The database's installation, compared with what this host knows of it.  Raises Mismatch."""
    with pool.connection() as conn:
        found = installation.read(conn)
    installation.check(found, installation.expected(process))
    return found


def wire(destination: Destination, environ: Mapping[str, str] = os.environ) -> Wired:
    """A destination with its client and account.

    Raises UnknownClient, BadSetting, and ValueError for an account without an address or whose credential is malformed.
    """
    client = build(destination.client, destination.options)
    credential = destination.credential.value if destination.credential else None
    base_url = destination.base_url
    if destination.client == "sandbox":
        base_url = base_url or environ.get(SANDBOX_URL) or DEFAULT_SANDBOX_URL
        credential = credential or environ.get(SANDBOX_TOKEN) or "sandbox"
    if base_url is None:
        raise ValueError(f"destinations.{destination.name}: base_url is missing")
    base_url = base_url.rstrip("/")
    if destination.oauth is not None:
        app = app_of(destination, destination.oauth, base_url)
        return Wired(destination, client, Account(destination.name, base_url), app=app)
    return Wired(destination, client, account_of(client, destination.name, base_url, credential))


def app_of(destination: Destination, rule: OAuthRule, base_url: str) -> App:
    """Our registration at the vendor, with its usual addresses where the file names none."""
    vendor = VENDORS.get(destination.client) or Vendor("", "")
    parts = urlsplit(base_url)
    base = f"{parts.scheme}://{parts.netloc}"
    return App(
        vendor=vendor,
        grant=rule.grant,
        authorize_url=rule.authorize_url or vendor.authorize_url.replace("{base}", base),
        token_url=rule.token_url or vendor.token_url.replace("{base}", base),
        redirect_uri=rule.redirect_uri,
        client_id=rule.client_id,
        client_secret=rule.client_secret.value if rule.client_secret else None,
        scopes=rule.scopes,
        key=rule.key.value if rule.key else None,
        subject=rule.subject,
    )


def account_of(client: Client, name: str, base_url: str, credential: str | None) -> Account:
    """The account in the form that the client's CRM wants, by default with a bearer token.  Raises ValueError."""
    if credential is None:
        return Account(name, base_url)
    if isinstance(client, FormsAccount):
        return client.account(name, base_url, credential)
    return Account(name, base_url, (("Authorization", f"Bearer {credential}"),))
