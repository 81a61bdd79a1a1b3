"""An e-mail address in what somebody typed."""

from __future__ import annotations

import re

ADDRESS = re.compile(r"[^\s<>()\[\]@,;:\"']+@[^\s<>()\[\]@,;:\"'/]+\.[^\W\d_]{2,}", re.UNICODE)
# RFC 5321, 4.5.3.1.3: a path has at most 256 octets, two of them brackets.
MAX_LENGTH = 254
# An address stands early in what was typed; a search through a long text without blanks would take its square.
SEARCHED = 1000


def read(typed: str) -> str | None:
    """The first address in it, its domain in lower case; None: there is none.  `Ana <ana@Example.com>` has one."""
    match = ADDRESS.search(typed[:SEARCHED])
    if match is None or len(match[0]) > MAX_LENGTH:
        return None
    local, _, domain = match[0].rpartition("@")
    return f"{local}@{domain.lower()}"


def is_address(typed: str) -> bool:
    """True if this is an address and nothing else."""
    return len(typed) <= MAX_LENGTH and ADDRESS.fullmatch(typed) is not None
