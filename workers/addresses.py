"""An address that a sender's service tells, as a request below one of the hosts where its files may lie."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from crm_clients.base import Request

MIME_TYPE = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,100}", re.ASCII)
UNKNOWN_TYPE = "application/octet-stream"
# Whatever it is: a service that also speaks of its files in JSON gives the file itself then.
ANY_TYPE = (("Accept", "*/*"),)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file lies."""

    base_url: str
    request: Request = field(repr=False)


def place(address: str, hosts: Collection[str]) -> Place | None:
    """None: it is at none of these (`https://host`, with a port where it has one), or no address at all."""
    try:
        parts = urlsplit(address)
        # Reading the port may fail, too.
        base_url = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return None
    if base_url not in hosts or "@" in parts.netloc:
        return None
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    return Place(base_url, Request("GET", parts.path or "/", query, headers=ANY_TYPE))


def mime_type(told: str | None) -> str:
    """A media type without its parameters."""
    bare = (told or "").partition(";")[0].strip().lower()
    return bare if MIME_TYPE.fullmatch(bare) else UNKNOWN_TYPE
