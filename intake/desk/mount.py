"""The desk beside the door, in one process: imported with the first request for it, and never in the door's way.

Whoever delivers leads must not wait for whoever reads lists: the desk has its own connections, and may hold at most so
many of the process's threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PREFIXES: Final = ("/console", "/api/", "/metrics")

# Of the eight threads of a process; who comes then waits a moment, and is told to come again.
PLACES: Final = 3
PATIENCE: Final = 2.0  # seconds

BUSY: Final = b"503: the desk is busy; try again in a moment\n"


@dataclass(slots=True)
class Beside:
    """A WSGI application.  `make` builds the desk, once."""

    door: WSGIApplication
    make: Callable[[], WSGIApplication]
    _desk: WSGIApplication | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _places: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(PLACES))

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        if not environ["PATH_INFO"].startswith(PREFIXES):
            return self.door(environ, start_response)
        if not self._places.acquire(timeout=PATIENCE):
            status = HTTPStatus.SERVICE_UNAVAILABLE
            headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(BUSY))), ("Retry-After", "2")]
            start_response(f"{status.value} {status.phrase}", headers)
            return [BUSY]
        try:
            return self._made()(environ, start_response)  # The answers are whole when this returns.
        finally:
            self._places.release()

    def _made(self) -> WSGIApplication:
        with self._lock:
            if self._desk is None:
                self._desk = self.make()
            return self._desk
