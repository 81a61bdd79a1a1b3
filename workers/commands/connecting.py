"""`intake crm connect`: the first grant of an account that is connected by OAuth."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import click

from crm_clients import oauth
from crm_clients.base import Request
from crm_clients.oauth import App, NoTokens, Tokens
from intake.cli.group import Finding, Misconfigured
from intake.db import transaction
from workers import calls, grants
from workers.commands.tools import desk
from workers.desk import Desk, Wired

LOOPBACK = {"127.0.0.1", "localhost", "::1"}
PATIENCE = 300  # seconds, for a person at a browser

DONE = "Listo: puede cerrar esta ventana.  Done: you may close this window."


@click.command("connect")
@click.option("--account", required=True, help="The destination, by its name in intake.toml.")
@click.option(
    "--address", "came_back", help="The address to which the browser was sent, where this host cannot listen."
)
def connect(*, account: str, came_back: str | None) -> None:
    """Connect a CRM account by OAuth, or connect it again after its grant was lost.

    Opens nothing by itself: it prints the address that somebody with rights in the CRM opens, and waits for the answer.
    """
    with desk() as tools:
        wired, app = _of(tools, account)
        tokens = _granted(tools, app, came_back)
        _must_be_for(wired, tokens)
        with transaction(tools.pool) as conn:
            grants.connect(conn, account, tokens, grants.seal_of(tools))
        failed = calls.control(tools, wired)
        if failed is not None:
            raise Finding(f"connected, but the CRM does not answer as it should: {failed.reason}")
    click.echo(f"{account} is connected; next: `intake crm check --create --destination {account}`")


def _of(tools: Desk, account: str) -> tuple[Wired, App]:
    """Raises Misconfigured."""
    wired = tools.wired.get(account)
    if wired is None:
        raise Misconfigured(f"there is no open destination “{account}”; there are: {', '.join(tools.wired)}")
    if wired.app is None:
        raise Misconfigured(f"destination {account} has no [destinations.oauth] in intake.toml")
    return wired, wired.app


def _granted(tools: Desk, app: App, came_back: str | None) -> Tokens:
    """Raises Finding, Misconfigured."""
    by_person = app.grant == "authorization_code"
    request = oauth.by_code(app, _code(app, came_back)) if by_person else _alone(app)
    told = grants.ask(tools, app, request)
    if isinstance(told, NoTokens):
        raise Finding(f"the vendor gave no token: {told.reason}")
    return told


def _alone(app: App) -> Request:
    """Raises Misconfigured."""
    try:
        return oauth.without_person(app, now=datetime.now(UTC), nonce=str(uuid4()))
    except ValueError as wrong:
        raise Misconfigured(str(wrong)) from wrong


def _must_be_for(wired: Wired, tokens: Tokens) -> None:
    """A token is used with its own host and no other.  Raises Misconfigured."""
    host = urlsplit(wired.account.base_url).hostname
    if tokens.base is not None and host is not None and tokens.base != host:
        raise Misconfigured(
            f"this grant is for {tokens.base}, and base_url of {wired.destination.name} names {host}: correct base_url,"
            " then connect again"
        )


# --- the code that a person's consent gives ---------------------------------------------------------------------------


def _code(app: App, came_back: str | None) -> str:
    """Raises Finding, Misconfigured."""
    if came_back is not None:
        return _read(came_back, state=None)
    state = secrets.token_urlsafe(24)
    click.echo(f"Open this address as somebody who may connect the account:\n\n{oauth.authorize_address(app, state)}\n")
    there = urlsplit(app.redirect_uri)
    if there.hostname in LOOPBACK and there.scheme == "http" and there.port:
        click.echo(f"waiting at {app.redirect_uri} for up to {PATIENCE // 60} minutes", err=True)
        return _read(_listened(there.port), state=state)
    return _read(click.prompt("Paste the address to which the browser was sent"), state=state)


def _read(address: str, *, state: str | None) -> str:
    """The code in the address that the vendor sent the browser to.  `state` None: another call asked for it."""
    told: Mapping[str, list[str]] = parse_qs(urlsplit(address).query)
    if "error" in told:
        raise Finding(f"the vendor refused: {told['error'][0][:100]}")
    if state is not None and not secrets.compare_digest(told.get("state", [""])[0].encode(), state.encode()):
        raise Finding("this answer belongs to another request (state differs): begin again")
    if "code" not in told:
        raise Finding("this address holds no code")
    return told["code"][0]


def _listened(port: int) -> str:
    """The path and query of the first answer that has a code or an error.  Raises Finding."""
    seen: list[str] = []

    class Once(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # http.server's name
            if "code=" in self.path or "error=" in self.path:
                seen.append(self.path)
            self.send_response(200 if seen else 404)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.end_headers()
            self.wfile.write(DONE.encode() if seen else b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # http.server's name
            """The path holds a code: it is not logged."""

    try:
        server = HTTPServer(("127.0.0.1", port), Once)
    except OSError as error:
        raise Misconfigured(f"port {port} of redirect_uri cannot be used ({error.strerror})") from error
    until = time.monotonic() + PATIENCE
    with server:
        while not seen:
            server.timeout = until - time.monotonic()
            if server.timeout <= 0:
                raise Finding("nobody answered in time: begin again")
            server.handle_request()
    return seen[0]
