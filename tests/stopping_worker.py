"""A worker process for tests: the real one, but patient for seconds only, and able to end or stand still at a boundary.

python -m tests.stopping_worker                                    a worker that goes on until a signal
python -m tests.stopping_worker SIGKILL contact.committed ...      one life after another, each ended at its place
python -m tests.stopping_worker SIGSTOP contact.committed          one that stands still there, until SIGCONT

A place is the name of a boundary, or several that are passed in this order ("contact.committed/answer.received").
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from crm_clients.transport import Transport
from intake import logs, queue
from intake.attempts import Patience
from workers import process

# Long enough for a busy machine, short enough for a test that waits until a lease is over.
PATIENCE = Patience(
    lease=timedelta(seconds=5), send_within=timedelta(seconds=1.5), call=timedelta(seconds=2), look=timedelta(seconds=2)
)


@dataclass(slots=True)
class Stop:
    """Sends this process a signal when the last of these boundaries is passed, once."""

    how: signal.Signals
    places: list[str]

    def at(self, boundary: str) -> None:
        if self.places and boundary == self.places[0]:
            self.places.pop(0)
            if not self.places:
                signal.raise_signal(self.how)


def main() -> None:
    """One life until a signal, or one for each place that is given."""
    logs.configure()
    how, places = sys.argv[1:2], sys.argv[2:]
    if not how:
        run(lambda _boundary: None)
    for place in places:
        live(Stop(signal.Signals[how[0]], place.split("/")))


def live(stop: Stop) -> None:
    """Work in a process of its own, which takes the imports of this one with it, and tell how it ended."""
    place = "/".join(stop.places)
    pid = os.fork()
    if pid == 0:
        # Whatever happens in the child, it must not go on as a second parent.
        try:
            hint()
            run(stop.at)
        finally:
            os._exit(1)
    sys.stdout.write(f"{pid}\n")
    sys.stdout.flush()
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    sys.stdout.write(f"{place} {signal.Signals(-code).name if code < 0 else code}\n")
    sys.stdout.flush()


def hint() -> None:
    """Ask for a drain, whatever else waits: the job of the life before died with it."""
    client = queue.connect(os.environ["REDIS_URL"])
    queue.hint(client, at_most=sys.maxsize)
    client.close()


def run(at: Callable[[str], None]) -> None:
    """The real worker with other tools."""
    made = process.from_environ(os.environ)
    made.desk.transport.close()
    tools = replace(made.desk, patience=PATIENCE, transport=Transport(at=at), at=at)
    process.run(os.environ["REDIS_URL"], replace(made, desk=tools))


if __name__ == "__main__":
    main()
