"""An imitation of the part of Odoo that the client speaks to, in memory: `load`, `search_read` and `write`.

It was made after Odoo's source and what was seen on 17.0, by us: it shows that our side fits together, and nothing
about Odoo.  Both protocols are served; `key` is asked for in each.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Row = dict[str, object]
KEY = "odoo-key-1"
USER = 6
DATABASE = "company"

FLOATS = frozenset({"expected_revenue", "probability"})
NUMBERS = frozenset({"res_id"})


class Unknown(Exception):
    """A method that nobody imitated."""


REFUSAL: Row = {"name": "werkzeug.exceptions.NotFound", "message": "nobody imitated this", "debug": ""}


@dataclass(slots=True)
class Odoo:
    """`records` by model and number, among them two users; `externals` by external id."""

    url: str = ""
    records: dict[str, dict[int, Row]] = field(
        default_factory=lambda: {"res.users": {number: {"id": number, "active": True} for number in (6, 7)}}
    )
    externals: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    next_id: int = 100

    def rows(self, model: str) -> list[Row]:
        """All that stand there but sentinels."""
        kept = self.records.get(model, {}).values()
        return [row for row in kept if "intake-sentinel" not in json.dumps(row)]

    def call(self, model: str, method: str, ids: list[object], told: Mapping[str, object]) -> object:
        with self.lock:
            if method == "load":
                return self.load(model, told)
            if method == "search_read":
                return self.search(model, told)
            if method != "write":
                raise Unknown
            values = told["vals"]
            assert isinstance(values, dict)
            for number in ids:
                self.records[model][int(str(number))].update(values)
            return True

    def load(self, model: str, told: Mapping[str, object]) -> Row:
        """One row; what stands already under its external id is left alone, as `noupdate` wants it."""
        context, names, data = told["context"], told["fields"], told["data"]
        assert isinstance(context, dict)
        assert context["noupdate"]
        assert isinstance(names, list)
        assert isinstance(data, list)
        cells = dict(zip(names, data[0], strict=True))
        external = str(cells.pop("id"))
        if external not in self.externals:
            self.next_id += 1
            row: Row = {"active": True, "probability": 10.0, "id": self.next_id}
            row |= {str(name).partition("/")[0]: _kept(str(name), cell) for name, cell in cells.items()}
            self.records.setdefault(model, {})[self.next_id] = row
            self.externals[external] = self.next_id
        return {"ids": [self.externals[external]], "messages": [], "nextrow": 0}

    def search(self, model: str, told: Mapping[str, object]) -> list[Row]:
        domain, names = told["domain"], told["fields"]
        assert isinstance(domain, list)
        assert isinstance(names, list)
        found = [row for row in self.records.get(model, {}).values() if _matches(row, domain)]
        return [{"id": row["id"]} | {str(name): row.get(str(name), False) for name in names} for row in found]


def _kept(name: str, cell: object) -> object:
    field_, _, form = name.partition("/")
    if form == ".id":
        return [int(str(cell)), "somebody"]
    if field_ in NUMBERS:
        return int(str(cell))
    return float(str(cell)) if field_ in FLOATS else cell


def _matches(row: Row, domain: list[object]) -> bool:
    if domain and domain[0] == "|":
        return any(_holds(row, each) for each in domain if each != "|")
    return all(_holds(row, each) for each in domain)


def _holds(row: Row, leaf: object) -> bool:
    assert isinstance(leaf, list)
    name, operator, wanted = leaf
    value = row.get(str(name), False)
    value = value[0] if isinstance(value, list) else value
    match operator:
        case "=":
            return bool(value == wanted)
        case "!=":
            return bool(value != wanted)
        case ">":
            return isinstance(value, int) and value > int(str(wanted))
        case "in":
            return isinstance(wanted, list) and value in wanted
        case "=ilike" | "ilike":
            plain = re.sub(r"\\(.)", r"\1", str(wanted)).lower()
            return plain == str(value).lower() if operator == "=ilike" else plain in str(value).lower()
        case _:
            raise AssertionError(operator)


class _Handler(BaseHTTPRequestHandler):
    odoo: Odoo

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/jsonrpc":
            database, user, key, model, method, args, told = body["params"]["args"]
            assert (database, user, key) == (DATABASE, USER, KEY)
            envelope: Row = {"jsonrpc": "2.0", "id": body["id"]}
            try:
                result = self.odoo.call(model, method, args[0] if args else [], told)
            except Unknown:
                self._say(envelope | {"error": {"code": 200, "data": REFUSAL}})
            else:
                self._say(envelope | {"result": result})
            return
        assert self.headers["Authorization"] == f"bearer {KEY}"
        _, _, _, model, method = self.path.split("/")
        try:
            self._say(self.odoo.call(model, method, body.pop("ids", []), body))
        except Unknown:
            self._say(REFUSAL, 404)

    def _say(self, value: object, status: int = 200) -> None:
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_args: object) -> None:
        """Nothing is printed."""


@contextmanager
def running() -> Iterator[Odoo]:
    """An empty one, on this host."""
    odoo = Odoo()
    handler = type("Handler", (_Handler,), {"odoo": odoo})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    odoo.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield odoo
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
