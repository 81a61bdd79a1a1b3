"""What an answer's headers say of a day's calls."""

from __future__ import annotations

import pytest

from crm_clients.base import Response
from crm_clients.quotas import Quota, told


@pytest.mark.parametrize(
    ("headers", "quota"),
    [
        # Read on 2026-11-30:
        # https://developer.salesforce.com/docs/atlas.en-us.api_tooling.meta/api_tooling/headers_api_usage.htm
        ({"sforce-limit-info": "api-usage=10018/100000"}, Quota(89_982, 100_000)),
        ({"sforce-limit-info": "api-usage=7/5; per-app-api-usage=1/2(appName=x)"}, Quota(0, 5)),
        ({"x-hubspot-ratelimit-daily": "250000", "x-hubspot-ratelimit-daily-remaining": "249999"},
         Quota(249_999, 250_000)),
        ({"x-api-credits-remaining": "4990"}, Quota(4990, None)),
        ({"x-hubspot-ratelimit-daily": "250000"}, None),
        ({"sforce-limit-info": "api-usage=a/b"}, None),
        ({"x-api-credits-remaining": "9" * 40}, None),
        ({"x-api-credits-remaining": "\u0663"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_a_days_quota_is_read_from_headers(headers: dict[str, str], quota: Quota | None) -> None:
    assert told(Response(200, headers, b"")) == quota
