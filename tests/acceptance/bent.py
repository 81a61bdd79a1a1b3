"""Requests near those that every provider really makes: its samples, bent at one place or many, signed all the same."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from intake.config import Settings
from intake.sources import PROVIDERS
from tests.acceptance.fuzzed import ODD_TEXTS
from tests.doorway import STANDARD, signed

SAMPLES = Path(__file__).parent.parent / "contract" / "sources" / "samples"
KEY_IN_SAMPLE = re.compile(rb"whsec_c29tZS1zZWNyZXQtb2YtdGhpcy1zb3VyY2U(=|%3D)")

# By provider: the bodies that it really sends.
BODIES: Mapping[str, Sequence[bytes]] = {
    name: [KEY_IN_SAMPLE.sub(STANDARD.encode(), file.read_bytes()) for file in sorted((SAMPLES / name).iterdir())]
    for name in sorted(PROVIDERS)
}

ODD_VALUES: Sequence[object] = (
    None, True, [], {}, [[]], [None], {"": ""}, {"a": {"b": [{}]}}, 0, -1, 10**400, 1e308, float("nan"), 2**63,
    *ODD_TEXTS,
)  # fmt: skip
TYPES = (
    "", "application/json", "application/json; charset=utf-16", "application/json; charset=nonsense", "text/plain",
    "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=latin-1", "multipart/form-data",
    "multipart/form-data; boundary=", "multipart/form-data; boundary=x", "application/xml", ";;", "é",
)  # fmt: skip
METHODS = ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "post", "FOO")
HEADERS: Sequence[tuple[bytes, bytes]] = (
    (b"Content-Encoding", b"gzip"), (b"Content-Encoding", b"br, zstd"), (b"Accept-Encoding", b"\xff"),
    (b"Transfer-Encoding", b"gzip"), (b"Expect", b"100-continue"), (b"Expect", b"x"), (b"Upgrade", b"h2c"),
    (b"Idempotency-Key", b'"k"'), (b"Range", b"bytes=0-"), (b"Cookie", b"a=" + b"b" * 3000), (b"Host", b""),
    (b"X-Forwarded-Proto", b"https"), (b"SCRIPT_NAME", b"/x"), (b"Authorization", b"Bearer \xff\xfe"),
    (b"webhook-timestamp", b"9" * 400), (b"webhook-signature", b"v1," * 200), (b"X-Wc-Webhook-Topic", b"\xf0\x9f"),
    (b"Content-Length", b"0"), (b"Content-Length", b"-1"), (b"Content-Type", b"text/html"), (b"X" * 500, b"x"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bender:
    """Makes one request after another.  `settings`: those of the door, with a source any-<provider> of each."""

    settings: Settings
    chance: random.Random

    def request(self, provider: str) -> bytes:
        """As it goes over the wire."""
        source, chance = f"any-{provider.replace('_', '-')}", self.chance
        body = self.body(chance.choice(BODIES[provider]))
        headers = {}
        if chance.random() < 0.9 and self.settings.sources[source].secret_values:
            headers = signed(self.settings, source, body, delivery_id=f"msg_{chance.randrange(10**6)}")
        if chance.random() < 0.15:
            headers = {name: each for name, each in headers.items() if name != "content-type"}
            headers["content-type"] = chance.choice(TYPES)
        odd = chance.choices(HEADERS, k=chance.randint(1, 3)) if chance.random() < 0.15 else []
        lines = [f"{self.method()} {self.path(source)} HTTP/1.1".encode(), b"Host: x", b"Connection: close"]
        lines += [f"{name}: {value}".encode("utf-8", "replace") for name, value in headers.items()]
        lines += [name + b": " + value for name, value in odd]
        return b"\r\n".join([*lines, *self.framed(body)])

    def method(self) -> str:
        return self.chance.choice(METHODS) if self.chance.random() < 0.05 else "POST"

    def path(self, source: str) -> str:
        query = (
            self.chance.choice(("?token=x", "?%", "?%ff=%00", "?a=" + "b" * 500)) if self.chance.random() < 0.1 else ""
        )
        return ("/test" if self.chance.random() < 0.1 else "") + f"/hooks/{source}" + query

    def framed(self, body: bytes) -> tuple[bytes, ...]:
        """With its length, in chunks, or cut off."""
        whole = self.chance.random()
        if whole < 0.9:
            return (b"Content-Length: %d" % len(body), b"", body)
        if whole < 0.95:
            return (b"Transfer-Encoding: chunked", b"", b"%x" % len(body), body, b"0", b"", b"")
        return (b"Content-Length: %d" % (len(body) + 7), b"", body)

    # --- the body ---

    def body(self, sample: bytes) -> bytes:
        ways: Sequence[Callable[[bytes], bytes]] = (lambda same: same, self.bent, self.spoilt, self.encoded)
        (bend,) = self.chance.choices(ways, (10, 60, 25, 5))
        return bend(sample)

    def bent(self, sample: bytes) -> bytes:
        """Still of its form, with other values at some places."""
        try:
            found: object = json.loads(sample)
        except ValueError:
            return self._bent_form(sample)
        for _ in range(self.chance.randint(1, 3)):
            found = self._at_some_place(found)
        return json.dumps(found, ensure_ascii=self.chance.random() < 0.5).encode("utf-8", "surrogatepass")

    def _at_some_place(self, value: object) -> object:
        """With one of its members replaced, left out or deeper down bent."""
        chance = self.chance
        match value:
            case dict() if value and chance.random() < 0.9:
                name = chance.choice(list(value))
                if chance.random() < 0.15:
                    return {each: inner for each, inner in value.items() if each != name}
                return {**value, name: self._at_some_place(value[name])}
            case list() if value and chance.random() < 0.9:
                place = chance.randrange(len(value))
                return [*value[:place], self._at_some_place(value[place]), *value[place + chance.randint(0, 1) :]]
            case _:
                return chance.choice(ODD_VALUES)

    def _bent_form(self, sample: bytes) -> bytes:
        pairs = parse_qsl(sample.decode("latin-1"), keep_blank_values=True)
        if not pairs:
            return self.spoilt(sample)
        place = self.chance.randrange(len(pairs))
        value = str(self.chance.choice(ODD_VALUES))[:500]
        pairs[place] = (value, pairs[place][1]) if self.chance.random() < 0.3 else (pairs[place][0], value)
        if self.chance.random() < 0.15:
            del pairs[self.chance.randrange(len(pairs))]
        return urlencode(pairs, errors="replace").encode()

    def spoilt(self, sample: bytes) -> bytes:
        """With bytes that are not there, too many, or others."""
        begin, chance = self.chance.randrange(len(sample) + 1), self.chance
        end = min(len(sample), begin + chance.choice((0, 1, 5, len(sample))))
        junk = chance.choice((b"", chance.randbytes(8), b"\x00", b"\xff\xfe", b'"', b"[" * 3000, b"%", b"\r\n--x"))
        return sample[:begin] + junk + sample[end:]

    def encoded(self, sample: bytes) -> bytes:
        text = sample.decode("utf-8", "replace")
        how = self.chance.choice(("utf-16", "utf-8-sig", "latin-1", "cp1252", "utf-32", "gzip"))
        return gzip.compress(sample) if how == "gzip" else text.encode(how, "replace")
