"""How long an account asks not to be called, as the headers of any answer tell it.

    Retry-After                     seconds or a date, with 429 and 503 (RFC 9110, 10.2.3)
    x-ratelimit-remaining, -reset   Pipedrive: seconds until the window ends (pipedrive.readme.io/docs/
                                    core-api-concepts-rate-limiting); others: seconds, or seconds since 1970
    x-hubspot-ratelimit-remaining   with -interval-milliseconds (seen live, github.com/mitodl/mitxpro/issues/2652)
    x-api-credits-remaining         Zoho, of a day's credits; when they come back is not told (public notes)

All read on 2026-11-29.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Response

# What is used up is asked again after this at the latest: such a header may mean something else than we read.
LONGEST = timedelta(minutes=1)
SINCE_1970 = 1_000_000_000  # a greater number of seconds is a date

REFUSING = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


def asks_for(response: Response) -> timedelta | None:
    """How long nobody should ask; None: it does not say."""
    asked = answers.retry_after(response) if response.status in REFUSING else None
    if asked is not None:
        return asked
    told = response.headers
    for remaining, lasts in (
        ("x-hubspot-ratelimit-remaining", _milliseconds(told, "x-hubspot-ratelimit-interval-milliseconds")),
        ("x-ratelimit-remaining", _until(told, "x-ratelimit-reset")),
        ("x-api-credits-remaining", LONGEST),
    ):
        if _number(told, remaining) == 0 and lasts is not None:
            return min(lasts, LONGEST)
    return None


def _number(told: Mapping[str, str], name: str) -> int | None:
    written = told.get(name, "").strip()
    return int(written[:18]) if written.isascii() and written.isdigit() else None


def _milliseconds(told: Mapping[str, str], name: str) -> timedelta | None:
    number = _number(told, name)
    return None if number is None else min(timedelta(milliseconds=min(number, 10**9)), LONGEST)


def _until(told: Mapping[str, str], name: str) -> timedelta | None:
    """A date is read against the answer's own, so that our clock and the server's need not agree."""
    number = _number(told, name)
    if number is None:
        return None
    if number < SINCE_1970:
        return min(timedelta(seconds=number), LONGEST)
    try:
        now = parsedate_to_datetime(told.get("date", "")).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return timedelta(seconds=min(max(number - now, 0), LONGEST.total_seconds()))
