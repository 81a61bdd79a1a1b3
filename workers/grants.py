"""The account of a request: with a fixed credential, or with the newest token of an OAuth grant.

A token is renewed before it ends, by one process at a time: whoever holds the row's lease.  A refresh token that is
spent twice kills the grant at several vendors, so that nobody else asks meanwhile, and what came back is kept only if
the row is still as it was.  Tokens are kept sealed.

    fresh → use it        about to end → lease ─ renewed → keep, use it
                                               ─ the vendor says it is no more → lost: a person connects it again
                                               ─ no answer → the lease ends by itself; not sent
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from psycopg.rows import class_row

from crm_clients import oauth
from crm_clients.abilities import TakesTokens
from crm_clients.base import Account, Request
from crm_clients.oauth import App, NoTokens, Tokens
from crm_clients.transport import Answered, NotSent
from intake.db import Conn
from intake.sealing import Seal, Sealed
from workers.desk import Desk, Wired

# A token that ends sooner is renewed first: a call, and what it waits for, must be over by then.
MARGIN: Final = timedelta(minutes=2)
# How long one renewal may take before another may try.
LEASE: Final = timedelta(seconds=30)
# A token in memory is compared with the row this often, so that a new grant is soon used.
REMEMBERED: Final = timedelta(seconds=30)
# A refused token is renewed before its time, but not again and again.
DISTRUST_AGAIN: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Grant:
    """A row.  `lasts`: until the token ends, by the database's clock, None: it does not tell."""

    version: int
    access_token: bytes = field(repr=False)
    refresh_token: bytes | None = field(repr=False)
    lasts: timedelta | None
    since_renewed: timedelta
    now: datetime
    lost: bool

    @property
    def fresh(self) -> bool:
        return self.lasts is None or self.lasts > MARGIN


READ = """
    SELECT version, access_token, refresh_token, expires_at - clock_timestamp() AS lasts,
           clock_timestamp() - renewed_at AS since_renewed, clock_timestamp() AS now, lost_at IS NOT NULL AS lost
      FROM crm_grants WHERE destination = %(destination)s
"""


def account(desk: Desk, wired: Wired) -> Account | NotSent:
    """Where a request goes, and as whom; NotSent: there is no token now."""
    if wired.app is None:
        return wired.account
    known = desk.tokens.get(wired.destination.name)
    if known is not None and desk.clock() < known[0]:
        return known[1]
    grant = _read(desk, wired)
    if grant is None or grant.lost:
        return NotSent("grant_missing" if grant is None else "grant_lost")
    if not grant.fresh:
        renewed = _renew(desk, wired, wired.app, grant)
        if isinstance(renewed, NotSent):
            # Another renews it; until it is over, the old one serves.
            return renewed if grant.lasts is None or grant.lasts <= timedelta(0) else _use(desk, wired, grant)
        grant = renewed
    return _use(desk, wired, grant)


def distrust(desk: Desk, wired: Wired) -> None:
    """The CRM refuses the token though its time is not over: renew it at the next call, once in a while."""
    desk.tokens.pop(wired.destination.name, None)
    if wired.app is not None:
        given = {"destination": wired.destination.name, "again": DISTRUST_AGAIN}
        with desk.pool.connection() as conn:
            conn.execute(DISTRUST, given)


DISTRUST = """
    UPDATE crm_grants SET expires_at = clock_timestamp()
     WHERE destination = %(destination)s AND renewed_at < clock_timestamp() - %(again)s
"""


def _read(desk: Desk, wired: Wired) -> Grant | None:
    with desk.pool.connection() as conn, conn.cursor(row_factory=class_row(Grant)) as cursor:
        return cursor.execute(READ, {"destination": wired.destination.name}).fetchone()


def _use(desk: Desk, wired: Wired, grant: Grant) -> Account | NotSent:
    if desk.seal is None or wired.app is None:
        return NotSent("grant_sealed")
    try:
        token = desk.seal.open(bytes(grant.access_token)).decode()
    except Sealed:
        return NotSent("grant_sealed")
    made = _with(wired, wired.app, token)
    lasts = REMEMBERED if grant.lasts is None else min(REMEMBERED, max(timedelta(0), grant.lasts - MARGIN))
    desk.tokens[wired.destination.name] = (desk.clock() + lasts.total_seconds(), made)
    return made


def _with(wired: Wired, app: App, token: str) -> Account:
    if isinstance(wired.client, TakesTokens):
        return wired.client.with_token(wired.account, token)
    headers = (("Authorization", f"{app.vendor.word} {token}"),)
    return replace(wired.account, headers=(*wired.account.headers, *headers))


# --- renewing ---------------------------------------------------------------------------------------------------------

TAKE = """
    UPDATE crm_grants SET leased_until = clock_timestamp() + %(lease)s, lease_token = %(token)s
     WHERE destination = %(destination)s AND version = %(version)s AND lost_at IS NULL
       AND (leased_until IS NULL OR leased_until < clock_timestamp())
"""
KEEP = """
    UPDATE crm_grants
       SET access_token = %(access)s, refresh_token = coalesce(%(refresh)s, refresh_token), version = version + 1,
           expires_at = clock_timestamp() + %(lasts)s::interval, renewed_at = clock_timestamp(),
           leased_until = NULL, lease_token = NULL
     WHERE destination = %(destination)s AND version = %(version)s AND lease_token = %(token)s
"""
LOSE = """
    UPDATE crm_grants SET lost_at = clock_timestamp(), leased_until = NULL, lease_token = NULL
     WHERE destination = %(destination)s AND version = %(version)s AND lease_token = %(token)s
"""
GIVE_UP = """
    UPDATE crm_grants SET leased_until = NULL, lease_token = NULL
     WHERE destination = %(destination)s AND lease_token = %(token)s
"""


def _renew(desk: Desk, wired: Wired, app: App, grant: Grant) -> Grant | NotSent:
    token = uuid4()
    key = {"destination": wired.destination.name, "version": grant.version, "token": token}
    with desk.pool.connection() as conn:
        if conn.execute(TAKE, key | {"lease": LEASE}).rowcount == 0:
            return NotSent("grant_busy")
    desk.at("grant.leased")
    told = _ask(desk, app, grant)
    desk.at("grant.answered")
    with desk.pool.connection() as conn:
        match told:
            case Tokens():
                conn.execute(KEEP, key | sealed(told, seal_of(desk)))
            case NoTokens(lost=True):
                conn.execute(LOSE, key)
            case NoTokens():
                conn.execute(GIVE_UP, key)
    if isinstance(told, NoTokens):
        return NotSent(told.reason)
    return _read(desk, wired) or NotSent("grant_missing")


def _ask(desk: Desk, app: App, grant: Grant) -> Tokens | NoTokens:
    try:
        request = _request(desk, app, grant)
    except (Sealed, ValueError):
        return NoTokens("grant_sealed")
    return ask(desk, app, request)


def _request(desk: Desk, app: App, grant: Grant) -> Request:
    """Raises Sealed, ValueError."""
    if grant.refresh_token is None:
        return oauth.without_person(app, now=grant.now, nonce=str(uuid4()))
    return oauth.by_refresh(app, seal_of(desk).open(bytes(grant.refresh_token)).decode())


def ask(desk: Desk, app: App, request: Request) -> Tokens | NoTokens:
    """One request to the token address.  It is a write: what it spends is spent, whether or not we get the answer."""
    deadline = desk.deadline(desk.patience.call)
    sent = desk.transport.write(app.place, request, send_by=deadline, deadline=deadline)
    return oauth.read(sent.response) if isinstance(sent, Answered) else NoTokens(f"oauth_{sent.reason}")


def seal_of(desk: Desk) -> Seal:
    """What opens tokens.  Raises Sealed."""
    if desk.seal is None:
        raise Sealed("this process has no key")
    return desk.seal


def sealed(tokens: Tokens, seal: Seal) -> dict[str, object]:
    """As they are kept."""
    refresh = None if tokens.refresh is None else seal.close(tokens.refresh.encode())
    return {"access": seal.close(tokens.access.encode()), "refresh": refresh, "lasts": tokens.lasts}


# --- a new grant ------------------------------------------------------------------------------------------------------

CONNECT = """
    INSERT INTO crm_grants (destination, access_token, refresh_token, expires_at)
    VALUES (%(destination)s, %(access)s, %(refresh)s, clock_timestamp() + %(lasts)s::interval)
    ON CONFLICT (destination) DO UPDATE
       SET access_token = EXCLUDED.access_token, refresh_token = EXCLUDED.refresh_token,
           expires_at = EXCLUDED.expires_at, version = crm_grants.version + 1, lost_at = NULL,
           connected_at = clock_timestamp(), renewed_at = clock_timestamp(), leased_until = NULL, lease_token = NULL
"""


def connect(conn: Conn, destination: str, tokens: Tokens, seal: Seal) -> None:
    """Keep the first tokens of a grant, in the place of an earlier one."""
    conn.execute(CONNECT, {"destination": destination} | sealed(tokens, seal))
