"""The address of the page that a browser sends from, for senders that can hold no secret.

It proves nothing about who sends: any program can write this header.  It keeps other sites' pages from using a
visitor's browser to send, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.authenticity.proof import Outgoing, Presented, as_bytes, same


@dataclass(frozen=True, slots=True)
class Origin:
    """`Origin: https://www.example.com` (RFC 6454), one of those that the source allows, in the place of a secret.

    Browsers send it with every POST.  "null", which they write for pages that hide where they are, is nobody's.
    """

    def proves(self, shown: Presented, secret: str) -> bool:
        return same(shown.header("origin"), as_bytes(secret))

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]:  # noqa: ARG002
        return {"origin": secret}
