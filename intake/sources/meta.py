"""What Meta's webhooks have in common, whatever they tell."""

from __future__ import annotations

import hmac
from collections.abc import Mapping


def handshake(query: Mapping[str, str], verify_token: str | None) -> str | None:
    """Meta's check of the callback URL: the challenge comes back byte for byte, as plain text; None: refused.

    Source: Meta, "Create a webhook endpoint" (7 Nov 2025).
    """
    given = query.get("hub.verify_token", "").encode("utf-8", "backslashreplace")
    wanted = (verify_token or "").encode("utf-8", "backslashreplace")
    trusted = bool(wanted) and hmac.compare_digest(given, wanted)
    return query.get("hub.challenge") if trusted and query.get("hub.mode") == "subscribe" else None
