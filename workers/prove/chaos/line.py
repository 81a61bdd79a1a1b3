"""The line between workers and what they call: a proxy on this host that hands every byte on, until it is cut.

It keeps nothing back: what was handed to it and not yet to the CRM when the line was cut is lost.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

CHUNK = 65_536  # bytes
CONNECTS_WITHIN = 5.0  # seconds
# With this, closing a socket is a reset: socket(7), SO_LINGER, on and 0 seconds.
RESETS = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Line:
    """`to`: the port of the CRM, or the path of a server's socket.

    `broken`: each new connection is reset, too.  `cuts`: how many connections were cut.
    """

    to: int | str
    listener: socket.socket
    broken: threading.Event = field(default_factory=threading.Event)
    cuts: int = 0
    _open: set[socket.socket] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def port(self) -> int:
        """Where it begins."""
        return int(self.listener.getsockname()[1])

    @property
    def url(self) -> str:
        """What workers use as the CRM's address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def in_use(self) -> bool:
        """Whether a connection is open."""
        return bool(self._open)

    def cut(self) -> None:
        """Reset every connection that is open now, whatever is under way on it."""
        with self._lock:
            open_now = tuple(self._open)
        for each in open_now:
            _reset(each)
        self.cuts += len(open_now)

    def serve(self) -> None:
        """Until the listener is closed."""
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def close(self) -> None:
        """Take no more connections, and cut those that there are."""
        # Closing alone does not wake the thread that accepts.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def _connect(self, near: socket.socket) -> None:
        with near:
            if self.broken.is_set():
                _reset(near)
                return
            try:
                far = _connected(self.to)
            except OSError:
                _reset(near)
                return
            with far, self._known(near, far):
                far.settimeout(None)
                back = threading.Thread(target=_pump, args=(far, near), daemon=True)
                back.start()
                _pump(near, far)
                back.join()

    @contextmanager
    def _known(self, *ends: socket.socket) -> Iterator[None]:
        with self._lock:
            self._open.update(ends)
        try:
            yield
        finally:
            with self._lock:
                self._open.difference_update(ends)


def _connected(to: int | str) -> socket.socket:
    """Raises OSError."""
    if isinstance(to, int):
        return socket.create_connection(("127.0.0.1", to), timeout=CONNECTS_WITHIN)
    far = socket.socket(socket.AF_UNIX)
    try:
        far.settimeout(CONNECTS_WITHIN)
        far.connect(to)
    except BaseException:
        far.close()
        raise
    return far


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Hand on what comes, then that nothing comes any more.  A line that is cut ends both directions."""
    with contextlib.suppress(OSError):
        while content := source.recv(CHUNK):
            target.sendall(content)
        target.shutdown(socket.SHUT_WR)
        return
    _reset(source)
    _reset(target)


def _reset(end: socket.socket) -> None:
    """End a connection without a farewell; whoever reads from it in another thread wakes up."""
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETS)
        end.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(to: int | str) -> Iterator[Line]:
    """A line to whatever listens on this port of the loopback interface, or on the socket with this path."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    made = Line(to, listener)
    threading.Thread(target=made.serve, daemon=True).start()
    try:
        yield made
    finally:
        made.close()
