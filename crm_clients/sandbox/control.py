"""The sandbox's control plane: the ledger to read and the dials to set.  No fault ever hits it."""

from __future__ import annotations

import ipaddress
import json
from datetime import UTC, datetime, timedelta

from flask import Blueprint, Response, abort, request

from crm_clients.sandbox import faults, profiles
from crm_clients.sandbox.api import Sandbox, json_body
from crm_clients.sandbox.records import Invalid, Json, marked
from crm_clients.sandbox.wire import as_json


def blueprint(sandbox: Sandbox) -> Blueprint:
    """All routes below /control."""
    control = Blueprint("control", __name__, url_prefix="/control")
    control.before_request(_only_from_here)
    _add_reading(control, sandbox)
    _add_faults(control, sandbox)
    _add_dials(control, sandbox)
    return control


def _only_from_here() -> None:
    """Programs on this host only, and no web page that a browser on this host shows."""
    remote = request.remote_addr
    if remote is None or not ipaddress.ip_address(remote).is_loopback or "Origin" in request.headers:
        abort(403)


def _add_reading(control: Blueprint, sandbox: Sandbox) -> None:
    @control.get("/ledger")
    def ledger() -> Response:
        since = request.args.get("since", "0")
        rows = sandbox.store.rows(
            "SELECT * FROM ledger WHERE seq > ? ORDER BY seq", int(since) if since.isdecimal() else 0
        )
        return _json({"entries": [_timed(row) | {"fields": json.loads(str(row["fields"]))} for row in rows]})

    @control.get("/records")
    def records() -> Response:
        return _json({"records": _records(sandbox)})

    @control.get("/doubles")
    def doubles() -> Response:
        return _json({"doubles": _doubles(sandbox)})

    @control.get("/requests")
    def requests() -> Response:
        rows = sandbox.store.rows("SELECT * FROM requests ORDER BY id")
        return _json({"requests": [_timed(row) for row in rows]})


def _records(sandbox: Sandbox) -> list[Json]:
    """All records as they are stored; `reference` counts a marker in the text too."""
    shown: list[Json] = []
    for row in sandbox.store.rows("SELECT * FROM records ORDER BY created_at, id"):
        data: Json = json.loads(str(row["data"]))
        head: Json = {"id": row["id"], "kind": row["kind"], "live": bool(row["live"])}
        shown.append({"owner_id": None} | data | head | {"merged_into": row["merged_into"], "reference": marked(data)})
    return shown


def _doubles(sandbox: Sandbox) -> list[Json]:
    """References under which more than one record of a kind lives."""
    alive: dict[tuple[str, str], list[object]] = {}
    for record in _records(sandbox):
        if record["live"] and record["reference"] is not None:
            alive.setdefault((str(record["kind"]), str(record["reference"])), []).append(record["id"])
    return [
        {"kind": kind, "reference": reference, "ids": ids} for (kind, reference), ids in alive.items() if len(ids) > 1
    ]


def _add_faults(control: Blueprint, sandbox: Sandbox) -> None:
    @control.get("/faults")
    def shown() -> Response:
        return _json({"faults": sandbox.rules.shown(), "known": sorted(faults.FAULTS)})

    @control.put("/faults")
    def replace() -> Response:
        if not isinstance(body := json_body(), list):
            raise Invalid({"_": "Not a JSON list."})
        sandbox.rules.replace([faults.rule(one) for one in body])
        return shown()

    @control.post("/faults")
    def add() -> Response:
        sandbox.rules.add(faults.rule(json_body()))
        return shown()

    @control.delete("/faults")
    def remove() -> Response:
        sandbox.rules.replace([])
        return shown()

    @control.get("/late")
    def held() -> Response:
        return _json({"held": sandbox.held.count()})

    @control.post("/late")
    def release() -> Response:
        return _json({"executed": sandbox.held.release()})


def _add_dials(control: Blueprint, sandbox: Sandbox) -> None:
    @control.get("/profile")
    def profile() -> Response:
        now = sandbox.profile
        return _json({"name": now.name, "lag_seconds": now.lag, "limit_seconds": now.limit})

    @control.put("/profile")
    def change_profile() -> Response:
        sandbox.profile = _profile(json_body())
        return profile()

    @control.put("/owners")
    def set_owners() -> Response:
        away = body.get("away") if isinstance(body := json_body(), dict) else None
        if not isinstance(away, list) or not all(isinstance(each, str) for each in away):
            raise Invalid({"away": "Not a list of owners."})
        sandbox.away = frozenset(away)
        return _json({"away": sorted(sandbox.away)})

    @control.get("/clock")
    def clock() -> Response:
        offset = sandbox.clock.offset.total_seconds()
        return _json({"now": sandbox.clock.now().isoformat(), "offset_seconds": offset})

    @control.put("/clock")
    def set_clock() -> Response:
        sandbox.clock.set_offset(timedelta(seconds=_number(json_body(), "offset_seconds") or 0.0))
        return clock()

    @control.post("/reset")
    def reset() -> Response:
        sandbox.rules.replace([])
        sandbox.held.release()
        sandbox.store.reset()
        return _json({"ok": True})


def _profile(body: object) -> profiles.Profile:
    name = body.get("name") if isinstance(body, dict) else None
    if not isinstance(name, str) or name not in profiles.PROFILES:
        raise Invalid({"name": f"One of {', '.join(profiles.PROFILES)}."})
    return profiles.profile(name, lag=_number(body, "lag_seconds"), limit=_number(body, "limit_seconds"))


def _number(body: object, name: str) -> float | None:
    value = body.get(name) if isinstance(body, dict) else None
    if value is None or (isinstance(value, int | float) and abs(value) < 10**9):
        return value
    raise Invalid({name: "Not a number of seconds."})


def _timed(row: Json) -> Json:
    return row | {"at": datetime.fromtimestamp(float(str(row["at"])), UTC).isoformat()}


def _json(body: Json) -> Response:
    answer = as_json(200, body)
    return Response(answer.body, answer.status, dict(answer.headers))
