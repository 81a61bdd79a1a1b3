"""Standard Webhooks, and Svix before it had that name: base64 HMAC-SHA256 over `id.timestamp.body`.

Source: standard-webhooks/standard-webhooks, spec/standard-webhooks.md @b2fa7b8.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass

from intake.authenticity.proof import Outgoing, Presented, as_bytes, fresh, mac, same, unix_time

KEY_PREFIX = "whsec_"


@dataclass(frozen=True, slots=True)
class StandardWebhooks:
    """`webhook-signature: v1,<base64> v1,<base64>`: several while the sender rotates.  Other versions are skipped."""

    def proves(self, shown: Presented, secret: str) -> bool:
        return any(self._proves(shown, secret, family) for family in ("webhook", "svix"))

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:
        stamp = str(int(out.now.timestamp()))
        value = self._signature(as_bytes(out.delivery_id), stamp.encode(), out.body, secret).decode()
        return {"webhook-id": out.delivery_id, "webhook-timestamp": stamp, "webhook-signature": f"v1,{value}"}

    def _proves(self, shown: Presented, secret: str, family: str) -> bool:
        message_id, stamp = shown.header(f"{family}-id"), shown.header(f"{family}-timestamp")
        seconds = unix_time(stamp)
        if not message_id or seconds is None or not fresh(seconds, shown.now):
            return False
        wanted = self._signature(message_id, stamp, shown.body, secret)
        # An element without a comma has no version, and is skipped like any unknown version.
        elements = [element.partition(b",") for element in shown.header(f"{family}-signature").split()]
        return any(same(value, wanted) for version, _, value in elements if version == b"v1")

    def _signature(self, message_id: bytes, stamp: bytes, body: bytes, secret: str) -> bytes:
        key = signing_key(secret)
        return base64.b64encode(mac(key, b".".join((message_id, stamp, body)))) if key else b""


def signing_key(secret: str) -> bytes:
    """The key in `whsec_<base64>`, its padding left out or not; b"" (which nothing proves) if that is no base64.

    A secret without the prefix is base64 too by the reference libraries; if it cannot be, it is the key as it stands.
    """
    named = secret.startswith(KEY_PREFIX)
    written = as_bytes(secret.removeprefix(KEY_PREFIX))
    try:
        return base64.b64decode(written + b"=" * (-len(written) % 4 if named else 0), validate=True)
    except binascii.Error:
        return b"" if named else as_bytes(secret)
