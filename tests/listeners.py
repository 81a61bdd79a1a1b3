"""Those who are told: a webhook and a mail server of a test, on the loopback interface, that keep what they hear."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Json = dict[str, object]


@dataclass(slots=True)
class Webhook:
    """`status` is what it answers from now on."""

    url: str = ""
    status: int = 200
    heard: list[Json] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [str(each["text"]) for each in self.heard]


@contextmanager
def webhook() -> Iterator[Webhook]:
    """A server that takes alerts and heartbeats."""
    made = Webhook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.raw.append(f"{self.path} {self.headers} {body.decode()}")
            if made.status == 200:
                made.heard.append(json.loads(body))
                made.ids.append(self.headers["Intake-Message-Id"])
            self._answer()

        def do_GET(self) -> None:
            made.called.append(self.path)
            made.raw.append(f"{self.path} {self.headers}")
            self._answer()

        def _answer(self) -> None:
            self.send_response(made.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


@dataclass(slots=True)
class Mailbox:
    """`refuses`: it takes nobody's letters."""

    url: str = ""
    refuses: bool = False
    letters: list[str] = field(default_factory=list)


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    """As much of an SMTP server (RFC 5321) as takes a letter."""
    made = Mailbox()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 here")
            while line := self.rfile.readline().decode().strip():
                word = line[:4].upper()
                if word == "DATA":
                    self._say("354 go on")
                    made.letters.append(self._letter())
                    self._say("250 taken")
                elif word == "RCPT" and made.refuses:
                    self._say("550 nobody")
                else:
                    self._say("221 bye" if word == "QUIT" else "250 fine")
                    if word == "QUIT":
                        return

        def _letter(self) -> str:
            lines: list[str] = []
            while (line := self.rfile.readline().decode()) != ".\r\n":
                lines.append(line)
            return "".join(lines)

        def _say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    made.url = f"smtp://127.0.0.1:{server.server_address[1]}"
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
