"""Netlify's proof: a compact JWS (RFC 7515) by HS256 that names the SHA-256 of the body.

Source: docs.netlify.com, "Deploy notifications", "Payload signature": header `X-Webhook-Signature`, claims `iss`
"netlify" and `sha256`.  Only what it sends is read: another algorithm, "none" too, is refused, whatever is signed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from intake.authenticity.proof import Outgoing, Presented, as_bytes, mac, same

HEADER = "x-webhook-signature"
ISSUER = "netlify"
# Three parts without padding (RFC 7515, section 7.1).
COMPACT = re.compile(rb"([A-Za-z0-9_-]{1,2000})\.([A-Za-z0-9_-]{1,4000})\.([A-Za-z0-9_-]{43})")

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class NetlifyJws:
    """`X-Webhook-Signature: <head>.<claims>.<signature>`, each part base64url."""

    def proves(self, shown: Presented, secret: str) -> bool:
        given = COMPACT.fullmatch(shown.header(HEADER))
        if given is None or not same(given[3], _signature(given[1] + b"." + given[2], secret)):
            return False
        return _is_hs256(_object(given[1])) and _is_about(_object(given[2]), shown.body, shown.now)

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:
        claims = {"iss": ISSUER, "sha256": hashlib.sha256(out.body).hexdigest()}
        signed = _part({"alg": "HS256", "typ": "JWT"}) + b"." + _part(claims)
        return {HEADER: (signed + b"." + _signature(signed, secret)).decode()}


def _is_hs256(head: Json) -> bool:
    """`crit` names what a reader must understand (section 4.1.11), and this one understands nothing more."""
    return head.get("alg") == "HS256" and "crit" not in head


def _is_about(claims: Json, body: bytes, now: datetime) -> bool:
    """Netlify gives no end; where a claim has one, it holds."""
    ends, digest = claims.get("exp"), claims.get("sha256")
    if "exp" in claims and not (isinstance(ends, (int, float)) and now.timestamp() < ends):
        return False
    named = as_bytes(digest) if isinstance(digest, str) else b""
    return claims.get("iss") == ISSUER and same(named, hashlib.sha256(body).hexdigest().encode())


def _signature(signed: bytes, secret: str) -> bytes:
    return _base64url(mac(as_bytes(secret), signed))


def _part(told: Json) -> bytes:
    return _base64url(json.dumps(told, separators=(",", ":")).encode())


def _base64url(raw: bytes) -> bytes:
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def _object(part: bytes) -> Json:
    """{} for what is none."""
    try:
        found: object = json.loads(base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4)))
    except (ValueError, RecursionError):  # binascii.Error and UnicodeDecodeError are ValueErrors.
        return {}
    return found if isinstance(found, dict) else {}
