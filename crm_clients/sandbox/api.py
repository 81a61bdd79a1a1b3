"""The sandbox's CRM API: one request is logged, meets its fault if a rule says so, is executed, and is answered."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from flask import Blueprint, Response, request

from crm_clients.sandbox import crm
from crm_clients.sandbox.clock import Clock, Held
from crm_clients.sandbox.excuses import excuse
from crm_clients.sandbox.faults import FAULTS, Asked, Effect, Rule, Rules
from crm_clients.sandbox.profiles import Profile
from crm_clients.sandbox.records import KINDS, OWNERS, REFERENCE, Invalid, Json, marked
from crm_clients.sandbox.store import Store
from crm_clients.sandbox.wire import Answer, as_json, sent

KEEPS_KEYS = timedelta(hours=24)
PLURALS = f"<any({','.join(KINDS)}):plural>"

Execution = Callable[[crm.Doing], tuple[int, Json]]


@dataclass(slots=True)
class Sandbox:
    """Everything that a running sandbox consists of.  `away`: the users who have left the company."""

    store: Store
    clock: Clock
    held: Held
    rules: Rules
    profile: Profile
    token: str
    away: frozenset[str] = frozenset()

    def now(self) -> float:
        return self.clock.now().timestamp()


def blueprint(sandbox: Sandbox) -> Blueprint:
    """All routes below /api."""
    api = Blueprint("api", __name__, url_prefix="/api")

    @api.post(f"/{PLURALS}")
    def create(plural: str) -> Response:
        kind, body = KINDS[plural], json_body()
        return _handle(sandbox, "create", kind, None, lambda doing: (201, crm.create(doing, kind, body)))

    @api.get(f"/{PLURALS}")
    def find(plural: str) -> Response:
        kind, filters = KINDS[plural], request.args.to_dict()
        if filters.keys() == {"after"}:
            return _handle(sandbox, "find", kind, None, lambda doing: (200, crm.listed(doing, kind, filters["after"])))
        return _handle(sandbox, "find", kind, None, lambda doing: (200, crm.find(doing, kind, filters)))

    @api.get(f"/{PLURALS}/<record_id>")
    def read(plural: str, record_id: str) -> Response:
        kind = KINDS[plural]
        return _handle(sandbox, "read", kind, record_id, lambda doing: (200, crm.read(doing, kind, record_id)))

    @api.patch(f"/{PLURALS}/<record_id>")
    def update(plural: str, record_id: str) -> Response:
        kind, body = KINDS[plural], json_body()
        return _handle(
            sandbox, "update", kind, record_id, lambda doing: (200, crm.update(doing, kind, record_id, body))
        )

    @api.delete(f"/{PLURALS}/<record_id>")
    def trash(plural: str, record_id: str) -> Response:
        kind = KINDS[plural]
        return _handle(sandbox, "delete", kind, record_id, lambda doing: (200, crm.trash(doing, kind, record_id)))

    @api.post("/contacts/<record_id>/merge")
    def merge(record_id: str) -> Response:
        body = json_body()
        return _handle(sandbox, "merge", "contact", record_id, lambda doing: (200, crm.merge(doing, record_id, body)))

    @api.get("/me")
    def me() -> Response:
        return _handle(sandbox, "control", None, None, lambda doing: (200, _me(doing.profile)))

    @api.get("/owners")
    def owners() -> Response:
        listed = [{"id": key, "name": name, "active": key not in sandbox.away} for key, name in OWNERS.items()]
        return _handle(sandbox, "control", None, None, lambda _: (200, {"results": listed}))

    return api


def json_body() -> object:
    """The JSON of the request's body, None if it is none."""
    try:
        body: object = json.loads(request.get_data())
    except (ValueError, RecursionError):
        return None
    return body


def _me(profile: Profile) -> Json:
    lag = profile.lag if profile.states_lag else None
    return {"ok": True, "profile": profile.name, "limit_seconds": profile.limit, "lag_seconds": lag}


def _handle(sandbox: Sandbox, what: str, kind: str | None, record_id: str | None, execution: Execution) -> Response:
    asked = _asked(sandbox, what, kind, record_id)
    rule = sandbox.rules.take(asked) if _authentic(sandbox.token) else None
    request_id = _log(sandbox, asked, rule)
    if not _authentic(sandbox.token):
        answer = as_json(401, {"error": "unauthorized"})
    elif rule is None:
        answer = _executed(sandbox, request_id, execution, Effect.ONCE)
    else:
        answer = _faulty(sandbox, request_id, execution, rule, asked)
    sandbox.store.write("UPDATE requests SET status = ? WHERE id = ?", answer.status, request_id)
    if rule is None:
        return Response(answer.body, answer.status, dict(answer.headers))
    return sent(answer, FAULTS[rule.fault].wire, cut_in=rule.cut_in, pause=rule.wait())


def _asked(sandbox: Sandbox, what: str, kind: str | None, record_id: str | None) -> Asked:
    return Asked(request.method, what, kind, record_id, _reference(sandbox, record_id), request.get_data(as_text=True))


def _reference(sandbox: Sandbox, record_id: str | None) -> str | None:
    """The reference of the record in the path, else of the body, else of the filter, as far as it is one."""
    if record_id is not None:
        known = sandbox.store.rows("SELECT data FROM records WHERE id = ?", record_id)
        return marked(json.loads(str(known[0]["data"]))) if known else None
    body = json_body()
    reference = marked(body) if isinstance(body, dict) else request.args.get("reference")
    return reference if reference is not None and REFERENCE.fullmatch(reference) else None


def _log(sandbox: Sandbox, asked: Asked, rule: Rule | None) -> int:
    return sandbox.store.write(
        "INSERT INTO requests (at, method, what, kind, record_id, reference, fault) VALUES (?, ?, ?, ?, ?, ?, ?)",
        sandbox.now(),
        asked.method,
        asked.what,
        asked.kind,
        asked.record_id,
        asked.reference,
        None if rule is None else rule.fault,
    )


def _faulty(sandbox: Sandbox, request_id: int, execution: Execution, rule: Rule, asked: Asked) -> Answer:
    effect = rule.executed()
    hidden_for = rule.wait() if effect is Effect.HIDDEN else 0.0
    with _waited(sandbox, rule):
        answer = _executed(sandbox, request_id, execution, effect, hidden_for)
    return excuse(rule, asked, answer, datetime.now(UTC))


@contextmanager
def _waited(sandbox: Sandbox, rule: Rule) -> Iterator[None]:
    """Wait as the rule says; a held request waits by the sandbox's clock, a slow one by the world's."""
    match FAULTS[rule.fault].waits:
        case "no":
            yield
        case "slow":
            time.sleep(rule.wait())
            yield
        case "held":
            # By default the declared limit is kept; a rule with more seconds breaks that promise.
            seconds = sandbox.profile.limit if rule.seconds is None else rule.seconds
            with sandbox.held.until(sandbox.clock.now() + timedelta(seconds=seconds)):
                yield


def _executed(
    sandbox: Sandbox, request_id: int, execution: Execution, effect: Effect, hidden_for: float = 0.0
) -> Answer:
    """Execute a request in one transaction with its row in the ledger, and say what came of it."""
    if effect is Effect.NEVER:
        return as_json(200, {})
    try:
        with sandbox.store.transaction(keep=effect is not Effect.UNDONE) as db:
            db.execute("UPDATE requests SET executed = executed + 1 WHERE id = ?", (request_id,))
            doing = crm.Doing(db, sandbox.now(), sandbox.profile, request_id, hidden_for)
            answer = _once_per_key(doing, execution)
            if effect is Effect.TWICE:
                db.execute("UPDATE requests SET executed = executed + 1 WHERE id = ?", (request_id,))
                execution(crm.Doing(db, doing.now, doing.profile, request_id, unchecked=True))
            return answer
    except Invalid as invalid:
        return as_json(422, {"error": "validation", "fields": invalid.problems})
    except crm.Refused as refused:
        return as_json(refused.status, refused.body)


def _authentic(token: str) -> bool:
    sent_token = request.headers.get("Authorization", "")
    return hmac.compare_digest(sent_token.encode(), f"Bearer {token}".encode())


def _once_per_key(doing: crm.Doing, execution: Execution) -> Answer:
    """Execute, or answer a repeated `Idempotency-Key` as its first use was, in a profile that honours it."""
    key = request.headers.get("Idempotency-Key", "")
    if not key or request.method != "POST" or not doing.profile.idempotency:
        return as_json(*execution(doing))
    asked = hashlib.sha256(f"{request.path}\n".encode() + request.get_data()).hexdigest()
    row = doing.db.execute("SELECT * FROM replays WHERE key = ? AND until > ?", (key, doing.now)).fetchone()
    if row is not None and row["asked"] != asked:
        first = json.loads(row["answer"]).get("id")
        raise crm.Refused(422, {"error": "idempotency_key_reused", "by": "idempotency_key", "id": first})
    if row is not None:
        return as_json(201, json.loads(row["answer"])).with_headers({"Idempotent-Replayed": "true"})
    status, body = execution(doing)
    doing.db.execute(
        "INSERT OR REPLACE INTO replays (key, asked, answer, until) VALUES (?, ?, ?, ?)",
        (key, asked, json.dumps(body), doing.now + KEEPS_KEYS.total_seconds()),
    )
    return as_json(status, body)
