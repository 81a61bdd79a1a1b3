"""What a CRM says of its limits: on its vendor's page, and in the headers of its answers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from crm_clients import rates
from crm_clients.abilities import CALLS, HasLimits
from crm_clients.base import ContactDraft, Kind, Request, Response
from tests.contract.built import built

DATE = "Sun, 29 Nov 2026 20:00:00 GMT"  # 1795982400 seconds since 1970


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"retry-after": "7"}, 7),
        (503, {"retry-after": "7"}, 7),
        (429, {"retry-after": "Sun, 29 Nov 2026 20:00:09 GMT", "date": DATE}, 9),
        # Pipedrive, core-api-concepts-rate-limiting: the seconds until the window ends.
        (200, {"x-ratelimit-limit": "20", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "2"}, 2),
        (429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1795982405", "date": DATE}, 5),
        # HubSpot, as seen live (mitodl/mitxpro#2652).
        (200, {"x-hubspot-ratelimit-remaining": "0", "x-hubspot-ratelimit-interval-milliseconds": "10000"}, 10),
        (200, {"x-api-credits-remaining": "0"}, 60),
        (200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "86400"}, 60),
    ],
)
def test_an_answer_tells_how_long_nobody_should_ask(status: int, headers: dict[str, str], seconds: int) -> None:
    assert rates.asks_for(Response(status, headers, b"")) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, {}),
        (429, {}),
        (200, {"retry-after": "7"}),
        (200, {"x-ratelimit-remaining": "1", "x-ratelimit-reset": "2"}),
        (200, {"x-ratelimit-remaining": "0"}),
        (200, {"x-ratelimit-remaining": "none", "x-ratelimit-reset": "soon"}),
        (200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1795982405"}),
        (200, {"x-hubspot-ratelimit-remaining": "-1", "x-hubspot-ratelimit-interval-milliseconds": "٣"}),
    ],
)
def test_other_headers_tell_nothing(status: int, headers: dict[str, str]) -> None:
    assert rates.asks_for(Response(status, headers, b"")) is None


@pytest.mark.parametrize("name", ["bitrix24", "hubspot", "kommo", "pipedrive"])
def test_every_request_counts_in_a_bucket_that_has_a_limit(name: str) -> None:
    client = built(name)
    assert isinstance(client, HasLimits)
    draft = ContactDraft("Ana", phone="+51987654321", email="ana@example.com")
    asked = [client.control(), client.find(Kind.CONTACT, "x", parent_id=None), *client.matches(draft)]
    assert {client.bucket(each) for each in asked} <= {each.bucket for each in client.limits()}


@pytest.mark.parametrize("name", ["hubspot", "pipedrive"])
def test_a_search_counts_apart(name: str) -> None:
    client = built(name)
    assert isinstance(client, HasLimits)
    (search,) = client.matches(ContactDraft("Ana", phone="+51987654321"))
    assert (client.bucket(search), client.bucket(Request("GET", "/x"))) == ("search", CALLS)
