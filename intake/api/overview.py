"""What programs may read of the ways in and of the CRM accounts, as the console shows them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from marshmallow import fields

from intake.api.asked import NoQuery
from intake.api.routes import Given, Route
from intake.api.schemas import Answer
from intake.desk import at_door, overview
from intake.desk.overview import Account, Way
from intake.desk.tools import connection, tools


class RefusedSchema(Answer):
    reason = fields.String(required=True)
    number = fields.Integer(required=True)


class SourceSchema(Answer):
    name = fields.String(required=True)
    kind = fields.String(required=True)
    provider = fields.String(required=True)
    url = fields.String(required=True, metadata={"description": "To be registered at its sender."})
    test_url = fields.String(required=True)
    destination = fields.String(required=True)
    status = fields.String(required=True, metadata={"description": "open, closed, disabled or unavailable."})
    paused = fields.Boolean(required=True)
    last_live_at = fields.AwareDateTime(required=True, allow_none=True)
    last_test_at = fields.AwareDateTime(required=True, allow_none=True)
    open_events = fields.Integer(required=True)
    refused = fields.List(fields.Nested(RefusedSchema()), required=True, metadata={"description": "In seven days."})


class SourcesSchema(Answer):
    sources = fields.List(fields.Nested(SourceSchema()), required=True)


class BudgetSchema(Answer):
    bucket = fields.String(required=True)
    milliseconds = fields.Integer(required=True, metadata={"description": "The span that it is counted in."})
    ours = fields.Integer(required=True, metadata={"description": "Calls in it that are ours."})
    left = fields.Integer(required=True)


class AccountSchema(Answer):
    name = fields.String(required=True)
    client = fields.String(required=True)
    mode = fields.String(required=True)
    status = fields.String(required=True, metadata={"description": "open, paused or closed."})
    paused_at = fields.AwareDateTime(required=True, allow_none=True)
    paused_reason = fields.String(required=True, allow_none=True)
    sentinels = fields.Integer(required=True)
    open_events = fields.Integer(required=True)
    verified = fields.Boolean(
        required=True, allow_none=True, metadata={"description": "null: no worker began with it yet."}
    )
    budgets = fields.List(
        fields.Nested(BudgetSchema()), required=True, allow_none=True, metadata={"description": "null: nobody counts."}
    )
    quota_left = fields.Integer(required=True, allow_none=True, metadata={"description": "null: the CRM does not say."})
    quota_of = fields.Integer(required=True, allow_none=True)
    quota_at = fields.AwareDateTime(required=True, allow_none=True)
    measured_at = fields.AwareDateTime(
        required=True, allow_none=True, metadata={"description": "Its last contract probe; null: never."}
    )


class AccountsSchema(Answer):
    accounts = fields.List(fields.Nested(AccountSchema()), required=True)


def sources(given: Given) -> dict[str, object]:
    """Every source of the configuration."""
    del given
    since = tools().midnight - timedelta(days=at_door.DAYS - 1)
    with connection() as conn:
        return {"sources": [_source(each) for each in overview.ways(conn, tools().settings, since=since)]}


def _source(way: Way) -> dict[str, object]:
    return {
        "name": way.source.name,
        "kind": way.source.kind,
        "provider": way.source.provider,
        "url": way.url,
        "test_url": way.test_url,
        "destination": way.source.destination,
        "status": way.status,
        "paused": way.paused,
        "last_live_at": way.last.live,
        "last_test_at": way.last.test,
        "open_events": way.open_events,
        "refused": way.refused,
    }


def accounts(given: Given) -> dict[str, object]:
    """Those that a source delivers to."""
    del given
    with connection() as conn:
        found = overview.accounts(conn, tools().settings, tools().counters)
    return {"accounts": [_account(each) for each in found]}


def _account(account: Account) -> dict[str, object]:
    destination, facts = account.destination, account.facts
    closed = "closed" if destination.closed_because else "open"
    budgets = None if account.budgets is None else [
        {"bucket": each.limit.bucket, "milliseconds": each.limit.milliseconds, "ours": each.limit.ours,
         "left": each.left} for each in account.budgets
    ]  # fmt: skip
    return {
        "name": destination.name,
        "client": destination.client,
        "mode": destination.mode,
        "status": "paused" if account.paused_at else closed,
        "paused_at": account.paused_at,
        "paused_reason": account.paused_reason,
        "sentinels": account.sentinels,
        "open_events": account.open_events,
        "verified": facts.verified if facts else None,
        "budgets": budgets,
        "quota_left": facts.quota_left if facts else None,
        "quota_of": facts.quota_of if facts else None,
        "quota_at": facts.quota_at if facts else None,
        "measured_at": account.measured.at if account.measured else None,
    }


ROUTES: Final = (
    Route("GET", "/sources", "listSources", "The ways in: what to register, when they delivered, what was refused.",
          "see", NoQuery(), SourcesSchema(), sources),
    Route("GET", "/accounts", "listAccounts", "The CRM accounts: their state, and what is left of their limits.",
          "see", NoQuery(), AccountsSchema(), accounts),
)  # fmt: skip
