"""WPForms: choices, ids that are none, and a signature over something else than the body."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime

from intake.authenticity import verify
from tests.contract.sources.samples_of import SamplesOf

WPFORMS = SamplesOf("wpforms")
NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)


def test_choices_are_listed() -> None:
    assert WPFORMS.event("fields.json").lead.enquiry.product == "Sillas, Mesas"


def test_mapped_entry_is_identity() -> None:
    assert WPFORMS.event("mapped_entry.json").request_id == "12:345"


def test_entry_that_is_not_stored_is_no_identity() -> None:
    assert WPFORMS.event("entries_not_stored.json").request_id is None


def test_form_and_json_are_read_alike() -> None:
    form, fields = WPFORMS.event("form.txt").lead, WPFORMS.event("fields.json").lead
    assert (form.contact.phone, form.enquiry.product) == (fields.contact.phone, fields.enquiry.product)


def test_form_signed_over_the_json_of_its_fields_is_authentic() -> None:
    signed = json.dumps({"nombre": "Rosa Ñahui", "web": "a/b"}, separators=(",", ":")).replace("/", "\\/")
    digest = hmac.new(b"s", f"{int(NOW.timestamp())}.{signed}".encode(), hashlib.sha256).hexdigest()
    header = {"X-WPForms-Webhook-Signature": f"t={int(NOW.timestamp())},v={digest}"}
    verify("wpforms", secrets=("s",), headers=header, body=b"nombre=Rosa+%C3%91ahui&web=a%2Fb", url="", now=NOW)
