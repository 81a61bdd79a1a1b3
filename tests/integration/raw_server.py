"""A TCP server on loopback that does exactly what a test tells it, byte by byte."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Peer:
    """The server's end of one connection."""

    sock: socket.socket
    over: threading.Event  # set when the test is over: whoever waits for it ends at last
    seen: bytearray  # what the client sent, on this and all other connections

    def read_request(self) -> bytes:
        """One request with its body; less if the client goes away."""
        request = bytearray()
        while not _is_whole(request) and (piece := self.sock.recv(65536)):
            request += piece
            self.seen += piece
        return bytes(request)

    def say(self, text: bytes) -> None:
        self.sock.sendall(text)

    def drip(self, text: bytes, *, every: float) -> None:
        """One byte in so many seconds, until the client goes away."""
        for byte in text:
            if self.over.wait(every):
                return
            self.say(bytes([byte]))

    def wait_for_the_client_to_go(self) -> None:
        while piece := self.sock.recv(65536):
            self.seen += piece

    def reset(self) -> None:
        """Close with RST: whatever is on its way is lost."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


def _is_whole(request: bytearray) -> bool:
    head, found, body = bytes(request).partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(found) and len(body) >= int(lengths[0] if lengths else 0)


@dataclass(slots=True)
class RawServer:
    """Where it listens, and what it has seen."""

    port: int
    connections: list[Peer] = field(default_factory=list)
    seen: bytearray = field(default_factory=bytearray)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving(act: Callable[[Peer], None], *, tls: ssl.SSLContext | None = None) -> Iterator[RawServer]:
    """Serve each connection by `act` in a thread of its own; all are closed at the end."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        server = RawServer(listener.getsockname()[1])
        threads: list[threading.Thread] = []

        def serve(sock: socket.socket) -> None:
            # A client that goes away, also in the middle of a handshake, is what many of these tests are about.
            with contextlib.suppress(OSError), sock if tls is None else tls.wrap_socket(sock, server_side=True) as end:
                peer = Peer(end, over, server.seen)
                server.connections.append(peer)
                act(peer)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while not over.is_set():
                    threads.append(threading.Thread(target=serve, args=(listener.accept()[0],)))
                    threads[-1].start()

        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield server
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
            acceptor.join()
            for peer in server.connections:
                with contextlib.suppress(OSError):
                    peer.sock.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()
