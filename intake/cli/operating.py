"""`intake operators`: who may open the console and the API, their tokens, and who saw whose data."""

from __future__ import annotations

import csv
import sys
from datetime import datetime, timedelta

import click

from intake.cli import place
from intake.cli.arguments import Moment
from intake.cli.group import Finding
from intake.cli.output import as_json, print_json, table
from intake.desk import access, tokens
from intake.desk import operators as people
from intake.desk.operators import Secret
from intake.desk.passwords import SHORTEST, Passwords, WeakPassword, invent
from intake.desk.roles import ROLES, SCOPES, Role, Scope
from intake.shown_names import label

WEAK = {
    "too_short": f"must have at least {SHORTEST} characters",
    "too_long": "must have at most 200 characters",
    "like_name": "must not hold the name, nor be one character again and again",
}
MOST_EXPORTED = 1_000_000

with_password = click.option(
    "--password-stdin", "from_stdin", is_flag=True, help="Read it from standard input; else one is made and shown once."
)


@click.group()
def operators() -> None:
    """Who may open the console: `intake operators add ana --role approver`."""


@operators.command("add")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), default="operator", show_default=True, help="What they may do.")
@with_password
def add(*, name: str, role: Role, from_stdin: bool) -> None:
    """Let a person in.  viewer sees, operator decides, approver approves too, admin also pauses and audits."""
    secret = _secret(from_stdin=from_stdin)
    try:
        with place.connection() as conn:
            people.add(conn, Passwords(), name, role, secret)
    except people.BadName as bad:
        raise click.UsageError(str(bad.__doc__)) from bad
    except people.NameTaken:
        raise Finding(f"there is an operator {name} already, or was: names are not given twice") from None
    except WeakPassword as weak:
        raise Finding(f"the password {WEAK[str(weak)]}") from weak
    click.echo(f"{name} is {role}")
    _tell(secret, from_stdin=from_stdin)


def _secret(*, from_stdin: bool) -> Secret:
    if from_stdin:
        return Secret(sys.stdin.readline().rstrip("\r\n"), must_change=False)
    return Secret(invent())


def _tell(secret: Secret, *, from_stdin: bool) -> None:
    if not from_stdin:
        click.echo(f"password: {secret.password}   (shown once; to be changed at the first login)")


@operators.command("reset")
@click.argument("name")
@with_password
def reset(*, name: str, from_stdin: bool) -> None:
    """Give a person another password, end their sessions, and let them try again where they were locked out."""
    secret = _secret(from_stdin=from_stdin)
    try:
        with place.connection() as conn:
            known = people.set_password(conn, Passwords(), name, secret)
    except WeakPassword as weak:
        raise Finding(f"the password {WEAK[str(weak)]}") from weak
    _must_be(known, name)
    click.echo(f"{name} has a new password, and is signed in nowhere")
    _tell(secret, from_stdin=from_stdin)


def _must_be(known: bool, name: str, *, how: str = "") -> None:
    if not known:
        raise Finding(f"there is no operator {name}{how}")


@operators.command("role")
@click.argument("name")
@click.argument("role", type=click.Choice(ROLES))
def role_(*, name: str, role: Role) -> None:
    """Give a person another role, at once."""
    with place.connection() as conn:
        _must_be(people.give_role(conn, name, role), name)
    click.echo(f"{name} is {role}")


@operators.command("disable")
@click.argument("name")
def disable(*, name: str) -> None:
    """Let a person, and the tokens that act for them, in no more.  What they decided keeps their name."""
    with place.connection() as conn:
        _must_be(people.disable(conn, name), name, how=" who may sign in")
    click.echo(f"{name} is disabled, and signed in nowhere")


@operators.command("enable")
@click.argument("name")
def enable(*, name: str) -> None:
    """Let a disabled person in again."""
    with place.connection() as conn:
        _must_be(people.enable(conn, name), name, how=" who is disabled")
    click.echo(f"{name} may sign in")


@operators.command("list")
@as_json
def list_(*, json_wanted: bool) -> None:
    """Everybody, those who are disabled too."""
    with place.connection() as conn:
        found = people.everybody(conn)
    if json_wanted:
        print_json({"operators": found})
        return
    table(
        _labels("name", "role", "since", "disabled_at"),
        [(each.name, each.role, each.made_at, each.disabled_at) for each in found],
    )


# --- tokens ---------------------------------------------------------------------------------------------------------


@operators.group("token")
def token() -> None:
    """Programs that act for an operator by the API."""


@token.command("add")
@click.argument("name")
@click.argument("label")
@click.option("--scope", "scopes", type=click.Choice(SCOPES), multiple=True, default=("read",), show_default=True,
              help="read: masked; data: what leads say; act: decide.  May be given several times.")  # fmt: skip
@click.option(
    "--days", type=click.IntRange(1, tokens.LONGEST.days), default=90, show_default=True, help="How long it counts."
)
def token_add(*, name: str, label: str, scopes: tuple[Scope, ...], days: int) -> None:
    """Make a token of NAME's for a program that LABEL describes.  It is shown once, and counts for --days.

    Scopes: read shows everything masked, data what leads say, act decides.  Give --scope several times for several.
    """
    with place.connection() as conn:
        secret = tokens.add(conn, name, label.strip() or "api", sorted(set(scopes)), timedelta(days=days))
    if secret is None:
        raise Finding(f"there is no operator {name} who may sign in")
    click.echo(secret)


@token.command("list")
@as_json
def token_list(*, json_wanted: bool) -> None:
    """All tokens, without their secrets."""
    with place.connection() as conn:
        found = tokens.listed(conn)
    if json_wanted:
        print_json({"tokens": found})
        return
    table(_labels("token", "operator", "label", "scopes", "expires_at", "used_at", "revoked_at"), [
        (each.token_id, each.operator, each.label, " ".join(each.scopes), each.expires_at, each.used_at,
         each.revoked_at)
        for each in found
    ])  # fmt: skip


@token.command("revoke")
@click.argument("token_id", metavar="TOKEN", type=click.IntRange(1, 2**62))
def token_revoke(*, token_id: int) -> None:
    """Let a token in no more."""
    with place.connection() as conn:
        if not tokens.revoke(conn, token_id):
            raise Finding(f"there is no token {token_id} that counts")
    click.echo(f"token {token_id} is revoked")


# --- who saw what ---------------------------------------------------------------------------------------------------


@operators.command("access")
@click.option("--operator", help="By this person only.")
@click.option("--since", type=Moment(), help="Since then: 2026-11-30T09:00, or 24h.")
@click.option("--csv", "csv_wanted", is_flag=True, help="Print all of it as CSV.")
@as_json
def access_(*, operator: str | None, since: datetime | None, csv_wanted: bool, json_wanted: bool) -> None:
    """Who saw whose personal data, the newest first."""
    limit = MOST_EXPORTED if csv_wanted or json_wanted else 100
    with place.connection() as conn:
        found = access.listed(conn, access.Asked(operator, since=since, limit=limit))
    if json_wanted:
        print_json({"accesses": found})
    elif csv_wanted:
        out = csv.writer(sys.stdout)
        out.writerow(("at", "operator", "via", "what", "event_id"))
        out.writerows((each.at.isoformat(), each.operator, each.via, each.what, each.event_id or "") for each in found)
    else:
        rows = [(each.at, each.operator, each.via, each.what, each.event_id) for each in found]
        table(_labels("at", "operator", "via", "what", "event_id"), rows)


def _labels(*words: str) -> list[str]:
    """Names of columns, in the language of the configuration."""
    return [label(word, place.language()) for word in words]
