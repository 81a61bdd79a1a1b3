"""What `requests` takes of a delivery: a form's calls, by it and nothing else, from as many threads as a worker has.

python -m tests.bench.plain URL THREADS prints the milliseconds of CPU for one event.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import local
from uuid import uuid4

import requests

from crm_clients.sandbox.server import TOKEN

TEXT = "Necesito una cotización de veinte sillas para oficina, con entrega en Arequipa. " * 3


@dataclass(frozen=True, slots=True)
class Call:
    """One request below /api."""

    method: str
    path: str
    body: dict[str, object] | None = None


def calls_of_a_form() -> Iterator[Call]:
    """Those that a worker makes for a new person's form: seven looks, three creates."""
    stem = f"p{uuid4().hex}"
    for reference in (f"{stem}-contact", f"{stem}-older"):
        yield Call("GET", f"contacts?reference={reference}")
    yield Call("GET", f"contacts?email={stem}%40example.com")
    yield Call("GET", f"contacts?phone=%2B{int(stem[1:12], 16)}")
    yield Call("POST", "contacts", {"name": "Rosa Quispe", "reference": f"{stem}-contact", "text": TEXT})
    for kind in ("opportunities", "tasks", "notes"):
        yield Call("GET", f"{kind}?reference={stem}-{kind}")
    for _ in range(2):
        yield Call("POST", "contacts", {"name": "Rosa Quispe", "reference": f"{stem}-{uuid4().hex}", "text": TEXT})


class Company:
    """A session for each thread, as their users have them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._of = local()

    def ask(self, call: Call) -> None:
        """Make one call and read its answer.  Raises requests.RequestException."""
        url, headers = f"{self._url}/api/{call.path}", {"Authorization": f"Bearer {TOKEN}"}
        answer = self._session().request(call.method, url, json=call.body, headers=headers, timeout=60.0)
        answer.raise_for_status()
        answer.json()

    def _session(self) -> requests.Session:
        if not hasattr(self._of, "session"):
            self._of.session = requests.Session()
            self._of.session.trust_env = False
        session: requests.Session = self._of.session
        return session


def main(url: str, threads: int) -> float:
    """Milliseconds of this process's CPU for one event, of which each thread has one."""
    company = Company(url)

    def one(_: int) -> None:
        for call in calls_of_a_form():
            company.ask(call)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, range(threads)))  # Each has its connection then.
        began = time.process_time()
        list(pool.map(one, range(threads)))
        return (time.process_time() - began) * 1000 / threads


if __name__ == "__main__":
    sys.stdout.write(f"{main(sys.argv[1], int(sys.argv[2])):.3f}\n")
