"""What a shop says later of an order: the opportunity follows it, the adviser is told, and nothing is made twice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from intake.app import build
from intake.receive import Door
from intake.sources import find
from tests.commands import DECIDED, beside, intake
from tests.lab import Json
from tests.simulation.shop import Shop, order, shop
from tests.simulation.world import People, hooked, ledger

EACH_ONCE = {"contact": 1, "opportunity": 1, "task": 1}
TOLD_ONCE = EACH_ONCE | {"note": 1}
PENDING, ACCEPTED = "ywraq-pending", "ywraq-accepted"


@pytest.fixture
def woo(database_url: str, tmp_path: Path) -> Iterator[Shop]:
    with shop(database_url, tmp_path) as made:
        yield made


@pytest.fixture
def environ(woo: Shop, tmp_path: Path) -> Mapping[str, str]:
    return beside(woo.lab, tmp_path)


def quote(hour: int, *, status: str = PENDING, total: str = "29.35", **more: object) -> bytes:
    """A quote of YITH's, as it is at this hour."""
    sold: Json = order(7, changed=f"2026-11-20T{hour}:00:00", status=status, total=total)
    return json.dumps(sold | more).encode()


def first(woo: Shop) -> UUID:
    """The quote as it came first, delivered."""
    event = woo.lab.only_event(woo.lab.post("shop", quote(10)))
    woo.lab.work()
    return event


def later(woo: Shop, body: bytes) -> Json:
    """A later state, delivered; what the shop was answered."""
    answer: Json = woo.lab.post("shop", body).get_json()
    woo.lab.work()
    return answer


def opportunity(woo: Shop) -> Json:
    return People(woo.lab).only("opportunity")


def note(woo: Shop) -> str:
    return str(People(woo.lab).only("note")["text"])


def revisions(woo: Shop, event: UUID) -> int:
    return len(woo.lab.rows("SELECT FROM bodies WHERE event_id = %(id)s AND what = 'lead'", id=event))


def gate(woo: Shop, **rules: str) -> None:
    """Give the shop other rules."""
    sources = woo.lab.settings.sources
    woo.lab.settings = replace(
        woo.lab.settings,
        sources={**sources, "shop": replace(sources["shop"], **rules)},  # type: ignore[arg-type]  # names of its fields
    )
    woo.lab.desk = replace(woo.lab.desk, settings=woo.lab.settings)
    door = Door(woo.lab.settings, woo.lab.pool, now=lambda: datetime.now(UTC), new_id=uuid4)
    woo.lab.door = build(door, hint=lambda: None).test_client()


# --- what an adviser sees -------------------------------------------------------------------------------------------


def test_an_accepted_quote_reaches_the_adviser(woo: Shop) -> None:
    event = first(woo)
    answer = later(woo, quote(11, status=ACCEPTED, total="25.00"))
    assert (answer["updates"], answer["events"]) == (1, [])
    assert (opportunity(woo)["amount"], woo.lab.state(event), ledger(woo.lab)) == ("25.00", "confirmed", TOLD_ONCE)
    assert "cotización aceptada" in str(opportunity(woo)["text"])


def test_the_note_says_what_changed_and_what_was_before(woo: Shop) -> None:
    first(woo)
    later(woo, quote(11, status=ACCEPTED, total="25.00"))
    assert note(woo).splitlines() == [
        "Cotización 7: cambió el 20/11/2026 06:00.",
        "Monto: 25.00 PEN",
        "estado: cotización aceptada (ywraq-accepted)",
        "(antes) Monto: 29.35 PEN",
        "(antes) estado: cotización enviada (ywraq-pending)",
    ]


def test_what_an_adviser_changed_stays_and_the_note_says_so(woo: Shop) -> None:
    first(woo)
    People(woo.lab).edit("opportunity", amount="20.00")
    later(woo, quote(11, status=ACCEPTED, total="25.00"))
    assert (opportunity(woo)["amount"], ledger(woo.lab)) == ("20.00", TOLD_ONCE)
    assert "se dejó como está" in note(woo)


def test_each_later_state_has_its_own_note(woo: Shop) -> None:
    first(woo)
    later(woo, quote(11, status=ACCEPTED))
    later(woo, quote(12, status="processing"))
    assert ledger(woo.lab) == EACH_ONCE | {"note": 2}
    assert "procesando" in str(opportunity(woo)["text"])


def test_before_the_first_state_is_delivered_the_latest_is_and_nothing_is_news(woo: Shop) -> None:
    woo.lab.post("shop", quote(10))
    later(woo, quote(11, status=ACCEPTED, total="25.00"))
    assert (opportunity(woo)["amount"], ledger(woo.lab)) == ("25.00", EACH_ONCE)


def test_a_state_that_comes_while_the_first_is_delivered_is_delivered_next(woo: Shop) -> None:
    event = woo.lab.only_event(woo.lab.post("shop", quote(10)))
    with hooked(woo.lab, {("opportunity.noted", 1): lambda: woo.lab.post("shop", quote(11, total="25.00"))}):
        woo.lab.work()
    assert (opportunity(woo)["amount"], woo.lab.state(event), ledger(woo.lab)) == ("25.00", "confirmed", TOLD_ONCE)


def test_a_state_that_comes_at_the_last_moment_is_delivered_next(woo: Shop) -> None:
    woo.lab.post("shop", quote(10))
    with hooked(woo.lab, {("delivery.before_arrow", 1): lambda: woo.lab.post("shop", quote(11, total="25.00"))}):
        woo.lab.work()
    assert (opportunity(woo)["amount"], ledger(woo.lab)) == ("25.00", TOLD_ONCE)


@pytest.mark.parametrize("boundary", ["note.noted", "opportunity.update.committed"])
def test_a_worker_that_dies_at_it_tells_it_once(woo: Shop, boundary: str) -> None:
    first(woo)
    woo.lab.post("shop", quote(11, total="25.00"))
    with hooked(woo.lab, {(boundary, 1): _die}), pytest.raises(SystemExit):
        woo.lab.work()
    woo.lab.settle()
    assert (opportunity(woo)["amount"], ledger(woo.lab)) == ("25.00", TOLD_ONCE)


def _die() -> None:
    raise SystemExit


# --- order and repetition -------------------------------------------------------------------------------------------


def test_an_older_state_that_comes_late_changes_nothing(woo: Shop) -> None:
    event = first(woo)
    later(woo, quote(12, status=ACCEPTED, total="25.00"))
    later(woo, quote(11, total="27.00"))
    assert (opportunity(woo)["amount"], revisions(woo, event), ledger(woo.lab)) == ("25.00", 2, TOLD_ONCE)


def test_a_state_that_is_told_again_is_no_news(woo: Shop) -> None:
    event = first(woo)
    for _ in range(3):
        later(woo, quote(11, total="25.00"))
    assert (revisions(woo, event), ledger(woo.lab)) == (2, TOLD_ONCE)


def test_a_quote_that_is_again_as_it_was_first_goes_back(woo: Shop) -> None:
    first(woo)
    later(woo, quote(11, total="25.00"))
    later(woo, quote(12))
    assert (opportunity(woo)["amount"], ledger(woo.lab)["note"]) == ("29.35", 2)


def test_the_first_state_sent_again_after_a_later_one_changes_nothing(woo: Shop) -> None:
    event = first(woo)
    later(woo, quote(11, total="25.00"))
    answer = later(woo, quote(10))
    assert [each["duplicate"] for each in answer["events"]] == [True]  # type: ignore[attr-defined]
    assert (opportunity(woo)["amount"], revisions(woo, event)) == ("25.00", 2)


def test_a_change_that_no_adviser_needs_is_none(woo: Shop) -> None:
    event = first(woo)
    later(woo, quote(11, customer_user_agent="another"))
    assert (revisions(woo, event), ledger(woo.lab)) == (1, EACH_ONCE)


# --- people ---------------------------------------------------------------------------------------------------------


def test_where_new_content_is_gated_a_later_state_awaits_approval(woo: Shop, environ: Mapping[str, str]) -> None:
    event = first(woo)
    gate(woo, approval="required")
    later(woo, quote(11, total="25.00"))
    assert (woo.lab.state(event), opportunity(woo)["amount"]) == ("awaiting_approval", "29.35")
    assert intake(environ, "approve", event, *DECIDED).status == 0
    woo.lab.work()
    assert opportunity(woo)["amount"] == "25.00"


def test_what_was_approved_before_it_changed_is_asked_again(woo: Shop, environ: Mapping[str, str]) -> None:
    gate(woo, approval="required")
    event = woo.lab.only_event(woo.lab.post("shop", quote(10)))
    assert intake(environ, "approve", event, *DECIDED).status == 0
    later(woo, quote(11, total="25.00"))
    assert (woo.lab.state(event), woo.lab.delivery(event)["reason"]) == ("awaiting_approval", "content_came")
    assert woo.lab.in_crm("opportunity") == []


def test_what_changed_after_a_worker_took_it_is_asked_again(woo: Shop, environ: Mapping[str, str]) -> None:
    gate(woo, approval="required")
    event = woo.lab.only_event(woo.lab.post("shop", quote(10)))
    assert intake(environ, "approve", event, *DECIDED).status == 0
    with hooked(woo.lab, {("delivery.claimed", 1): lambda: woo.lab.post("shop", quote(11, total="25.00"))}):
        woo.lab.work()
    assert (woo.lab.state(event), woo.lab.delivery(event)["reason"]) == ("awaiting_approval", "content_came")
    assert woo.lab.in_crm("opportunity") == []


def test_a_cancelled_order_is_not_revived_by_its_next_state(woo: Shop, environ: Mapping[str, str]) -> None:
    event = woo.lab.only_event(woo.lab.post("shop", quote(10)))
    assert intake(environ, "settle", event, "cancel", *DECIDED).status == 0
    later(woo, quote(11, total="25.00"))
    assert (woo.lab.state(event), woo.lab.in_crm("opportunity")) == ("cancelled", [])


def test_what_a_person_corrected_stands_and_the_rest_follows_the_shop(woo: Shop, environ: Mapping[str, str]) -> None:
    gate(woo, approval="required")
    event = woo.lab.only_event(woo.lab.post("shop", quote(10)))
    assert intake(environ, "correct", event, "name=Ana Corregida", *DECIDED).status == 0
    later(woo, quote(11, total="25.00"))
    assert intake(environ, "approve", event, *DECIDED).status == 0
    woo.lab.work()
    assert (People(woo.lab).only("contact")["name"], opportunity(woo)["amount"]) == ("Ana Corregida", "25.00")


def test_what_the_shop_changed_since_a_correction_is_newer(woo: Shop, environ: Mapping[str, str]) -> None:
    gate(woo, approval="required")
    event = woo.lab.only_event(woo.lab.post("shop", quote(10)))
    assert intake(environ, "correct", event, "amount=20.00", *DECIDED).status == 0
    later(woo, quote(11, total="25.00"))
    assert intake(environ, "approve", event, *DECIDED).status == 0
    woo.lab.work()
    assert opportunity(woo)["amount"] == "25.00"


# --- news -----------------------------------------------------------------------------------------------------------


def deleted(woo: Shop) -> Json:
    headers = {"x-wc-webhook-topic": "order.deleted"}
    return _post_with(woo, b'{"id":7}', headers)


def _post_with(woo: Shop, body: bytes, headers: Mapping[str, str]) -> Json:
    source = woo.lab.settings.sources["shop"]
    signed = find("woocommerce").sign(
        body, secret=source.secret_values[0], url="", now=datetime.now(UTC), delivery_id="msg_1"
    )
    answer: Json = woo.lab.door.post("/hooks/shop", data=body, headers={**signed, **headers}).get_json()
    woo.lab.work()
    return answer


def test_an_order_that_the_shop_deleted_is_told(woo: Shop) -> None:
    first(woo)
    assert deleted(woo)["updates"] == 1
    assert "estado: eliminado en la tienda" in note(woo)


def test_the_deletion_of_an_order_that_never_came_is_kept_and_nothing_else(woo: Shop) -> None:
    assert (deleted(woo)["updates"], woo.lab.rows("SELECT FROM events")) == (1, [])


def test_a_paid_order_that_the_source_ignores_is_news_of_the_quote_that_stands(woo: Shop) -> None:
    first(woo)
    gate(woo, order_policy="ignore")
    answer = later(woo, quote(11, status="processing"))
    assert (answer["ignored"], answer["updates"]) == (1, 0)
    assert "estado: procesando (processing)" in note(woo)
