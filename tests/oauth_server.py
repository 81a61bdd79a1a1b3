"""A vendor's token address in a test: it rotates refresh tokens, and a grant whose token is spent twice is no more."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs


@dataclass(slots=True)
class Vendor:
    """`access`: the token that it gives.  `asked`: the forms that came.  `lose_answers`: so many get none."""

    access: str = "sandbox"
    lasts: int = 1800
    url: str = ""
    base: str | None = None
    refresh: str = "refresh-0"
    lost: bool = False
    lose_answers: int = 0
    asked: list[Mapping[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, form: Mapping[str, str]) -> tuple[int, object] | None:
        """None: no answer, though what was spent is spent."""
        with self.lock:
            self.asked.append(form)
            spent = form.get("refresh_token")
            if self.lost or (spent is not None and spent != self.refresh):
                self.lost = True
                return 400, {"error": "invalid_grant"}
            self.refresh = f"refresh-{len(self.asked)}"
            if self.lose_answers:
                self.lose_answers -= 1
                return None
            told = {"access_token": self.access, "refresh_token": self.refresh, "expires_in": self.lasts}
            return 200, told | ({"api_domain": self.base} if self.base else {})


@contextmanager
def vendor() -> Iterator[Vendor]:
    """Listens on loopback until the block ends."""
    made = Vendor()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            answer = made.answer({name: values[0] for name, values in parse_qs(body).items()})
            if answer is None:
                self.close_connection = True
                return
            status, document = answer
            told = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # http.server's name
            """Nothing: a form holds secrets."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_address[1]}/oauth/token"
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
