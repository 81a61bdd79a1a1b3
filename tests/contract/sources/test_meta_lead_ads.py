"""Lead Ads: ids of leads, whose answers are still at Meta."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from intake.lead import FETCH_PENDING
from intake.sources.base import Unreadable
from intake.sources.meta_lead_ads import MetaLeadAds
from tests.contract.sources.samples_of import SamplesOf

META = SamplesOf("meta_lead_ads")


def test_lead_is_known_by_its_id_and_waits_for_its_answers() -> None:
    event = META.event("one.json")
    assert (event.request_id, event.lead.flags) == ("1001", (FETCH_PENDING,))


def test_ids_are_texts_however_they_come() -> None:
    assert META.event("ids_as_numbers.json").request_id == "9007199254740993"


def test_ad_and_time_are_kept() -> None:
    lead = META.event("one.json").lead
    assert (lead.attribution.ad_id, lead.occurred_at) == ("700", datetime(2026, 3, 2, 15, tzinfo=UTC))


def test_bad_items_are_named_and_the_rest_goes_on() -> None:
    found = META.read("batch_with_bad_items.json")
    assert [event.request_id for event in found.events] == ["1002", "1003"]
    assert [item.reason for item in found.quarantined] == ["lead_without_id", "unreadable_entry"]


@pytest.mark.parametrize("stamp", ["soon", -1, 10**30, "9" * 5000, "²"])
def test_odd_time_is_no_time(stamp: object) -> None:
    body = META.bytes("one.json").replace(b'"created_time": 1772463600', f'"created_time": "{stamp}"'.encode())
    assert META.event(body).lead.occurred_at is None


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"entry": {}}'])
def test_body_of_something_else_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        META.read(body)


def test_handshake_gives_the_challenge_back() -> None:
    query = {"hub.mode": "subscribe", "hub.verify_token": "t", "hub.challenge": "1158201444"}
    assert MetaLeadAds().handshake(query, "t") == "1158201444"
