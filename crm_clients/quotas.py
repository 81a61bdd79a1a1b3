"""How many calls an account has left until its day ends, as the headers of any answer tell it.

    x-hubspot-ratelimit-daily, -daily-remaining   HubSpot: of the account's own day (HubSpot's changelog of 2018-11-06;
                                                  answers to OAuth tokens have none)
    sforce-limit-info: api-usage=10018/100000     Salesforce: used, of so many in 24 hours (developer.salesforce.com/
                                                  docs/atlas.en-us.api_tooling.meta/api_tooling/headers_api_usage.htm)
    x-api-credits-remaining                       Zoho: credits; of how many is not told (public notes)

All read on 2026-11-30.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from crm_clients.base import Response

USED_OF: Final = re.compile(r"api-usage=([0-9]{1,12})/([0-9]{1,12})", re.ASCII)
NUMBER: Final = re.compile(r"[0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Quota:
    """`of` None: the CRM does not say."""

    left: int
    of: int | None


def told(response: Response) -> Quota | None:
    """None: it says nothing of it, as most CRMs."""
    headers = response.headers
    used = USED_OF.search(headers.get("sforce-limit-info", ""))
    if used:
        return Quota(max(0, int(used[2]) - int(used[1])), int(used[2]))
    for left, of in (
        ("x-hubspot-ratelimit-daily-remaining", "x-hubspot-ratelimit-daily"),
        ("x-api-credits-remaining", ""),
    ):
        remaining = _number(headers, left)
        if remaining is not None:
            return Quota(remaining, _number(headers, of))
    return None


def _number(headers: Mapping[str, str], name: str) -> int | None:
    found = NUMBER.fullmatch(headers.get(name, "").strip())
    return int(found[0]) if found else None
