"""The page of a record in a CRM: an address with one place for the record's id."""

from __future__ import annotations

import re
from typing import Final

from intake.config import words

PLACE: Final = "{id}"
HOST: Final = re.compile(r"https?://[^/]+(?=/)")
# What an address never holds as it stands (RFC 3986), braces among them.
FOREIGN: Final = re.compile(r"[^!-~]|[\"<>\\^`{|}]")
RULE: Final = "must be an https:// address with {id} once behind the host, such as https://crm.example.com/deals/{id}"


def read(text: str) -> str:
    """People's browsers open it, so it is encrypted unless it stays on this host.  Raises ValueError."""
    before, place, after = text.partition(PLACE)
    host = HOST.match(before)
    if not place or host is None or FOREIGN.search(before + after):
        raise ValueError(RULE)
    try:
        words.crm_address(host[0])
    except ValueError:
        raise ValueError(RULE) from None
    return text
