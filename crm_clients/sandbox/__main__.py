"""`python -m crm_clients.sandbox`: the sandbox as a process of its own."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading

from crm_clients.sandbox.profiles import PROFILES, profile
from crm_clients.sandbox.server import TOKEN, start


def main() -> None:
    """Serve until SIGTERM or SIGINT; one line on standard output says when it is ready, and where."""
    options = _options().parse_args()
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    chosen = profile(options.profile, lag=options.lag, limit=options.limit)
    sandbox = start(options.port, options.data, chosen, options.token)
    sys.stdout.write(f"sandbox CRM ready at {sandbox.url} profile {chosen.name}\n")
    sys.stdout.flush()
    ended.wait()
    sandbox.stop()


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m crm_clients.sandbox", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--data", default=":memory:", help="SQLite file; without it nothing is kept")
    parser.add_argument("--profile", choices=tuple(PROFILES), default="stored")
    parser.add_argument("--token", default=os.environ.get("SANDBOX_TOKEN", TOKEN))
    parser.add_argument("--lag", type=float, help="seconds until a new record is found; default: the profile's")
    parser.add_argument("--limit", type=float, help="seconds a request may be held; default: the profile's")
    return parser


if __name__ == "__main__":
    main()
