"""How often an address may ask: a bucket of tokens for each, in the memory of this process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address, ip_network

# Buckets that are kept; a full one says nothing, so the oldest can be forgotten.  About 3 MB.
MOST_BUCKETS = 10_000

# What all addresses together may, in times of what one may: somebody who has many of them is stopped here.
TOGETHER = 20

MINUTE = 60.0  # seconds


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


@dataclass(slots=True)
class Rates:
    """May be used by several threads.  `clock` counts seconds."""

    clock: Callable[[], float]
    _buckets: OrderedDict[Hashable, _Bucket] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, source: str, address: str, per_minute: int) -> float:
        """Count one request; 0.0: it may go on, else the seconds until one may."""
        with self._lock:
            own = self._take((source, address), per_minute)
            return own or self._take(source, per_minute * TOGETHER)

    def _take(self, key: Hashable, per_minute: int) -> float:
        now, per_second = self.clock(), per_minute / MINUTE
        bucket = self._buckets.setdefault(key, _Bucket(per_minute, now))
        self._buckets.move_to_end(key)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        bucket.tokens = min(per_minute, bucket.tokens + (now - bucket.at) * per_second)
        bucket.at = now
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / per_second
        bucket.tokens -= 1
        return 0.0


def visitor(peer: str, forwarded: str) -> str:
    """Whom to count: an IPv4 address, or the /64 that one IPv6 subscriber has.

    The door listens on loopback, so whoever connects is this host's reverse proxy: the last entry of X-Forwarded-For is
    its own word, all before it the visitor's.  From another `peer` the header is not believed.
    """
    address = _address(peer)
    if address is None or address.is_loopback:
        address = _address(forwarded.rpartition(",")[2].strip()) or address
    if isinstance(address, IPv6Address):
        return str(ip_network((address, 64), strict=False)) if address.ipv4_mapped is None else str(address.ipv4_mapped)
    return str(address)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except (ValueError, AddressValueError):
        return None
