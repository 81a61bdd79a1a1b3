"""Twilio: base64 HMAC-SHA1 over the public URL and the sorted parameters.

Source: twilio/twilio-python, twilio/request_validator.py @306691e79.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit, urlunsplit

from intake.authenticity.proof import Outgoing, Presented, as_bytes, mac, same
from intake.urlencoded import TooManyFields, pairs

HEADER = "x-twilio-signature"
STANDARD_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Twilio:
    """Form bodies are signed field by field; other bodies only by a hash in the URL, so both are checked."""

    def proves(self, shown: Presented, secret: str) -> bool:
        given, urls = shown.header(HEADER), _spellings(shown.url)
        texts = [*_form_texts(urls, shown.body), *_hashed_texts(urls, shown.body)]
        return any(same(given, self._signature(text, secret)) for text in texts)

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:
        texts = _form_texts((out.url,), out.body)
        return {HEADER: self._signature(texts[0], secret).decode()} if texts else {}

    def _signature(self, text: bytes, secret: str) -> bytes:
        # SHA-1 is Twilio's choice, and sound inside an HMAC.
        return base64.b64encode(mac(as_bytes(secret), text, "sha1"))


def _form_texts(urls: tuple[str, ...], body: bytes) -> list[bytes]:
    """Names sorted; the values of a repeated name without doubles, sorted too."""
    try:
        fields = sorted(set(pairs(body)))
    except TooManyFields:
        return []
    # A body of which no field is read would be bound by nothing.
    if body and not fields:
        return []
    return [as_bytes(url) + b"".join(name + value for name, value in fields) for url in urls]


def _hashed_texts(urls: tuple[str, ...], body: bytes) -> list[bytes]:
    claim = b"bodySHA256=" + hashlib.sha256(body).hexdigest().encode()
    return [as_bytes(url) for url in urls if claim in as_bytes(url).partition(b"?")[2].split(b"&")]


def _spellings(url: str) -> tuple[str, ...]:
    """The URL as it is, without its port, and with its scheme's own: Twilio's servers do not agree on them."""
    try:
        parts = urlsplit(url)
        port, standard = parts.port, STANDARD_PORTS.get(parts.scheme)
    except ValueError:
        return (url,)
    if port is not None:
        return (url, _with_authority(parts, parts.netloc.removesuffix(f":{port}")))
    return (url,) if standard is None else (url, _with_authority(parts, f"{parts.netloc}:{standard}"))


def _with_authority(parts: SplitResult, netloc: str) -> str:
    return urlunsplit(parts._replace(netloc=netloc))
