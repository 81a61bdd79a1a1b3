"""What single providers ask of the door: an answer of their own, a key kept out, later states that are no new leads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from intake.app import build
from intake.config import load
from intake.sources import PROVIDERS
from tests import unhurried
from tests.doorway import Doorway, accepted, event, events

SAMPLES = Path(__file__).parent.parent / "contract" / "sources" / "samples"
# The key in Google's samples.
SECRET = "whsec_" + "c29tZS1zZWNyZXQtb2YtdGhpcy1zb3VyY2U="
CONFIG = """
[intake]
public_base_url = "https://intake.example"

[[destinations]]
name = "crm"
client = "sandbox"

[defaults]
destination = "crm"
"""
SOURCES = (
    ("sms", "whatsapp", "twilio", ""),
    ("google", "form", "google_ads", ""),
    ("contact", "form", "cf7", ""),
    ("landing", "form", "elementor", ""),
    ("survey", "form", "typeform", ""),
    ("site", "form", "netlify", ""),
    ("pages", "form", "formstack", ""),
    ("spree", "form", "formspree", ""),
    ("meetings", "form", "calendly", ""),
    ("shop", "quote", "woocommerce", ""),
    ("shop-quotes", "quote", "woocommerce", 'order_policy = "ignore"'),
)


@pytest.fixture
def shop(database_url: str, tmp_path: Path) -> Iterator[Doorway]:
    """A door with a source of each of these providers."""
    tables = (
        f'[[sources]]\nname = "{name}"\nkind = "{kind}"\nprovider = "{provider}"\nsecrets = ["env:S"]\n{more}\n'
        for name, kind, provider, more in SOURCES
    )
    file = tmp_path / "intake.toml"
    file.write_text("\n".join((CONFIG, *tables)), "utf-8")
    settings = load(file, {"S": SECRET}, built_in=PROVIDERS.keys())
    pool = unhurried.door_pool(database_url, size=4)
    try:
        door = unhurried.door(settings, pool)
        yield Doorway(database_url, settings, pool, build(door, hint=lambda: None).test_client())
    finally:
        pool.close()


LEADS = "SELECT content FROM bodies WHERE event_id = %(id)s AND what = 'lead' ORDER BY revision"


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def test_twilio_gets_twiml_with_the_events_in_a_header(shop: Doorway) -> None:
    answer = shop.post("sms", sample("twilio/whatsapp.txt"))
    assert (answer.status_code, answer.mimetype) == (200, "text/xml")
    assert answer.get_data(as_text=True).endswith("<Response></Response>")
    (first,) = json.loads(answer.headers["Intake-Events"])
    assert (first["kind"], first["duplicate"]) == ("whatsapp", False)


def test_twilio_is_told_of_a_duplicate(shop: Doorway) -> None:
    body = sample("twilio/whatsapp.txt")
    first, again = (json.loads(shop.post("sms", body).headers["Intake-Events"])[0] for _ in range(2))
    assert (again["event_id"], again["duplicate"]) == (first["event_id"], True)


def test_refused_twilio_message_is_told_so_in_json(shop: Doorway) -> None:
    answer = shop.post("sms", sample("twilio/whatsapp.txt"), headers={"x-twilio-signature": "AAAA"})
    assert (answer.status_code, answer.get_json()["error"]) == (401, "not_authentic")


def test_key_of_google_is_accepted_and_nowhere_in_the_database(shop: Doorway) -> None:
    event(accepted(shop.post("google", sample("google_ads/lead.json"))))
    kept = shop.rows("SELECT content FROM bodies")
    assert len(kept) > 1
    assert not [row for row in kept if SECRET.encode() in bytes(row["content"])]  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("source", "name", "header"),
    [("site", "netlify/submission.json", "x-webhook-signature"), ("pages", "formstack/form.txt", "x-fs-signature")],
)
def test_signed_form_is_accepted_and_a_changed_one_is_refused(
    shop: Doorway, source: str, name: str, header: str
) -> None:
    body = sample(name)
    signature = shop.signed(source, body)[header]
    event(accepted(shop.post(source, body)))
    assert shop.post(source, body + b" ", headers={header: signature}).status_code == 401


def test_set_up_call_of_a_rest_hook_gets_its_header_back(shop: Doorway) -> None:
    answer = shop.client.post("/hooks/spree", data=b"{}", headers={"X-Hook-Secret": "b537207f20cb"})
    assert (accepted(answer)["ignored"], answer.headers["X-Hook-Secret"]) == (1, "b537207f20cb")
    assert shop.count("receipts") == 0


def test_unsigned_answers_with_the_header_of_a_set_up_call_are_refused(shop: Doorway) -> None:
    answer = shop.client.post(
        "/hooks/spree", json={"email": "ana@example.com"}, headers={"X-Hook-Secret": "b537207f20cb"}
    )
    assert (answer.status_code, "X-Hook-Secret" in answer.headers) == (401, False)


def test_broken_json_of_a_visitor_is_kept_for_a_person(shop: Doorway) -> None:
    answer = shop.post("contact", b'{"name":"Rosa "la" Prueba"}', headers={"content-type": "text/plain"})
    assert accepted(answer)["quarantined"] == 1
    assert shop.count("bodies") == 1


def test_visitor_who_presses_again_is_one_lead(shop: Doorway) -> None:
    tries = [sample(f"elementor/{name}.txt") for name in ("advanced", "advanced_second_try")]
    first, second = (event(accepted(shop.post("landing", body))) for body in tries)
    assert (second["event_id"], second["duplicate"]) == (first["event_id"], True)


def test_unsigned_ping_of_a_shop_is_accepted_and_ignored(shop: Doorway) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded", "x-wc-webhook-signature": ""}
    answer = accepted(shop.post("shop", sample("woocommerce/ping.txt"), headers=headers))
    assert (answer["ignored"], answer["events"]) == (1, [])


@pytest.mark.parametrize(
    ("first", "later"), [("order.json", "order_paid.json"), ("yith_quote.json", "yith_quote_ordered.json")]
)
def test_later_state_of_an_order_is_an_update_and_no_lead(shop: Doorway, first: str, later: str) -> None:
    event(accepted(shop.post("shop", sample(f"woocommerce/{first}"))))
    answer = accepted(shop.post("shop", sample(f"woocommerce/{later}")))
    assert (answer["updates"], answer["conflicts"], events(answer)) == (1, 0, [])
    assert shop.count("deliveries") == 1


def test_paid_order_is_ignored_where_the_source_says_so(shop: Doorway) -> None:
    assert accepted(shop.post("shop-quotes", sample("woocommerce/order_paid.json")))["ignored"] == 1


def meeting(sample_name: str, **payload: object) -> bytes:
    known = json.loads(sample(f"calendly/{sample_name}.json"))
    return json.dumps({**known, "payload": {**known["payload"], **payload}}).encode()


def test_cancellation_of_a_moved_meeting_reaches_the_first_booking(shop: Doorway) -> None:
    first = event(accepted(shop.post("meetings", meeting("created"))))
    accepted(shop.post("meetings", meeting("moved")))
    moved_to = json.loads(meeting("moved"))["payload"]["uri"]
    answer = accepted(shop.post("meetings", meeting("canceled", uri=moved_to, rescheduled=False)))
    told = [json.loads(bytes(row["content"])) for row in shop.rows(LEADS, id=first["event_id"])]  # type: ignore[call-overload]
    assert (answer["updates"], shop.count("events")) == (1, 1)
    assert [dict(lead["answers"]).get("estado de la cita", "")[:9] for lead in told] == ["", "cambiada ", "cancelada"]


def test_moved_meeting_whose_booking_never_came_is_a_lead_once(shop: Doorway) -> None:
    first, again = (event(accepted(shop.post("meetings", meeting("moved")))) for _ in range(2))
    assert (first["duplicate"], again["duplicate"], again["event_id"]) == (False, True, first["event_id"])


def test_partial_response_is_kept_and_the_whole_one_is_the_lead(shop: Doorway) -> None:
    whole = sample("typeform/response.json")
    partial = whole.replace(b'"form_response",', b'"form_response_partial",')
    assert accepted(shop.post("survey", partial))["updates"] == 1
    assert event(accepted(shop.post("survey", whole)))["duplicate"] is False
