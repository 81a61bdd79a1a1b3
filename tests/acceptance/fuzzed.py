"""Requests that nobody meant, as Hypothesis strategies: near the real ones, and far from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote_from_bytes

from hypothesis import strategies as st

from intake.config import Settings
from intake.config.known import PROVIDER_KINDS, UNSIGNED
from intake.sources import PROVIDERS
from tests.doorway import ANSWERS, SOURCES, STANDARD, as_json, message, quote, signed, whatsapp

T = TypeVar("T")

# Those that accept, and so reach every line of the door.
OPEN = ("web", "generic", "wa", "quotes", "small", "by-body", "by-header", "by-pointer", "wa-by-body", "wa-per-message",
        "gated", "group-a")  # fmt: skip
OTHER = ("off", "not-built-in", "nobody", "basic", "wa-no-handshake", "")

PAGE_PROOF = 'allowed_origins = ["https://www.example.com"]\nrate_per_minute = 6000\n'

# Every provider that this version has, with a source of its own.
EVERY_PROVIDER = {
    f"any-{name.replace('_', '-')}": f'kind = "{min(PROVIDER_KINDS[name])}"\nprovider = "{name}"\n'
    + ('secrets = ["env:STANDARD"]\n' if name not in UNSIGNED else PAGE_PROOF)
    for name in sorted(PROVIDERS)
}
FUZZED_SOURCES = {**SOURCES, **EVERY_PROVIDER}

# --- values of JSON --------------------------------------------------------------------------------------------------

ODD_TEXTS = (
    "",
    " ",
    "\x00",
    "\ud800",
    "\udfff\ud800",
    "😀",
    "\u202e",
    "A" * 3000,
    "9" * 500,
    "-0",
    "1e999",
    "NaN",
    "null",
)
TEXTS = st.one_of(st.sampled_from(ODD_TEXTS), st.text(st.characters(), max_size=30))
NUMBERS = st.one_of(
    st.integers(),
    st.floats(allow_nan=True),
    st.sampled_from([10**400, -(10**400), 2**63, -(2**63) - 1, 0, 1e308, 5e-324]),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


def mutated(base: Mapping[str, object]) -> st.SearchStrategy[dict[str, object]]:
    """The object with some of its members replaced by anything, or left out."""
    changes = st.dictionaries(st.sampled_from(sorted(base)), VALUES, max_size=3)
    dropped = st.sets(st.sampled_from(sorted(base)), max_size=2)
    more = st.dictionaries(TEXTS, VALUES, max_size=2)
    return st.builds(
        lambda c, d, m: {k: v for k, v in {**base, **c, **m}.items() if k not in d}, changes, dropped, more
    )


KINDS = ("text", "image", "location", "contacts", "button", "interactive", "order", "reaction", "edit", "revoke",
         "system", "unsupported", "request_welcome")  # fmt: skip
MESSAGES = st.one_of(
    mutated({**message("wamid.1"), "context": {}, "referral": {}}),
    st.builds(
        lambda base, kind, inner: {**base, "type": kind, kind: inner},
        mutated(message("wamid.2")),
        st.sampled_from(KINDS),
        VALUES,
    ),
)
WHATSAPP = st.builds(lambda found: whatsapp(*found), st.lists(st.one_of(MESSAGES, VALUES), max_size=4))

# --- bodies ----------------------------------------------------------------------------------------------------------

DEEP = st.builds(
    lambda n, pair: pair[0] * n + pair[1] * n, st.integers(1, 3000), st.sampled_from([(b"[", b"]"), (b'{"a":', b"}")])
)
PERCENT = st.binary(max_size=20).map(lambda raw: quote_from_bytes(raw).encode())
FORMS = st.lists(st.one_of(PERCENT, st.sampled_from([b"name=Ana", b"%", b"%zz", b"=", b"phone=%FF"])), max_size=6).map(
    b"&".join
)
ANSWERED = {
    **ANSWERS,
    "phone": "987654321",
    "data": {"order/id": 1},
    "timestamp": "2026-11-20T15:04:05Z",
    "google_key": STANDARD,
}
FORM_BODIES = mutated(ANSWERED).map(as_json)
QUOTES = mutated(quote()).map(as_json)
ANY_BODY = st.one_of(
    FORM_BODIES,
    QUOTES,
    WHATSAPP,
    VALUES.map(as_json),
    FORMS,
    DEEP,
    st.binary(max_size=200),
    st.text(max_size=50).map(lambda text: text.encode("utf-16")),
)


def bodies_for(source: str) -> st.SearchStrategy[bytes]:
    """Mostly bodies that look like those of this source."""
    if source.startswith(("wa", "group")):
        return st.one_of(WHATSAPP, WHATSAPP, WHATSAPP, ANY_BODY)
    if source == "quotes":
        return st.one_of(QUOTES, QUOTES, QUOTES, ANY_BODY)
    return st.one_of(FORM_BODIES, FORM_BODIES, FORM_BODIES, ANY_BODY)


AIMED = st.sampled_from((*OPEN * 8, *EVERY_PROVIDER, *EVERY_PROVIDER, *OTHER)).flatmap(
    lambda source: st.tuples(st.just(source), bodies_for(source))
)

# --- the HTTP around them --------------------------------------------------------------------------------------------


def rarely(odd: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    """None, most of the time."""
    return st.one_of(*[st.none()] * 5, odd)


METHODS = st.sampled_from(("POST",) * 60 + ("GET", "HEAD", "PUT", "OPTIONS", "TRACE", "PATCH", "FOO"))
TYPES = st.sampled_from(("", "application/json", "application/json; charset=latin-1", "text/plain",
                         "multipart/form-data", "application/x-www-form-urlencoded", ";;", "é"))  # fmt: skip
NAMES = st.sampled_from((
    "Accept", "Authorization", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Host",
    "If-Match", "Range", "Transfer-Encoding", "Upgrade", "X-Forwarded-Proto", "X-Hub-Signature-256", "X-Intake-Token",
    "X-Request-Id", "SCRIPT_NAME", "webhook-id", "webhook-signature", "webhook-timestamp", "svix-id", "Expect",
    "Idempotency-Key",
))  # fmt: skip
HEADER_VALUES = st.one_of(
    st.binary(max_size=40).map(lambda raw: raw.translate(None, b"\r\n\x00")),
    st.sampled_from([b"identity", b"gzip", b"chunked", b"0", b"Basic !", b"Bearer \xff", b"bytes=0-", b"100-continue"]),
)
QUERIES = st.one_of(
    st.just(b""),
    PERCENT.map(lambda raw: b"?" + raw),
    st.sampled_from(
        [b"?token=form-token", b"?hub.mode=subscribe&hub.verify_token=verify-me&hub.challenge=%00%FF", b"?%", b"??"]
    ),
)


@dataclass(frozen=True, slots=True)
class Odd:
    """One request.  `aimed` is its source and body; `chunk` 0: with its length, else in chunks of so many bytes."""

    method: str
    aimed: tuple[str, bytes]
    prefix: str
    query: bytes
    authentic: bool
    delivery_id: str
    content_type: str | None
    headers: tuple[tuple[str, bytes], ...]
    chunk: int

    def bytes_for(self, settings: Settings) -> bytes:
        """As it goes over the wire."""
        source, body = self.aimed
        lines = [f"{self.method} {self.prefix}/hooks/{source}".encode() + self.query + b" HTTP/1.1", b"Host: x"]
        lines += [f"{name}: ".encode() + value for name, value in self._all_headers(settings)]
        lines.append(b"Transfer-Encoding: chunked" if self.chunk else f"Content-Length: {len(body)}".encode())
        return b"\r\n".join([*lines, b"Connection: close", b"", self._framed()])

    def _all_headers(self, settings: Settings) -> list[tuple[str, bytes]]:
        source, body = self.aimed
        proof: dict[str, str] = {}
        if self.authentic and source in settings.sources and settings.sources[source].secret_values:
            proof = signed(settings, source, body, delivery_id=self.delivery_id)
        if self.content_type is not None:
            proof = {**{k: v for k, v in proof.items() if k != "content-type"}, "content-type": self.content_type}
        return [(name, value.encode("utf-8", "replace")) for name, value in proof.items()] + list(self.headers)

    def _framed(self) -> bytes:
        _, body = self.aimed
        if not self.chunk:
            return body
        pieces = [body[i : i + self.chunk] for i in range(0, len(body), self.chunk)]
        framed = b"".join(b"%x;ext=y\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
        return framed + b"0\r\nX-Trailer: x\r\n\r\n"


ODD = st.builds(
    Odd,
    method=METHODS,
    aimed=AIMED,
    prefix=st.sampled_from(("",) * 20 + ("/test",) * 4 + ("/", "/..", "/%2e")),
    query=rarely(QUERIES).map(lambda query: query or b""),
    authentic=st.sampled_from((True,) * 9 + (False,)),
    delivery_id=st.one_of(st.sampled_from(("msg_1", "msg_2")), st.uuids().map(str)),
    content_type=rarely(TYPES),
    headers=st.one_of(st.just(()), st.just(()), st.lists(st.tuples(NAMES, HEADER_VALUES), max_size=3).map(tuple)),
    chunk=st.sampled_from((0, 0, 0, 1, 7, 1000)),
)
