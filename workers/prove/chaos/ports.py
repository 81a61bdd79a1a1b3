"""Ports for servers that are started, stopped and started again."""

from __future__ import annotations

import random
import socket
from pathlib import Path

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """A port that nothing listens on now, and that no connection gets by itself while its server is away.

    Whoever asks for port 0 is given one of those that go to connections, too: between two lives of a server somebody
    else may have it.
    """
    first = int(RANGE.read_text().split()[0])
    for port in random.sample(range(10_000, first), 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")
