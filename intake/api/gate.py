"""The way into every route of the API: whose token it is, what it may, how often, and only once."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from math import ceil
from typing import Final, ParamSpec

from flask import Response, g, request
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from intake.api.problems import Problem
from intake.db import Conn
from intake.desk import tokens
from intake.desk.access import Viewer
from intake.desk.roles import Permission
from intake.desk.tokens import Token
from intake.desk.tools import connection, tools

P = ParamSpec("P")
Document = Mapping[str, object]
View = Callable[P, Document]

# Of one token, in one of the web processes.
PER_MINUTE: Final = 240

BEARER: Final = re.compile(r"Bearer ([A-Za-z0-9._~+/=-]{1,200})", re.ASCII | re.IGNORECASE)
KEY: Final = re.compile(r'"?([\x21\x23-\x7e]{1,255})"?', re.ASCII)


def needs(permission: Permission) -> Callable[[View[P]], Callable[P, Response]]:
    """Let in a token that may, and answer with its document."""

    def guard(view: View[P]) -> Callable[P, Response]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> Response:
            with connection() as conn:
                g.token = _identify(conn)
                if permission not in g.token.permissions:
                    raise Problem(HTTPStatus.FORBIDDEN, "forbidden")
                key = request.headers.get("Idempotency-Key") if request.method == "POST" else None
                if key is None:
                    return as_json(view(*args, **kwargs))
                return _once(conn, key, lambda: view(*args, **kwargs))

        guarded.needs = permission  # type: ignore[attr-defined]  # read by the test that walks all routes
        return guarded

    return guard


def _identify(conn: Conn) -> Token:
    given = BEARER.fullmatch(request.headers.get("Authorization", ""))
    found = tokens.find(conn, given[1]) if given else None
    if found is None:
        raise Problem(HTTPStatus.UNAUTHORIZED, "unauthorized")
    wait = tools().rates.wait("api", str(found.token_id), PER_MINUTE)
    if wait:
        raise Problem(HTTPStatus.TOO_MANY_REQUESTS, "too_many_requests", retry_after=ceil(wait))
    return found


def token() -> Token:
    """Whose request this is."""
    found: Token = g.token
    return found


def must(permission: Permission) -> None:
    """What one action needs beyond its route.  Raises Problem."""
    if permission not in token().permissions:
        raise Problem(HTTPStatus.FORBIDDEN, "forbidden")


def invalid(name: str, rule: str) -> Problem:
    """A field that breaks a rule which its schema does not say."""
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", more={"fields": {name: rule}})


def viewer() -> Viewer:
    """Whom the access log names."""
    return Viewer(token().operator, "api")


def as_json(document: Document) -> Response:
    """As it is sent."""
    return Response(json.dumps(document, ensure_ascii=False), content_type="application/json")


# --- only once --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Call:
    request_hash: bytes
    status: int | None
    answer: dict[str, object] | None


# A key that was taken and never answered (its process died) may be taken again after a while: the decisions themselves
# refuse what was done already.
BEGIN: Final = """
    INSERT INTO api_calls AS c (token_id, key, request_hash) VALUES (%(token_id)s, %(key)s, %(hash)s)
    ON CONFLICT (token_id, key) DO UPDATE SET made_at = clock_timestamp()
     WHERE c.status IS NULL AND c.request_hash = EXCLUDED.request_hash
       AND c.made_at < statement_timestamp() - interval '1 minute'
    RETURNING key
"""
READ: Final = "SELECT request_hash, status, answer FROM api_calls WHERE token_id = %(token_id)s AND key = %(key)s"
END: Final = """
    UPDATE api_calls SET status = %(status)s, answer = %(answer)s WHERE token_id = %(token_id)s AND key = %(key)s
"""
DROP: Final = "DELETE FROM api_calls WHERE token_id = %(token_id)s AND key = %(key)s AND status IS NULL"
FORGET: Final = "DELETE FROM api_calls WHERE made_at < statement_timestamp() - interval '1 day'"


def _once(conn: Conn, given: str, act: Callable[[], Document]) -> Response:
    """https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/ (07, 2025-10-15)."""
    read = KEY.fullmatch(given)
    if read is None:
        raise Problem(HTTPStatus.BAD_REQUEST, "bad_request", "Idempotency-Key has 1 to 255 visible ASCII characters.")
    digest = hashlib.sha256(f"{request.path}\n".encode() + request.get_data()).digest()
    key = {"token_id": token().token_id, "key": read[1]}
    conn.execute(FORGET)
    if conn.execute(BEGIN, key | {"hash": digest}).fetchone() is None:
        return _replayed(conn, key, digest)
    try:
        document = act()
    except Exception:
        conn.execute(DROP, key)  # Nothing was decided: the same key may try again.
        raise
    conn.execute(END, key | {"status": HTTPStatus.OK.value, "answer": Jsonb(document)})
    return as_json(document)


def _replayed(conn: Conn, key: Mapping[str, object], digest: bytes) -> Response:
    with conn.cursor(row_factory=class_row(_Call)) as cursor:
        stored = cursor.execute(READ, key).fetchone()
    if stored is None or (stored.answer is None and stored.request_hash == digest):
        raise Problem(HTTPStatus.CONFLICT, "in_progress", retry_after=1)
    if stored.request_hash != digest:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "key_reused")
    answer = as_json(stored.answer or {})
    answer.headers["Idempotent-Replayed"] = "true"
    return answer
