"""A file of WhatsApp: the service tells where it lies, at Meta's own host, and gives it to whoever has the token.

360dialog speaks the same under its own host, which stands in the place of Meta's in the address that it tells, and
wants its key in a header of its own.
Source: docs.360dialog.com, "Upload, retrieve or delete media".
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from crm_clients.base import Account, Request
from intake.config import Source
from intake.lead import Media
from intake.sources.base import Unreadable
from intake.sources.decoding import decimal, mapping, read_json, text
from workers import graph
from workers.addresses import Place, mime_type, place
from workers.desk import Desk

DIALOG360 = "whatsapp_360dialog"
MEGABYTE = 1024 * 1024
MEDIA_ID = re.compile(r"[A-Za-z0-9_-]{1,200}", re.ASCII)


def read(desk: Desk, source: Source, file: Media) -> graph.Read | graph.GotFile | graph.Never:
    """The file that has this id."""
    there = _account(source, source.media_url or source.graph_url)
    if there is None:
        return graph.Locked("token")
    if not file.id or not MEDIA_ID.fullmatch(file.id):
        return graph.Gone()
    told = graph.read(desk, there, Request("GET", f"/{file.id}"))
    return _file(desk, source, told.body) if isinstance(told, graph.Got) else told


def _account(source: Source, base_url: str) -> Account | None:
    if source.provider != DIALOG360:
        return graph.account(source, source.media_token, base_url)
    key = source.media_token.value if source.media_token else None
    return Account(source.name, base_url, (("D360-API-KEY", key),)) if key else None


def _file(desk: Desk, source: Source, answer: bytes) -> graph.Read | graph.GotFile | graph.Never:
    try:
        told = mapping(read_json(answer).value)
    except Unreadable:
        return graph.Again("fetch_unreadable")
    size, address = decimal(told.get("file_size")), text(told.get("url")) or ""
    if size is not None and size > source.media_megabytes * MEGABYTE:
        return graph.Never("media_too_large")
    lies = _place(source, address)
    if lies is None:
        return graph.Never("media_elsewhere") if _is_address(address) else graph.Again("fetch_unreadable")
    there = _account(source, lies.base_url)
    if there is None:
        return graph.Locked("token")
    found = graph.read(desk, there, lies.request)
    if not isinstance(found, graph.Got):
        # The address is old by now, and is asked for anew; whether the file is gone, the first answer says.
        return graph.Again("fetch_address_refused") if isinstance(found, graph.Locked | graph.Gone) else found
    return graph.GotFile(mime_type(text(told.get("mime_type"))), found.body)


def _place(source: Source, address: str) -> Place | None:
    """360dialog's key opens nothing at Meta's, and goes to no other host than 360dialog's own."""
    if source.provider != DIALOG360:
        return place(address, source.media_hosts)
    found = place(address, (*source.media_hosts, source.media_url))
    return Place(source.media_url, found.request) if found else None


def _is_address(address: str) -> bool:
    try:
        return bool(urlsplit(address).scheme)
    except ValueError:
        return False
