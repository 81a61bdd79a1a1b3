"""How WhatsApp writes the id and the time of a message."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from intake.sources.decoding import Json, identifier, text

# WhatsApp Web's wrappers send one message under the sender's number and under their hidden id; what follows is the same
# (waha #1627).
WEB_ID = re.compile(r"(?:true|false)_[^_\s]+@(?:c\.us|lid|s\.whatsapp\.net)_([A-Za-z0-9]{6,})(?:_.*)?")


def message_id(message: dict[str, Json]) -> str | None:
    written = identifier(message.get("id"))
    inner = WEB_ID.fullmatch(written or "")
    return inner[1] if inner else written


def moment(stamp: Json) -> datetime | None:
    """Unix seconds as text or number; milliseconds have been seen."""
    written = text(stamp)
    if written is None or not re.fullmatch(r"[0-9]{9,14}", written):
        return None
    seconds = int(written)
    # Seconds have twelve digits from the year 5138 on; anything longer is milliseconds.
    return datetime.fromtimestamp(seconds / 1000 if seconds >= 10**11 else seconds, UTC)
