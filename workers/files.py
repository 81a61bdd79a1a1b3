"""Files that came with messages: where one lies is asked of the Graph API, and it is read there, and nowhere else.

    GET /<media id> ─> {"url", "mime_type", "file_size"} ─ one of the sender's own hosts ─> GET url ─> sealed, kept

Source: Meta, "Media" (https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media, Nov 2026): the address
is good for five minutes and wants the same token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import structlog
from psycopg.rows import scalar_row

from crm_clients.base import Request
from intake import fetches, lead_schema, media
from intake.config import Source
from intake.db import Conn
from intake.fetches import Claimed
from intake.media import File
from intake.sources.base import Unreadable
from intake.sources.decoding import decimal, mapping, read_json, text
from workers import graph
from workers.desk import Desk

log = structlog.get_logger()

MEGABYTE = 1024 * 1024
MEDIA_ID = re.compile(r"[A-Za-z0-9_-]{1,200}", re.ASCII)
MIME_TYPE = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,100}", re.ASCII)
UNKNOWN_TYPE = "application/octet-stream"

FileRead = graph.Read | graph.GotFile | graph.Never


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a file lies; `base_url` is one of the source's `media_hosts`."""

    base_url: str
    request: Request = field(repr=False)
    mime_type: str


def read(desk: Desk, held: Claimed, source: Source) -> FileRead:
    """The file of a message."""
    with desk.pool.connection() as conn:
        media_id = _media_id(conn, held)
    there = graph.account(source, source.media_token)
    if there is None:
        return graph.Locked("token")
    if media_id is None:
        return graph.Gone()
    told = graph.read(desk, there, Request("GET", f"/{media_id}"))
    if not isinstance(told, graph.Got):
        return told
    place = _place(source, told.body)
    return _file(desk, source, place) if isinstance(place, _Place) else place


LEAD = "SELECT content FROM bodies WHERE event_id = %(event_id)s AND what = 'lead' AND revision = 1"


def _media_id(conn: Conn, held: Claimed) -> str | None:
    """None: purged, or no id that could be asked for."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        content: bytes | None = cursor.execute(LEAD, {"event_id": held.event_id}).fetchone()
    attached = lead_schema.load(content).enquiry.media if content else ()
    named = attached[0].id if attached else None
    return named if named and MEDIA_ID.fullmatch(named) else None


def _place(source: Source, answer: bytes) -> _Place | graph.Again | graph.Never:
    try:
        told = mapping(read_json(answer).value)
        address = urlsplit(text(told.get("url")) or "")
        # Reading the port may fail, too.
        base_url = f"{address.scheme}://{address.hostname}" + (f":{address.port}" if address.port else "")
    except (Unreadable, ValueError):
        return graph.Again("fetch_unreadable")
    size = decimal(told.get("file_size"))
    if size is not None and size > source.media_megabytes * MEGABYTE:
        return graph.Never("media_too_large")
    if base_url not in source.media_hosts or "@" in address.netloc:
        return graph.Never("media_elsewhere")
    mime_type = (text(told.get("mime_type")) or "").partition(";")[0].strip().lower()
    query = tuple(parse_qsl(address.query, keep_blank_values=True))
    known = mime_type if MIME_TYPE.fullmatch(mime_type) else UNKNOWN_TYPE
    return _Place(base_url, Request("GET", address.path or "/", query), known)


def _file(desk: Desk, source: Source, place: _Place) -> FileRead:
    there = graph.account(source, source.media_token, place.base_url)
    if there is None:
        return graph.Locked("token")
    found = graph.read(desk, there, place.request)
    if not isinstance(found, graph.Got):
        # The address is old by now, and is asked for anew; whether the file is gone, the Graph API says.
        return graph.Again("fetch_address_refused") if isinstance(found, graph.Locked | graph.Gone) else found
    if len(found.body) > source.media_megabytes * MEGABYTE:
        return graph.Never("media_too_large")
    return graph.GotFile(place.mime_type, found.body)


def keep(desk: Desk, conn: Conn, held: Claimed, found: graph.GotFile) -> None:
    """Seal it, and store it with its event."""
    if desk.seal is None:
        fetches.again(conn, held, reason="no_seal", after=desk.patience.lease)
        return
    file = File(found.mime_type, len(found.body), desk.seal.close(found.body))
    if media.keep(conn, held, file):
        log.info("file kept", event_id=str(held.event_id), mime_type=file.mime_type, size=file.size)
