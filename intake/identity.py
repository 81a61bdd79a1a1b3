"""Who is who: event ids, fingerprints, keys of persons, and the references that stand in the CRM.

Everything that is made of personal data is an HMAC under the installation's key.  What must be the same after the
database is built anew from the webhooks (event ids, references of needs) is made of the identity alone.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID, uuid5

Mode = Literal["live", "test"]

# The namespace of our event ids: made once (uuid4), never to change.
EVENTS = UUID("6f1c2a52-0d7e-4c39-9b6e-6d5b1f3f9c01")

# 128 bits in base32: 26 characters of [a-z2-7], which every CRM keeps as they are.
SHORT = 26


def event_id(mode: Mode, source: str, request_id: str, version: int | None) -> UUID:
    """The same for the same identity, for ever.  Mode first: a test is never "the first" of a live event."""
    parts = (mode, source, request_id, "" if version is None else str(version))
    return uuid5(EVENTS, "".join(f"{len(part)}:{part}" for part in parts))


@dataclass(frozen=True, slots=True)
class IdentityKey:
    """The installation's key, pinned in the database (`installation.identity_key`)."""

    secret: bytes = field(repr=False)

    def mac(self, purpose: str, *parts: str) -> bytes:
        """32 bytes; parts are length-prefixed, so that no two lists of parts look alike."""
        text = "".join(f"{len(part)}:{part}" for part in (purpose, *parts))
        return hmac.digest(self.secret, text.encode("utf-8", "surrogatepass"), "sha256")

    def fingerprint(self, content: Mapping[str, object]) -> bytes:
        """32 bytes over the raw business fields; other content, another fingerprint."""
        return self.mac("fingerprint", canonical(content))


def canonical(content: Mapping[str, object]) -> str:
    """JSON in one form, whatever the order of the keys was."""
    return json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def short(digest: bytes) -> str:
    """A name of [a-z2-7]{26} for a digest."""
    return base64.b32encode(digest).decode().lower()[:SHORT]


def need_reference(mode: Mode, source: str, key: str) -> str:
    """The stem of the references of a need's opportunity and task; made of identity alone."""
    digest = hashlib.sha256("".join(f"{len(part)}:{part}" for part in (mode, source, key)).encode()).digest()
    return prefix(mode) + "n" + short(digest)


# A minute since 1970 in six characters, in an alphabet that sorts as the numbers do; lasts beyond the year 4000.
MINUTE_DIGITS = "234567abcdefghijklmnopqrstuvwxyz"
MINUTE_LENGTH = 6


def talk_reference(mode: Mode, conversation: str, opener: UUID, at: datetime) -> str:
    """The stem for a need of a conversation: the conversation's name, the opener's minute, the opener.

    So the needs of one talk can be told apart in the CRM by anyone who has forgotten them (`talk_opened_at`).
    """
    minute = int(at.timestamp() // 60)
    digits = [MINUTE_DIGITS[minute >> 5 * place & 31] for place in reversed(range(MINUTE_LENGTH))]
    return f"{talk_stem(mode, conversation)}{''.join(digits)}-{short(opener.bytes)[:16]}"


def talk_stem(mode: Mode, conversation: str) -> str:
    """How the references of all needs of one talk begin."""
    return f"{prefix(mode)}w{conversation}-"


def talk_opened_at(stem: str, reference: str) -> datetime | None:
    """When the need was opened whose reference this is; None: it is not one of this talk's."""
    if not reference.startswith(stem):
        return None
    digits = reference[len(stem) : len(stem) + MINUTE_LENGTH]
    if len(digits) != MINUTE_LENGTH or not set(digits) <= set(MINUTE_DIGITS):
        return None
    minute = 0
    for digit in digits:
        minute = minute << 5 | MINUTE_DIGITS.index(digit)
    return datetime.fromtimestamp(minute * 60, UTC)


TEST = "t-"


def prefix(mode: Mode) -> str:
    """Test references say so."""
    return TEST if mode == "test" else ""


def is_test(reference: str) -> bool:
    """Whether this is the reference of a test record."""
    return reference.startswith(TEST)


def record_reference(stem: str, kind: Literal["contact", "opportunity", "task", "note"], generation: int = 1) -> str:
    """One suffix per kind, so that one value never means two records; `-g2` for a record made anew."""
    return f"{stem}-{kind[0]}" + (f"-g{generation}" if generation > 1 else "")


# What references of ours look like; the sentinels' do not.
OURS = re.compile(r"(t-)?([nc][a-z2-7]{26}|w[a-z2-7]{16}-[a-z2-7]{6}-[a-z2-7]{16})-([cotn])(-g[0-9]{1,6})?")


def is_ours(reference: str, kind: Literal["contact", "opportunity", "task", "note"]) -> bool:
    """Whether a reference looks like one that we gave to a record of this kind."""
    named = OURS.fullmatch(reference)
    return named is not None and named[3] == kind[0]
