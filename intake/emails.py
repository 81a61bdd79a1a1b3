"""An e-mail address in what somebody typed."""

from __future__ import annotations

import re
import unicodedata

# An apostrophe may stand in a name, and not around it; what follows a slash is part of a link.
_ATOM = r"[^\s<>()\[\]@,;:\"'/\\]"
_BEGINS = r"(?<![^\s<>()\[\]@,;:\"'])"
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
ADDRESS = re.compile(
    rf"{_BEGINS}{_ATOM}+(?:'+{_ATOM}+)*@(?:{_LABEL}\.)+(?:xn--[a-z0-9-]+|[^\W\d_]{{2,}})", re.UNICODE | re.IGNORECASE
)
# RFC 5321, 4.5.3.1.3: a path has at most 256 octets, two of them brackets.
MAX_LENGTH = 254
# An address stands early in what was typed; a search through a long text without blanks would take its square.
SEARCHED = 1000


def read(typed: str) -> str | None:
    """The first address in it, its domain in lower case; None: there is none.  `Ana <ana@Example.com>` has one."""
    match = ADDRESS.search(_plain(typed[:SEARCHED]))
    if match is None or len(match[0]) > MAX_LENGTH:
        return None
    local, _, domain = match[0].rpartition("@")
    return f"{local}@{domain.lower()}"


def is_address(typed: str) -> bool:
    """True if this is an address and nothing else."""
    return len(typed) <= MAX_LENGTH and ADDRESS.fullmatch(_plain(typed)) is not None


def _plain(typed: str) -> str:
    """Without invisible marks, full-width forms, and the backslash that PHP puts before an apostrophe."""
    composed = unicodedata.normalize("NFKC", typed)
    return "".join(char for char in composed if unicodedata.category(char) != "Cf").replace("\\'", "'")
