"""HMAC-SHA256 over the raw body, as most senders do it: hex or base64, with or without a prefix or a time."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from intake.authenticity.proof import Outgoing, Presented, as_bytes, fresh, mac, same, unix_time
from intake.urlencoded import TooManyFields, pairs

Encoding = Literal["hex", "base64"]


@dataclass(frozen=True, slots=True)
class BodyHmac:
    """`<header>: <prefix><digest>`.  `names` are synonyms; `id_header` is signed behind the body (Framer)."""

    names: tuple[str, ...]
    encoding: Encoding
    prefix: bytes = b""
    id_header: str | None = None

    def proves(self, shown: Presented, secret: str) -> bool:
        signed = shown.body + (shown.header(self.id_header) if self.id_header else b"")
        return same(shown.header(*self.names), self._value(signed, secret))

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:
        own_id = {self.id_header: out.delivery_id} if self.id_header else {}
        signed = out.body + (as_bytes(out.delivery_id) if self.id_header else b"")
        return {self.names[0]: self._value(signed, secret).decode(), **own_id}

    def _value(self, signed: bytes, secret: str) -> bytes:
        return self.prefix + encoded(mac(as_bytes(secret), signed), self.encoding)


@dataclass(frozen=True, slots=True)
class AnyBodyHmac:
    """The digest in whatever header names a signature: dozens of small tools differ in nothing else."""

    encoding: Encoding

    def proves(self, shown: Presented, secret: str) -> bool:
        wanted = encoded(mac(as_bytes(secret), shown.body), self.encoding)
        return any(same(value.removeprefix(b"sha256="), wanted) for value in signatures(shown))

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:
        return {"x-signature-256": encoded(mac(as_bytes(secret), out.body), self.encoding).decode()}


@dataclass(frozen=True, slots=True)
class Timed:
    """`<header>: t=<unix seconds>,<mark>=<hex>` over `t.body`; several marks while a secret is rotated.

    `name` None: whatever header names a signature.  `signed_form` gives what is signed where that is not the body;
    None from it: cannot be signed.
    """

    name: str | None
    mark: str = "v1"
    signed_form: Callable[[bytes], bytes | None] | None = None

    def proves(self, shown: Presented, secret: str) -> bool:
        values = [shown.header(self.name)] if self.name else signatures(shown)
        return any(self._proves(value, shown, secret) for value in values)

    def _proves(self, value: bytes, shown: Presented, secret: str) -> bool:
        parts = [part.strip().partition(b"=") for part in value.split(b",")]
        stamp = next((value for key, _, value in parts if key == b"t"), b"")
        seconds = unix_time(stamp)
        if seconds is None or not fresh(seconds, shown.now):
            return False
        wanted = self._digest(stamp, shown.body, secret)
        return any(same(digest, wanted) for key, _, digest in parts if key == self.mark.encode())

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:
        stamp = str(int(out.now.timestamp()))
        return {
            self.name
            or "x-signature": f"t={stamp},{self.mark}={self._digest(stamp.encode(), out.body, secret).decode()}"
        }

    def _digest(self, stamp: bytes, body: bytes, secret: str) -> bytes:
        signed = self.signed_form(body) if self.signed_form else body
        return b"" if signed is None else encoded(mac(as_bytes(secret), stamp + b"." + signed), "hex")


@dataclass(frozen=True, slots=True)
class Webflow:
    """Hex over `timestamp:body`, the time in its own header, in milliseconds (Webflow, "Working with Webhooks")."""

    def proves(self, shown: Presented, secret: str) -> bool:
        stamp = shown.header("x-webflow-timestamp")
        moment = unix_time(stamp)
        if moment is None or not fresh(_seconds(moment), shown.now):
            return False
        return same(shown.header("x-webflow-signature"), self._digest(stamp, shown.body, secret))

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:
        stamp = str(int(out.now.timestamp() * 1000))
        digest = self._digest(stamp.encode(), out.body, secret).decode()
        return {"x-webflow-timestamp": stamp, "x-webflow-signature": digest}

    def _digest(self, stamp: bytes, body: bytes, secret: str) -> bytes:
        return encoded(mac(as_bytes(secret), stamp + b":" + body), "hex")


def signatures(shown: Presented) -> list[bytes]:
    """The values of all headers that are named after a signature."""
    return [as_bytes(value) for name, value in shown.headers.items() if "signature" in name or "hmac" in name]


def encoded(digest: bytes, encoding: Encoding) -> bytes:
    match encoding:
        case "hex":
            return digest.hex().encode()
        case "base64":
            return base64.b64encode(digest)


def php_json(body: bytes) -> bytes | None:
    """What PHP's `json_encode` makes of the fields of a form body.

    WPForms in FORM format signs that and sends the form (webhooks add-on, src/Process.php).  None: more than flat text.
    """
    try:
        fields = {name.decode(): value.decode() for name, value in pairs(body)}
    except (TooManyFields, UnicodeDecodeError):
        return None
    return json.dumps(fields, separators=(",", ":")).replace("/", "\\/").encode()


def _seconds(moment: int) -> float:
    # Seconds reach twelve digits in the year 5138; anything longer is milliseconds.
    return moment / 1000 if moment >= 10**11 else moment
