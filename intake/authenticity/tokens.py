"""The secret itself, for senders that cannot sign: in a header, in the URL, or in the body."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from intake.authenticity.proof import Outgoing, Presented, as_bytes, same
from intake.urlencoded import TooManyFields, pairs

HEADER = "x-intake-token"


@dataclass(frozen=True, slots=True)
class Token:
    """`X-Intake-Token: <secret>`, or `?token=<secret>` where the tool has only a URL."""

    def proves(self, shown: Presented, secret: str) -> bool:
        wanted = as_bytes(secret)
        in_url = _values(as_bytes(shown.url).partition(b"#")[0].partition(b"?")[2], b"token")
        return any(same(given, wanted) for given in (shown.header(HEADER), *in_url))

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:  # noqa: ARG002
        return {HEADER: secret}


@dataclass(frozen=True, slots=True)
class Bearer:
    """`Authorization: Bearer <secret>` (RFC 6750)."""

    def proves(self, shown: Presented, secret: str) -> bool:
        return same(_credentials(shown, b"bearer"), as_bytes(secret))

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:  # noqa: ARG002
        return {"authorization": f"Bearer {secret}"}


@dataclass(frozen=True, slots=True)
class Basic:
    """`Authorization: Basic` (RFC 7617).  The secret is `user:password`, or the password of any user."""

    def proves(self, shown: Presented, secret: str) -> bool:
        try:
            pair = base64.b64decode(_credentials(shown, b"basic"), validate=True)
        except binascii.Error:
            return False
        wanted = as_bytes(secret)
        return same(pair, wanted) or same(pair.partition(b":")[2], wanted)

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:  # noqa: ARG002
        pair = secret if ":" in secret else f"intake:{secret}"
        return {"authorization": f"Basic {base64.b64encode(as_bytes(pair)).decode()}"}


@dataclass(frozen=True, slots=True)
class BodyKey:
    """The secret under a name in the body: Google Ads' `google_key`, Wufoo's `HandshakeKey`.  It must not be stored."""

    name: str
    form: Literal["json", "urlencoded"]

    def proves(self, shown: Presented, secret: str) -> bool:
        wanted = as_bytes(secret)
        return any(same(given, wanted) for given in self._given(shown.body))

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:  # noqa: ARG002
        return {}

    def _given(self, body: bytes) -> tuple[bytes, ...]:
        match self.form:
            case "json":
                return _json_text(body, self.name)
            case "urlencoded":
                return _values(body, self.name.encode())


@dataclass(frozen=True, slots=True)
class WooPing:
    """WooCommerce's test call: form body `webhook_id=N`, unsigned by design (class-wc-webhook.php, `deliver_ping`)."""

    def proves(self, shown: Presented, secret: str) -> bool:  # noqa: ARG002
        return re.fullmatch(rb"webhook_id=[0-9]{1,19}", shown.body) is not None

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:  # noqa: ARG002
        return {}


def _credentials(shown: Presented, scheme: bytes) -> bytes:
    given, _, credentials = shown.header("authorization").partition(b" ")
    return credentials.strip() if given.lower() == scheme else b""


def _values(form: bytes, name: bytes) -> tuple[bytes, ...]:
    try:
        return tuple(value for key, value in pairs(form) if key == name)
    except TooManyFields:
        return ()


def _json_text(body: bytes, name: str) -> tuple[bytes, ...]:
    try:
        decoded: object = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    value = decoded.get(name) if isinstance(decoded, dict) else None
    return (as_bytes(value),) if isinstance(value, str) else ()
