"""What the sandbox does with its records.  Every function runs inside the caller's transaction."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import starmap

from crm_clients.sandbox.profiles import Profile
from crm_clients.sandbox.records import CHILDREN, FILTERS, PARENTS, Json, checked, has_reference, marked

PAGE = 500
LAST_ROW = 2**63
COLUMNS = {
    "reference": "reference",
    "contact_id": "parent_id",
    "opportunity_id": "parent_id",
    "phone": "json_extract(data, '$.phone')",
    "email": "lower(json_extract(data, '$.email'))",
}


@dataclass(frozen=True, slots=True)
class Doing:
    """One execution of one request.  `now` in seconds since 1970; the last two are faults."""

    db: sqlite3.Connection
    now: float
    profile: Profile
    request_id: int
    hidden_for: float = 0.0
    unchecked: bool = False


class Refused(Exception):
    """The request is not executed; `body` says why."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(str(body.get("error")))
        self.status = status
        self.body = body


def create(doing: Doing, kind: str, body: object) -> Json:
    """Store a new record.  Raises Invalid and Refused."""
    data = checked(kind, body, doing.profile)
    parent_id = _parent(doing, kind, data)
    if not doing.unchecked:
        _unlike_others(doing, kind, data)
    crm_id = f"{kind[:3]}-{secrets.token_hex(6)}"
    doing.db.execute(
        "INSERT INTO records (id, kind, reference, parent_id, created_at, hidden_until, data)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            crm_id,
            kind,
            data.get("reference"),
            parent_id,
            doing.now,
            doing.now + doing.hidden_for if doing.hidden_for else 0.0,
            json.dumps(data),
        ),
    )
    _enter(doing, "created", crm_id, data)
    return read(doing, kind, crm_id)


def _parent(doing: Doing, kind: str, data: Mapping[str, object]) -> str | None:
    """The id of the parent that the fields name.  Raises Refused if there is no such live record."""
    if kind not in PARENTS or data.get(PARENTS[kind][0]) is None:
        return None
    field, parent_kind = PARENTS[kind]
    parent = _row(doing, parent_kind, str(data[field]))
    if parent is None or not parent["live"]:
        raise Refused(422, {"error": "validation", "fields": {field: f"No such {parent_kind}."}})
    return str(data[field])


def _unlike_others(doing: Doing, kind: str, data: Mapping[str, object]) -> None:
    if doing.profile.unique_reference and "reference" in data:
        _unique(doing, kind, "reference", data["reference"], "reference = ?")
    if doing.profile.unique_email and kind == "contact" and "email" in data:
        email = str(data["email"]).lower()
        _unique(doing, kind, "email", email, f"live AND {COLUMNS['email']} = ?")


def _unique(doing: Doing, kind: str, by: str, value: object, condition: str) -> None:
    sql = f"SELECT id FROM records WHERE kind = ? AND {condition}"  # noqa: S608 - two constants above
    other = doing.db.execute(sql, (kind, value)).fetchone()
    if other is not None:
        raise Refused(409, {"error": "duplicate", "by": by, "id": other["id"]})


def find(doing: Doing, kind: str, filters: Mapping[str, str]) -> Json:
    """All records that meet every filter and are old enough to be found, trashed ones too.  Raises Refused.

    A record of the future is old: the clock was set back since.
    """
    allowed = FILTERS[kind] if has_reference(kind, doing.profile) else FILTERS[kind] - {"reference"}
    if not filters or any(name not in allowed or not value for name, value in filters.items()):
        raise Refused(400, {"error": "bad_filter", "allowed": sorted(allowed)})
    conditions = " AND ".join(f"{COLUMNS[name]} = ?" for name in filters)
    found = doing.db.execute(
        "SELECT * FROM records WHERE kind = ? AND NOT created_at BETWEEN ? AND ? AND hidden_until <= ?"  # noqa: S608
        f" AND {conditions} ORDER BY created_at LIMIT ?",
        (kind, *_too_young(doing), doing.now, *starmap(_sought, filters.items()), PAGE + 1),
    ).fetchall()
    shown = [_shown(row, doing.profile) for row in found]
    return {"results": shown[:PAGE], "more": len(shown) > PAGE}


def _too_young(doing: Doing) -> tuple[float, float]:
    """The span of creation times that a search does not see yet; an empty one without lag."""
    return (doing.now - doing.profile.lag, doing.now if doing.profile.lag else 0.0)


def _sought(name: str, value: str) -> str:
    return _sendable(value.lower() if name == "email" else value)


def _sendable(value: str) -> str:
    """Text that SQLite takes as a value."""
    return value.encode("utf-8", "replace").decode("utf-8")


def listed(doing: Doing, kind: str, after: str) -> Json:
    """A page of all records of a kind, trashed ones too, in the order in which they were made.  Raises Refused."""
    if not after.isdecimal() or int(after) >= LAST_ROW:
        raise Refused(400, {"error": "bad_filter", "allowed": ["after"]})
    found = doing.db.execute(
        "SELECT *, rowid AS place FROM records WHERE kind = ? AND rowid > ? ORDER BY rowid LIMIT ?",
        (kind, int(after), PAGE + 1),
    ).fetchall()
    shown = [_shown(row, doing.profile) for row in found[:PAGE]]
    more = len(found) > PAGE
    return {"results": shown, "more": more, "after": str(found[PAGE - 1]["place"]) if more else None}


def read(doing: Doing, kind: str, crm_id: str) -> Json:
    """One record, in the trash or not.  Raises Refused."""
    row = _row(doing, kind, crm_id)
    if row is None:
        raise Refused(404, {"error": "not_found"})
    return _shown(row, doing.profile)


def update(doing: Doing, kind: str, crm_id: str, body: object) -> Json:
    """Change the fields that were sent, and no other.  A record in the trash is not found.  Raises Invalid, Refused."""
    row = _live(doing, kind, crm_id)
    changes = checked(kind, body, doing.profile, partial=True)
    moves = kind in PARENTS and PARENTS[kind][0] in changes
    parent_id = _parent(doing, kind, changes) if moves else row["parent_id"]
    data = json.loads(row["data"]) | changes
    doing.db.execute("UPDATE records SET data = ?, parent_id = ? WHERE id = ?", (json.dumps(data), parent_id, crm_id))
    _enter(doing, "updated", crm_id, changes)
    return read(doing, kind, crm_id)


def trash(doing: Doing, kind: str, crm_id: str) -> Json:
    """Put a record into the trash.  Raises Refused."""
    _live(doing, kind, crm_id)
    doing.db.execute("UPDATE records SET live = 0 WHERE id = ?", (crm_id,))
    _enter(doing, "deleted", crm_id, {})
    return read(doing, kind, crm_id)


def merge(doing: Doing, crm_id: str, body: object) -> Json:
    """Merge a contact into another, which gets its opportunities.  Raises Refused."""
    _live(doing, "contact", crm_id)
    into = str(body.get("into", "")) if isinstance(body, dict) else ""
    kept = _row(doing, "contact", into)
    if kept is None or not kept["live"] or into == crm_id:
        raise Refused(422, {"error": "validation", "fields": {"into": "No such other contact."}})
    doing.db.execute("UPDATE records SET live = 0, merged_into = ? WHERE id = ?", (into, crm_id))
    _enter(doing, "merged", crm_id, {})
    for moved in doing.db.execute(
        "SELECT id FROM records WHERE kind = 'opportunity' AND live AND parent_id = ?", (crm_id,)
    ).fetchall():
        update(doing, "opportunity", moved["id"], {"contact_id": into})
    return read(doing, "contact", crm_id)


def _live(doing: Doing, kind: str, crm_id: str) -> sqlite3.Row:
    row = _row(doing, kind, crm_id)
    if row is None or not row["live"]:
        raise Refused(404, {"error": "not_found"})
    return row


def _row(doing: Doing, kind: str, crm_id: str) -> sqlite3.Row | None:
    asked = (kind, _sendable(crm_id))
    found: sqlite3.Row | None = doing.db.execute("SELECT * FROM records WHERE kind = ? AND id = ?", asked).fetchone()
    return found


def _shown(row: sqlite3.Row, profile: Profile) -> Json:
    data: Json = json.loads(row["data"])
    shown = {"id": row["id"], "reference": row["reference"], "owner_id": None} | data
    shown |= {"live": bool(row["live"]), "merged_into": row["merged_into"]}
    if row["kind"] in CHILDREN and not profile.child_reference:
        del shown["reference"]
    return shown


def _enter(doing: Doing, what: str, crm_id: str, changes: Mapping[str, object]) -> None:
    """Write the ledger: names of fields only, never their values."""
    row = doing.db.execute("SELECT kind, data FROM records WHERE id = ?", (crm_id,)).fetchone()
    doing.db.execute(
        "INSERT INTO ledger (at, what, kind, id, reference, request_id, fields) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            doing.now,
            what,
            row["kind"],
            crm_id,
            marked(json.loads(row["data"])),
            doing.request_id,
            json.dumps(sorted(changes)),
        ),
    )
