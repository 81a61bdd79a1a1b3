"""A Graph API of our own on loopback, for tests: real sockets, leads that a test puts in, and faults that it dials."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "page-token-of-the-test"
OTHER_TOKEN = "renewed-token-of-the-test"

Json = dict[str, object]
NO_TOKEN: Json = {"message": "Error validating access token", "type": "OAuthException", "code": 190}
NO_RIGHT: Json = {"message": "(#200) Requires leads_retrieval", "type": "OAuthException", "code": 200}
GONE: Json = {"message": "Unsupported get request", "type": "GraphMethodException", "code": 100, "error_subcode": 33}
LIMIT: Json = {"message": "(#4) Application request limit reached", "type": "OAuthException", "code": 4}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered instead of what would be."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def error(status: int, what: Json) -> Answer:
    return Answer(status, json.dumps({"error": what}).encode())


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    path: str
    query: Mapping[str, list[str]]
    token: str | None = field(repr=False)


@dataclass(slots=True)
class Graph:
    """`objects`: by path, such as "/1001".  `instead`: answers for the next requests, in order."""

    url: str
    tokens: set[str] = field(default_factory=lambda: {TOKEN})
    objects: dict[str, object | Callable[[Asked], object]] = field(default_factory=dict)
    raw: dict[str, Answer] = field(default_factory=dict)
    refused: dict[str, Json] = field(default_factory=dict)
    instead: list[Answer] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def add_lead(self, leadgen_id: str, **answers: str) -> None:
        """A lead with these answers to Meta's keys."""
        data = [{"name": name, "values": [value]} for name, value in answers.items()]
        self.objects[f"/{leadgen_id}"] = {
            "id": leadgen_id, "created_time": "2026-03-02T15:00:00+0000", "field_data": data,
        }  # fmt: skip

    def add_form(self, form_id: str, *leadgen_ids: str, at: str = "2026-03-02T15:00:00+0000", page: int = 2) -> None:
        """A form of the page with these leads, `page` of them at a time."""
        forms = self.objects.setdefault("/me/leadgen_forms", {"data": []})
        assert isinstance(forms, dict)
        forms["data"].append({"id": form_id})
        self.objects[f"/{form_id}/leads"] = lambda asked: _page(leadgen_ids, asked, at, page)

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        if self.instead:
            return self.instead.pop(0)
        if asked.token not in self.tokens:
            return error(401, NO_TOKEN)
        if asked.path in self.refused:
            return error(403, self.refused[asked.path])
        if asked.path in self.raw:
            return self.raw[asked.path]
        found = self.objects.get(asked.path)
        if found is None:
            return error(400, GONE)
        found = found(asked) if callable(found) else found
        return found if isinstance(found, Answer) else Answer(200, json.dumps(found).encode())


def _page(leadgen_ids: tuple[str, ...], asked: Asked, at: str, size: int) -> Json:
    """A cursor names where the next page begins; "next" holds a token, as Meta's does."""
    start = int(asked.query.get("after", ["0"])[0])
    end = start + size
    paging: Json = {"cursors": {"before": str(start), "after": str(end)}}
    more: Json = {"next": "https://graph.example.com/?access_token=secret"} if end < len(leadgen_ids) else {}
    return {"data": [{"id": each, "created_time": at} for each in leadgen_ids[start:end]], "paging": paging | more}


@contextmanager
def graph_server(path: str = "") -> Iterator[Graph]:
    """A server whose addresses all begin with `path`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            shown = self.headers.get("Authorization") or self.headers.get("D360-API-KEY") or ""
            token = shown.removeprefix("Bearer ") or None
            given = graph.answer(Asked(parts.path.removeprefix(path), parse_qs(parts.query), token))
            self.send_response(given.status)
            for name, value in {"Content-Type": "application/json", **given.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(given.body)))
            self.end_headers()
            self.wfile.write(given.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name in the library
            """Nothing to say."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    graph = Graph(f"http://127.0.0.1:{server.server_address[1]}{path}")
    serving = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    serving.start()
    try:
        yield graph
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
