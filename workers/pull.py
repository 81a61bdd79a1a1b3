"""Asking senders for what their webhooks lost: leads of a Meta page since a time, orders of a shop changed since.

    pull_every, or `intake pull` ─> page after page of what the sender has ─> the same reader, identity and acceptance

Sources: Meta, "Retrieving leads", bulk read (developers.facebook.com/documentation/ads-commerce/marketing-api/guides/
lead-ads/retrieving, 7 Nov 2025); WooCommerce REST API v3, "List all orders" (woocommerce-rest-api-docs @13d6196).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import count
from typing import assert_never

import structlog
from psycopg.rows import scalar_row

from crm_clients.base import Account, Request, Response
from crm_clients.transport import Answered, NotSent, Unanswered
from intake import pulls
from intake.config import Source
from intake.db import transaction
from intake.pulls import Counts, Doorman
from intake.sources.base import Unreadable
from intake.sources.decoding import Json, mapping, read_json, sequence, text
from workers import graph
from workers.desk import Desk

log = structlog.get_logger()

# Who does a pull has it to himself for so long; a longer one may be done twice, which is harmless.
LEASE = timedelta(minutes=15)
# After a failure, unless the source is pulled more often anyway.
AGAIN = timedelta(minutes=5)
REFUSED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
PAGE = 100  # the most that WooCommerce gives at once
TOPIC = {"x-wc-webhook-topic": "order.updated"}


class PullFailed(Exception):
    """Not all could be read.  `reason` is one word for people; what was read before stays accepted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class PullStopped(Exception):
    """This process was told to stop, and asked for no further page.  `counts`: what was read before; it is accepted."""

    def __init__(self, counts: Counts) -> None:
        super().__init__("stopped")
        self.counts = counts


@dataclass(frozen=True, slots=True)
class Pulled:
    """One delivery as the sender would have made it."""

    body: bytes = field(repr=False)
    headers: Mapping[str, str]


# --- by the clock ---------------------------------------------------------------------------------------------------


def pull_due(desk: Desk) -> bool:
    """Do the next pull that is due.  False: none is."""
    sources = {each.name: each for each in desk.settings.sources.values() if each.pull_every}
    if not sources:
        return False
    with transaction(desk.pool) as conn:
        due = pulls.claim(conn, sources=list(sources), lease=LEASE)
    if due is None:
        return False
    source = sources[due.source]
    every = timedelta(minutes=source.pull_every)
    try:
        counts = pull(desk, source, due.since)
    except PullFailed as failed:
        log.warning("pull failed", source=source.name, why=failed.reason)
        with transaction(desk.pool) as conn:
            pulls.fail(conn, due, failure=failed.reason, after=min(AGAIN, every))
        return True
    except PullStopped as stopped:
        log.info("pull stopped", source=source.name, read=stopped.counts.read, new=stopped.counts.new)
        with transaction(desk.pool) as conn:
            pulls.give_back(conn, due)
        return True
    log.info("pulled", source=source.name, read=counts.read, new=counts.new)
    with transaction(desk.pool) as conn:
        pulls.end(conn, due, after=every)
    return True


def pull(desk: Desk, source: Source, since: datetime) -> Counts:
    """Everything that the sender has since then.  Raises PullFailed, PullStopped, psycopg.Error."""
    done = Counts()
    with desk.pool.connection() as conn, conn.cursor(row_factory=scalar_row) as cursor:
        now: datetime | None = cursor.execute("SELECT clock_timestamp()").fetchone()
    doorman = Doorman(desk.settings, source, desk.installation.key, now or datetime.now(UTC))
    try:
        for each in _all(desk, source, since):
            with desk.pool.connection() as conn:
                done = done.plus(doorman.accept(conn, each.body, each.headers))
    except _StopsHere:
        raise PullStopped(done) from None
    return done


class _StopsHere(Exception):
    """No further page is asked for."""


def _may_ask_on(desk: Desk) -> None:
    """Before each page: all that the pages before it held is accepted by then.  Raises _StopsHere."""
    if desk.stopping():
        raise _StopsHere


def _all(desk: Desk, source: Source, since: datetime) -> Iterator[Pulled]:
    match source.provider:
        case "meta_lead_ads":
            return _leads(desk, source, since)
        case "woocommerce":
            return _orders(desk, source, since)
        case _:
            raise PullFailed("not_pulled")


# --- Meta: the leads of each form of a page -------------------------------------------------------------------------


def _leads(desk: Desk, source: Source, since: datetime) -> Iterator[Pulled]:
    there = graph.account(source, source.page_token)
    if there is None:
        raise PullFailed("no_page_token")
    for form in _graph_list(desk, there, "/me/leadgen_forms", (("fields", "id"),)):
        form_id = text(form.get("id")) or ""
        if form_id.isascii() and form_id.isdigit():
            asked = (("fields", "id,created_time"), ("filtering", _after(since)))
            for lead in _graph_list(desk, there, f"/{form_id}/leads", asked):
                created = _seconds(lead)
                if created is None or created >= since.timestamp() - 1:
                    yield Pulled(_as_webhook(form_id, lead, created), {})


def _after(since: datetime) -> str:
    return json.dumps([{"field": "time_created", "operator": "GREATER_THAN", "value": int(since.timestamp())}])


def _as_webhook(form_id: str, lead: dict[str, Json], created: int | None) -> bytes:
    """The delivery that names this lead; its answers are fetched like any other's."""
    value = {"leadgen_id": text(lead.get("id")), "form_id": form_id, "created_time": created}
    changes = [{"field": "leadgen", "value": value}]
    return json.dumps({"object": "page", "entry": [{"id": "0", "changes": changes}]}).encode()


def _seconds(lead: dict[str, Json]) -> int | None:
    try:
        return int(datetime.fromisoformat(text(lead.get("created_time")) or "").timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def _graph_list(desk: Desk, there: Account, path: str, asked: tuple[tuple[str, str], ...]) -> Iterator[dict[str, Json]]:
    """All pages of an edge; the cursor is followed, and never the ready address, in which the token would stand."""
    after: tuple[tuple[str, str], ...] = ()
    while True:
        _may_ask_on(desk)
        read = graph.read(desk, there, Request("GET", path, (*asked, ("limit", str(PAGE)), *after)))
        match read:
            case graph.Got(body):
                page = _json(body)
            case graph.Again(reason):
                raise PullFailed(reason)
            case graph.Locked(by):
                raise PullFailed(f"{by}_refused")
            case graph.Gone():
                raise PullFailed("gone")
            case _:
                assert_never(read)
        if not isinstance(page.get("data"), list):
            raise PullFailed("unreadable")
        yield from (mapping(one) for one in sequence(page.get("data")))
        paging = mapping(page.get("paging"))
        cursor = text(mapping(paging.get("cursors")).get("after"))
        if cursor is None or paging.get("next") is None or after == (("after", cursor),):
            return
        after = (("after", cursor),)


def _json(body: bytes) -> dict[str, Json]:
    try:
        return mapping(read_json(body).value)
    except Unreadable:
        raise PullFailed("unreadable") from None


# --- WooCommerce: orders changed since ------------------------------------------------------------------------------


def _orders(desk: Desk, source: Source, since: datetime) -> Iterator[Pulled]:
    """By id, so that an order that is changed meanwhile shifts nothing out of sight."""
    there = _shop(source)
    asked = (
        ("modified_after", since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")), ("dates_are_gmt", "true"),
        ("orderby", "id"), ("order", "asc"), ("per_page", str(PAGE)),
    )  # fmt: skip
    for number in count(1):
        _may_ask_on(desk)
        response = _asked(desk, there, Request("GET", "/wp-json/wc/v3/orders", (*asked, ("page", str(number)))))
        orders = _list(response.body)
        # Versions before 5.8 do not know `modified_after` and give all that there ever was.
        yield from (Pulled(json.dumps(one).encode(), TOPIC) for one in orders if _is_since(one, since))
        pages = response.headers.get("x-wp-totalpages", "")
        if not orders or (pages.isdigit() and number >= int(pages[:9])):
            return


def _shop(source: Source) -> Account:
    key, secret = source.consumer_key, source.consumer_secret
    if source.shop_url is None or key is None or secret is None or not key.value or not secret.value:
        raise PullFailed("no_consumer_key")
    proof = base64.b64encode(f"{key.value}:{secret.value}".encode()).decode()
    return Account(source.name, source.shop_url, (("Authorization", f"Basic {proof}"),))


def _asked(desk: Desk, there: Account, request: Request) -> Response:
    sent = desk.transport.look(there, request, deadline=desk.clock() + desk.patience.call.total_seconds())
    match sent:
        case Answered(response) if response.status == HTTPStatus.OK:
            return response
        case Answered(response):
            raise PullFailed("key_refused" if response.status in REFUSED else f"status_{response.status}")
        case NotSent(reason) | Unanswered(reason):
            raise PullFailed(reason)
        case _:
            assert_never(sent)


def _list(body: bytes) -> list[dict[str, object]]:
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        raise PullFailed("unreadable") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise PullFailed("unreadable")
    return found


def _is_since(order: dict[str, object], since: datetime) -> bool:
    """By its own time of change, in UTC; one without a readable time is taken."""
    try:
        changed = datetime.fromisoformat(str(order.get("date_modified_gmt"))).replace(tzinfo=UTC)
    except ValueError:
        return True
    return changed >= since - timedelta(seconds=1)
