"""Files that came with messages: where one lies its sender's service tells, and it is read there, and nowhere else.

    Meta, 360dialog    GET /<media id> ─> {"url", "mime_type", "file_size"} ─> GET url
    Twilio             GET /…/Accounts/<AC>/Messages/<MM>/Media/<ME> ─> the file, or a signed address of its CDN
    ─> sealed, kept; several files of one message as one archive

Source: Meta, "Media" (https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media, Nov 2026): the address
is good for five minutes and wants the same token.
"""

from __future__ import annotations

import io
import mimetypes
import zipfile
from collections.abc import Sequence

import structlog
from psycopg.rows import scalar_row

from intake import fetches, lead_schema, media
from intake.config import Source
from intake.db import Conn
from intake.fetches import Claimed
from intake.lead import Media
from intake.media import File
from workers import graph, graph_files, twilio_files
from workers.desk import Desk
from workers.graph_files import MEGABYTE

log = structlog.get_logger()

ARCHIVE = "application/zip"
FileRead = graph.Read | graph.GotFile | graph.Never


def read(desk: Desk, held: Claimed, source: Source) -> FileRead:
    """The file of a message, or all of them."""
    with desk.pool.connection() as conn:
        attached = _attached(conn, held)
    if source.media_token is None or source.media_token.value is None:
        return graph.Locked("token")
    found: list[graph.GotFile] = []
    for each in attached:
        one = _one(desk, source, each)
        if not isinstance(one, graph.GotFile):
            return one
        found.append(one)
        if sum(len(file.body) for file in found) > source.media_megabytes * MEGABYTE:
            return graph.Never("media_too_large")
    if not found:
        return graph.Gone()
    return found[0] if len(found) == 1 else _archive(found)


def _one(desk: Desk, source: Source, file: Media) -> FileRead:
    match source.provider:
        case "twilio":
            return twilio_files.read(desk, source, file)
        case _:
            return graph_files.read(desk, source, file)


def _archive(files: Sequence[graph.GotFile]) -> graph.GotFile:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number, file in enumerate(files, 1):
            # Photos, recordings and documents are compressed already.
            archive.writestr(f"{number}{mimetypes.guess_extension(file.mime_type) or '.bin'}", file.body)
    return graph.GotFile(ARCHIVE, packed.getvalue())


LEAD = "SELECT content FROM bodies WHERE event_id = %(event_id)s AND what = 'lead' AND revision = 1"


def _attached(conn: Conn, held: Claimed) -> tuple[Media, ...]:
    """(): purged."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        content: bytes | None = cursor.execute(LEAD, {"event_id": held.event_id}).fetchone()
    attached = lead_schema.load(content).enquiry.media if content else ()
    return tuple(each for each in attached if each.reference)


def keep(desk: Desk, conn: Conn, held: Claimed, found: graph.GotFile) -> None:
    """Seal it, and store it with its event."""
    if desk.seal is None:
        fetches.again(conn, held, reason="no_seal", after=desk.patience.lease)
        return
    file = File(found.mime_type, len(found.body), desk.seal.close(found.body))
    if media.keep(conn, held, file):
        log.info("file kept", event_id=str(held.event_id), mime_type=file.mime_type, size=file.size)
