"""A proxy before a real CRM that loses what a network or a stalled server loses: requests, answers, or time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, assert_never
from urllib.parse import urlsplit

from tests.integration.raw_server import Peer, serving

# late: nothing is executed until the test says so, long after the client has gone
# lose_answer, cut_answer: executed, and the connection ends before or within the answer
# drip: executed, and answered byte by byte · fail_after: executed, and answered with 500
# lose_request: the connection ends, and nothing is executed · refuse: answered with 429, and nothing is executed
Fault = Literal["late", "lose_answer", "cut_answer", "drip", "fail_after", "lose_request", "refuse"]

PATIENCE = 30.0  # seconds, for the CRM
DRIP = 0.05  # seconds from byte to byte


@dataclass(slots=True)
class Proxy:
    """`requests`: the first lines of what came by, without HTTP's version.

    `token`: sent instead of the client's.  `stalled`: every request is late.  `weather`: by chance, a write meets this
    fault, or None.
    """

    upstream: str
    url: str = ""
    token: str | None = None
    stalled: bool = False
    weather: Callable[[], Fault | None] = lambda: None
    requests: list[str] = field(default_factory=list)
    _faults: list[tuple[str, Fault]] = field(default_factory=list)
    _late: list[bytes] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def once(self, request: str, fault: Fault) -> None:
        """The next request that begins so ("POST /api/contacts/ ") meets this fault."""
        self._faults.append((request, fault))

    def execute_late(self) -> list[int]:
        """Hand over everything that is late, now; the statuses that nobody waits for any more."""
        held, self._late = self._late, []
        return [int(self._forward(request).split(b" ", 2)[1]) for request in held]

    def act(self, peer: Peer) -> None:
        """Serve one connection: one request, then the end of it."""
        request = peer.read_request()
        if not request:
            return
        fault = self._note(request)
        if fault == "lose_request":
            peer.reset()
        elif fault == "refuse":
            peer.say(b"HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        elif fault == "late":
            self._late.append(request)
            peer.wait_for_the_client_to_go()
        else:
            _answer(peer, self._forward(request), fault)

    def _note(self, request: bytes) -> Fault | None:
        line = request.partition(b"\r\n")[0].decode("ascii").rpartition(" ")[0] + " "
        with self._lock:
            self.requests.append(line.strip())
            if self.stalled:
                return "late"
            met = next((rule for rule in self._faults if line.startswith(rule[0])), None)
            if met is not None:
                self._faults.remove(met)
                return met[1]
            return None if line.startswith("GET ") else self.weather()

    def _forward(self, request: bytes) -> bytes:
        """The whole answer; the connection is closed after it, whatever the client asked for."""
        head, _, body = request.partition(b"\r\n\r\n")
        ours = {b"connection": b"close"}
        if self.token is not None:
            ours[b"authorization"] = b"Bearer " + self.token.encode()
        lines = [each for each in head.split(b"\r\n") if each.partition(b":")[0].lower() not in ours]
        lines += [name + b": " + value for name, value in ours.items()]
        address = urlsplit(self.upstream)
        with socket.create_connection((address.hostname or "", address.port or 80), timeout=PATIENCE) as crm:
            crm.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + body)
            return b"".join(iter(lambda: crm.recv(65536), b""))


def _answer(peer: Peer, answer: bytes, fault: Fault | None) -> None:
    match fault:
        case None:
            peer.say(answer)
        case "drip":
            peer.drip(answer, every=DRIP)
        case "cut_answer":
            peer.say(answer[: len(answer) - 10])
        case "lose_answer":
            peer.reset()
        case "fail_after":
            peer.say(b"HTTP/1.1 500 Oops\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        case "late" | "lose_request" | "refuse":
            raise AssertionError(fault)
        case _:
            assert_never(fault)


@contextmanager
def before(base_url: str) -> Iterator[Proxy]:
    """A proxy before the CRM at this address; `url` is to be used in its place."""
    proxy = Proxy(base_url)
    with serving(proxy.act) as server:
        proxy.url = server.url + urlsplit(base_url).path
        yield proxy
