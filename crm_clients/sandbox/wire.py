"""How an answer reaches the socket: whole, or as badly as a rule says."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus

from flask import Response, request

from crm_clients.sandbox.faults import Wire


@dataclass(frozen=True, slots=True)
class Answer:
    """What the client is told."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def with_headers(self, headers: Mapping[str, str]) -> Answer:
        return replace(self, headers={**self.headers, **headers})


def as_json(status: int, body: Mapping[str, object]) -> Answer:
    """An answer in JSON."""
    return Answer(status, json.dumps(body).encode(), {"Content-Type": "application/json"})


def sent(answer: Answer, wire: Wire, *, cut_in: str, pause: float) -> Response:
    """Send an answer, `pause` seconds between two bytes if it drips; a bad one closes the socket before the return."""
    response = Response(answer.body, answer.status, dict(answer.headers))
    if wire is Wire.WHOLE:
        return response
    head, body = _head(answer), answer.body
    with contextlib.suppress(OSError):  # the client may be gone, as clients are
        match wire:
            case Wire.NOTHING:
                pass
            case Wire.HALF:
                _socket().sendall(head[: len(head) // 2] if cut_in == "head" else head + body[: len(body) // 2])
            case Wire.REPEATED:
                _socket().sendall((head + body) * 2)
            case Wire.DRIP:
                _drip(head + body, pause)
        _socket().shutdown(socket.SHUT_RDWR)
    return response


def _head(answer: Answer) -> bytes:
    headers = {
        "Date": _now(),
        **answer.headers,
        "Content-Length": str(len(answer.body)),
        "Connection": "close",
    }
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _now() -> str:
    return format_datetime(datetime.now(UTC), usegmt=True)


def _drip(data: bytes, pause: float) -> None:
    for byte in data:
        _socket().sendall(bytes([byte]))
        time.sleep(pause)


def _socket() -> socket.socket:
    """The connection of this request, which only this server's own WSGI environment shows."""
    connection: socket.socket = request.environ["werkzeug.socket"]
    return connection
