"""A worker that is broken on purpose: after a lost answer it creates again, without having looked.

It claims that its CRM refuses a second create under one reference, which the sandbox does not, and its look is blind.
Run as a program, in the place of `intake worker`.
"""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass, replace
from datetime import timedelta

from crm_clients.base import Absent, Capability, Kind, Looked, Response
from crm_clients.sandbox.client import SandboxClient
from intake.attempts import Patience
from intake.config import Process
from workers import wiring
from workers.desk import Desk, Wired
from workers.drain import drain

# A doubt is looked at when the lease of its write is over; a minute would be long for a test.
SHORT = Patience(
    lease=timedelta(seconds=3), send_within=timedelta(seconds=1), call=timedelta(seconds=1.5), look=timedelta(seconds=2)
)
EVERY = 0.2  # seconds


@dataclass(frozen=True, slots=True)
class Blind(SandboxClient):
    """Sees nothing, and says that this does no harm."""

    def capability(self, kind: Kind) -> Capability:  # noqa: ARG002
        return Capability("enforced")

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:  # noqa: ARG002
        return Absent()


def blinded(wired: Wired) -> Wired:
    """The same account, with the blind client."""
    return replace(wired, client=Blind())


def main() -> None:
    """Work until SIGTERM."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    process = Process.from_environ(os.environ)
    desk: Desk = wiring.desk_of(process, wiring.settings_of(process, os.environ), os.environ)
    desk = replace(desk, wired={name: blinded(each) for name, each in desk.wired.items()}, patience=SHORT)
    while not stop.wait(EVERY):
        drain(desk, threads=process.threads, stop=stop)


if __name__ == "__main__":
    main()
