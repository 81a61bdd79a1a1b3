"""gunicorn's threaded worker, that no slow client can hold, and that answers and logs as the application would.

A request costs a thread only when all of it has arrived; until then the main thread keeps it.  So does it with a
connection that is closed and whose client says nothing.  Where there are too many, the oldest is cut off: a sender's
request is there within milliseconds.

gunicorn's own answers are HTML, and its log quotes the request line or the header that it could not read: a token or a
person's data may stand there.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from itertools import takewhile

import structlog
from gunicorn.http import errors, get_parser
from gunicorn.workers.gthread import TConn, ThreadWorker

from intake.arriving import Arrival, Most, Progress

log = structlog.get_logger()

# Seconds for one request to arrive, and again for its answer to go.  Senders give up earlier, and a body of 3 MB comes
# through a slow line within it; whoever drips bytes is cut off.
REQUEST_LIMIT = float(os.environ.get("WEB_REQUEST_LIMIT") or 20)

# Bytes of a body, where the application does not say.
MOST_BODY = 3 * 1024 * 1024
# Bytes of all requests that arrive at one time: twenty of the largest that a source takes by default.
MOST_ARRIVING = 64 * 1024 * 1024
# Bytes that the system keeps of an answer, so that a thread need not wait until they are read: more than any answer to
# somebody unknown has.
ANSWER_ROOM = 256 * 1024

# Seconds, bytes and connections: how long we wait for the end of those that we have closed.
LINGER = 2.0
MOST_IGNORED = 64 * 1024
MOST_LINGERING = 100

# Bytes that are read at a time, so that all are read in turn.
PIECE = 64 * 1024
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

STATUS: dict[type[Exception], HTTPStatus] = {
    errors.LimitRequestLine: HTTPStatus.REQUEST_URI_TOO_LONG,
    errors.LimitRequestHeaders: HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    errors.ExpectationFailed: HTTPStatus.EXPECTATION_FAILED,
}

ANSWER = (
    "HTTP/1.1 {status.value} {status.phrase}\r\nConnection: close\r\nContent-Type: application/json\r\n"
    "{more}Content-Length: {length}\r\n\r\n{body}"
)


class Connection(TConn):  # type: ignore[misc]  # gunicorn publishes no types
    """What gunicorn knows of a connection, and what has come on it."""

    def __init__(self, worker: Worker, sock: socket.socket, client: object, server: object) -> None:
        super().__init__(worker.cfg, sock, client, server)
        self.worker = worker
        self.arrival = Arrival(worker.most)
        # Instead of what TConn.init would make: it reads what has arrived, never the socket.
        self.parser = get_parser(worker.cfg, self.arrival, client)
        self.initialized = self.data_ready = True
        # Of the state that it is in, time.monotonic().
        self.since = time.monotonic()
        # Whether it is known where the next request begins.
        self.reusable = True
        # Bytes that came after the end.
        self.ignored = 0

    def close(self, graceful: bool = False) -> None:
        """Called by gunicorn in the main thread, which must not wait for the client."""
        if graceful:
            self.worker.linger(self)
        else:
            super().close()


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn publishes no types
    """gunicorn's own methods come first, called by its main loop and its threads; the rest is the main thread's."""

    # What is waited for of a request.
    most: Most
    # The connections that await a request, and those that are closed but for the client's side; the oldest first.
    arriving: dict[Connection, None]
    lingering: dict[Connection, None]
    # Those whose request is being served, and until when (time.monotonic).
    busy: dict[Connection, float]
    # Bytes of all that arrives, and how many there may be.
    held: int
    most_held: int = MOST_ARRIVING

    def init_process(self) -> None:
        """Called in the new process; returns when the worker ends."""
        self.arriving, self.lingering, self.busy, self.held = {}, {}, {}, 0
        # The others are for those whose first request is still to come.
        self.max_keepalived = self.worker_connections // 2
        super().init_process()

    def load_wsgi(self) -> None:
        """Load the application, which knows how large a body may be."""
        super().load_wsgi()
        body = getattr(self.wsgi, "config", {}).get("LARGEST_BODY", MOST_BODY)
        head = self.cfg.limit_request_line + self.cfg.limit_request_fields * (self.cfg.limit_request_field_size + 2)
        self.most = Most(head + len("\r\n\r\n"), body)

    def accept(self, listener: socket.socket) -> None:
        """Take a new connection."""
        try:
            sock, client = listener.accept()
        except OSError as error:
            if error.errno in {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}:
                self.cut_oldest()
            return  # It is gone, or another process took it.
        with suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ANSWER_ROOM)
        self.nr_conns += 1
        self.enqueue_req(Connection(self, sock, client, listener.getsockname()))

    def enqueue_req(self, conn: Connection) -> None:
        """Await a request on a connection that is new, or was answered."""
        # What came behind the request before is the beginning of this one.
        begun = conn.parser.unreader.take_buffered()
        conn.arrival.restart()
        conn.since = time.monotonic()
        conn.sock.setblocking(False)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_arriving, conn))
        self.arriving[conn] = None
        while self.nr_conns >= self.worker_connections and self.cut_oldest():
            pass
        if begun and conn in self.arriving:
            self.take(conn, begun)

    def handle(self, conn: Connection) -> object:
        """Serve a request that has arrived, for as long as REQUEST_LIMIT; runs in one of the threads."""
        self.busy[conn] = time.monotonic() + REQUEST_LIMIT
        try:
            kept = super().handle(conn) and conn.reusable
        finally:
            self.busy.pop(conn, None)
        if kept:
            unreader = conn.parser.unreader
            unreader.unread(unreader.take_buffered() + conn.arrival.take_rest())
        conn.arrival.restart()  # What was answered is not kept while its client does nothing.
        return kept

    def notify(self) -> None:
        """Called by the main thread, about every second at least."""
        super().notify()
        now = time.monotonic()
        for conn in [conn for conn, until in list(self.busy.items()) if until < now]:
            with suppress(OSError):
                conn.sock.shutdown(socket.SHUT_RDWR)  # Its thread cannot write any more, and gives up.
        for conn in _since(self.arriving, now - (REQUEST_LIMIT if self.alive else LINGER)):
            self.cut(conn)
        for conn in _since(self.lingering, now - LINGER):
            self.part(conn)

    def handle_error(self, req: object, client: socket.socket, addr: object, exc: Exception) -> None:  # noqa: ARG002
        """Refuse what is no HTTP.  Only the kind of mistake is logged."""
        status = STATUS.get(type(exc), HTTPStatus.BAD_REQUEST)
        if not isinstance(exc, errors.ParseException | errors.InvalidChunkSize):
            status = HTTPStatus.SERVICE_UNAVAILABLE
        log.warning("request refused", status=status.value, error=type(exc).__name__)
        with suppress(OSError):
            client.sendall(_answer(status))

    # --- a request that arrives ---------------------------------------------------------------------------------------

    def on_arriving(self, conn: Connection, _sock: socket.socket) -> None:
        """Read what has come."""
        if conn not in self.arriving:
            return  # It was told of together with another, for which it was cut off.
        try:
            data = conn.sock.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            self.cut(conn)
            return
        if data:
            self.take(conn, data)
        elif len(conn.arrival):
            self.serve(conn, reusable=False)  # The client says that this is all: gunicorn judges it.
        else:
            self.cut(conn)

    def take(self, conn: Connection, data: bytes) -> None:
        """See how far a request has come with this."""
        before = len(conn.arrival)
        progress = conn.arrival.add(data)
        self.held += len(conn.arrival) - before  # It may keep less than what came.
        match progress:
            case Progress.WHOLE:
                self.serve(conn, reusable=True)
            case Progress.ENOUGH:
                self.serve(conn, reusable=False)
            case Progress.MORE:
                if conn.arrival.is_asked():
                    with suppress(OSError):
                        conn.sock.send(CONTINUE)
        while self.held > self.most_held and self.cut_oldest():
            pass

    def serve(self, conn: Connection, *, reusable: bool) -> None:
        """Let a thread answer."""
        self.leave(conn)
        conn.reusable = reusable
        super().enqueue_req(conn)

    def cut_oldest(self) -> bool:
        """Cut off whose request has been arriving for longest; tells whether there was one."""
        for conn in self.arriving:
            self.cut(conn)
            return True
        return False

    def cut(self, conn: Connection) -> None:
        """End a connection whose request is not going to come."""
        self.leave(conn)
        self.nr_conns -= 1
        conn.close()

    def leave(self, conn: Connection) -> None:
        """Await nothing more of this request."""
        del self.arriving[conn]
        self.held -= len(conn.arrival)
        self.poller.unregister(conn.sock)

    # --- a connection that is closed ----------------------------------------------------------------------------------

    def linger(self, conn: Connection) -> None:
        """Say that nothing more comes, and wait for the client's end, or the system would take our answer back."""
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            conn.close()
            return
        conn.since, conn.ignored = time.monotonic(), 0
        self.nr_conns += 1  # gunicorn has counted it out.
        self.lingering[conn] = None
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_lingering, conn))
        if len(self.lingering) > MOST_LINGERING:
            self.part(next(iter(self.lingering)))

    def on_lingering(self, conn: Connection, _sock: socket.socket) -> None:
        """Take no notice of what is still sent."""
        if conn not in self.lingering:
            return  # As in `on_arriving`.
        try:
            data = conn.sock.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        conn.ignored += len(data)
        if not data or conn.ignored > MOST_IGNORED:
            self.part(conn)

    def part(self, conn: Connection) -> None:
        """Be done with it."""
        del self.lingering[conn]
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()


def _since(connections: Iterable[Connection], then: float) -> list[Connection]:
    """Those that are in their state since before, of all in the order of their time."""
    return list(takewhile(lambda conn: conn.since < then, connections))


def _answer(status: HTTPStatus) -> bytes:
    body = f'{{"error": "{status.name.lower()}", "fields": {{}}}}'
    more = "Retry-After: 5\r\n" if status is HTTPStatus.SERVICE_UNAVAILABLE else ""
    return ANSWER.format(status=status, more=more, length=len(body), body=body).encode()
