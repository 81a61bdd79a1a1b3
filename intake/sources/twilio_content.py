"""What a Twilio message says: every message gives a text for the enquiry, and the raw fields of its fingerprint."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from intake.lead import Enquiry, Media
from intake.sources.decoding import Json, text
from intake.sources.whatsapp_content import MEDIA

MEDIA_URL = re.compile(r"MediaUrl([0-9]{1,3})")
# Twilio, "Media subresource" (www.twilio.com/docs/messaging/api/media-resource).
MEDIA_PATH = re.compile(
    r"https://[^/?#]+/2010-04-01/Accounts/(AC[0-9a-zA-Z]{32})/Messages/([A-Z]{2}[0-9a-zA-Z]{32})/Media/(ME[0-9a-zA-Z]{32})",
    re.ASCII,
)
BASE64 = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")
UNREADABLE_KIND = "document"


@dataclass(frozen=True, slots=True)
class Content:
    """One message's own part.  `raw` is the allow-list for the fingerprint."""

    enquiry: Enquiry
    raw: Mapping[str, object] = field(repr=False)
    flags: tuple[str, ...] = ()


def read(message: dict[str, Json]) -> Content:
    body = text(message.get("Body"))
    written = _unwrapped(body) if body else None
    media, place = tuple(_media(message)), _place(message)
    labels = [f"[{MEDIA[one.kind]}]" for one in media] + ([place] if place else [])
    shown = written or body or text(message.get("ButtonText")) or " ".join(labels) or "[mensaje sin texto]"
    raw = {
        "body": body,
        "button": text(message.get("ButtonPayload")),
        "place": [text(message.get(name)) for name in ("Latitude", "Longitude")],
        "media": [one.mime_type for one in media],
    }
    return Content(Enquiry(text=shown, media=media), raw, flags=("text_unwrapped",) if written else ())


def _unwrapped(body: str) -> str | None:
    """The text of a long SMS that came as base64 (courier saw some); None: it is what it says.

    Only words with blanks between them are taken for a text, so that a long code of somebody stays what it is.
    """
    if len(body) % 4 or not BASE64.fullmatch(body):
        return None
    try:
        decoded = base64.b64decode(body, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    told = decoded.strip()
    return told if " " in told and all(char.isprintable() or char in "\r\n\t" for char in told) else None


def _media(message: dict[str, Json]) -> Iterator[Media]:
    """Fetched later by its ids; the count that Twilio gives may be wrong."""
    for name, value in message.items():
        if (match := MEDIA_URL.fullmatch(name)) and (url := text(value)):
            mime_type = text(message.get(f"MediaContentType{match[1]}"))
            yield Media(_kind(mime_type), _media_id(url), mime_type)


def _media_id(url: str) -> str | None:
    """Account, message and file as `AC…/MM…/ME…`; of another address its last part.  No host is taken from outside."""
    named = MEDIA_PATH.fullmatch(url.partition("?")[0].rstrip("/"))
    return "/".join(named.groups()) if named else url.rstrip("/").rpartition("/")[2] or None


def _kind(mime_type: str | None) -> str:
    family = (mime_type or "").partition("/")[0].lower()
    return family if family in ("image", "video", "audio") else UNREADABLE_KIND


def _place(message: dict[str, Json]) -> str | None:
    latitude, longitude = text(message.get("Latitude")), text(message.get("Longitude"))
    if latitude is None or longitude is None:
        return None
    named = [part for part in (text(message.get("Label")), text(message.get("Address"))) if part]
    return f"[ubicación: {', '.join([*named, f'{latitude}, {longitude}'])}]"
