"""Form bodies as `multipart/form-data` (RFC 7578): the fields in them, files left out."""

from __future__ import annotations

from collections.abc import Iterator

from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

from intake.sources.base import Unreadable
from intake.sources.decoding import Decoded, read_pairs
from intake.urlencoded import MAX_FIELDS

MEDIA_TYPE = "multipart/form-data"


def read_multipart(body: bytes, content_type: str) -> Decoded:
    """The fields by name, as `decoding.read_form` gives them.  Raises Unreadable."""
    try:
        boundary = parse_options_header(content_type)[1]["boundary"].encode("ascii")
        return read_pairs(tuple(_fields(body, boundary)))
    except (ValueError, LookupError, HTTPException):
        raise Unreadable("not_multipart", {"body": "must be multipart/form-data with its boundary"}) from None


def opening_boundary(body: bytes) -> str:
    """The boundary by the body's own first line, "" if it is no multipart body."""
    first = body.partition(b"\n")[0].rstrip(b"\r")
    return first[2:].decode("ascii", "replace") if first.startswith(b"--") else ""


def _fields(body: bytes, boundary: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts that are fields.  Raises ValueError and werkzeug's HTTPException."""
    decoder = MultipartDecoder(boundary, max_parts=MAX_FIELDS)
    decoder.receive_data(body)
    decoder.receive_data(None)
    name, parts = None, list[bytes]()
    while not isinstance(event := decoder.next_event(), (Epilogue, NeedData)):
        match event:
            case Field():
                name, parts = event.name, []
            case File():
                name = None
            case Data() if name is not None:
                parts.append(event.data)
                if not event.more_data:
                    yield name.encode("utf-8", "surrogateescape"), b"".join(parts)
            case _:
                pass
