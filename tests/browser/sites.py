"""Two servers of a test: the receiver, whose answers can be held back, and a strict site that has a form."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import parse_qs

from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Served: TypeAlias = "Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]]"

FORM = """<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>Contacto</title>
<script src="{receiver}/snippet/page.js" defer></script></head><body>
<form data-intake="page" method="post" action="{receiver}/hooks/page">
<label>Nombre <input name="nombre" required></label>
<label>Correo <input name="correo" type="email"></label>
<label>Mensaje <textarea name="mensaje"></textarea></label>
{more}
<button>Enviar</button>
</form></body></html>"""
# As strict as a page can be that uses the snippet.
POLICY = "default-src 'none'; script-src {receiver}; connect-src {receiver}; form-action 'self' {receiver}"


class Quiet(WSGIRequestHandler):
    """Its log would be noise."""

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002  # werkzeug's own name
        pass


@dataclass(slots=True)
class Network:
    """What stands between a browser and the door: it counts, and holds answers back while it is told to."""

    app: WSGIApplication
    methods: list[str] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)
    held: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.open.set()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = self.app(environ, start_response)
        self.methods.append(str(environ["REQUEST_METHOD"]))
        if environ["REQUEST_METHOD"] == "POST" and not self.open.is_set():
            self.held.set()  # What was sent is committed, and nobody knows it yet.
            self.open.wait(30)
        return answer

    @property
    def posts(self) -> int:
        return self.methods.count("POST")


@contextmanager
def serving(app: Served, port: int) -> Iterator[None]:
    """Serve it on loopback until the block ends."""
    server = make_server("127.0.0.1", port, app, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def site(receiver: str) -> Served:
    """Pages with a form.  `?lang=en`, and `?file=1` for one with a file field."""

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/":
            start_response("204 No Content", [])
            return []
        query = parse_qs(str(environ["QUERY_STRING"]))
        more = '<input type="file" name="adjunto">' if "file" in query else ""
        page = FORM.format(lang=query.get("lang", ["es"])[0], receiver=receiver, more=more)
        headers = [("Content-Type", "text/html"), ("Content-Security-Policy", POLICY.format(receiver=receiver))]
        start_response("200 OK", headers)
        return [page.encode()]

    return app
