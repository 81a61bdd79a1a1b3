"""What programs may read: events, what they say, and what waits for a person."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from http import HTTPStatus
from math import ceil
from typing import Final
from uuid import UUID

from intake import decided, opened, ops, record_pages, remaking, revisions, trail, worklist
from intake.api import gate
from intake.api.asked import EventsQuery, ItemsQuery, LanguageQuery, NoBody, NoQuery
from intake.api.problems import Problem
from intake.api.routes import Given, Route
from intake.api.schemas import (
    DataSchema,
    EventsSchema,
    ExplanationSchema,
    InCrmSchema,
    ItemSchema,
    ItemsSchema,
    WholeEventSchema,
)
from intake.db import Conn
from intake.desk import access, acting, dossier, kin, searching
from intake.desk.dossier import Standing
from intake.desk.tools import connection, tools
from intake.explain import SafeAction, explain, item_actions, item_step, safe_actions
from intake.ops import EventRow, Page, Wanted
from intake.permitted import View
from intake.reason_texts import Language
from intake.record_pages import Pages
from intake.worklist import ItemRow


def events(given: Given) -> Page:
    """One page, the newest first."""
    assignee = gate.token().operator if given.get("assignee") == "me" else given.get("assignee")
    wanted = Wanted(
        given.get("state"), given.get("source"), given.get("since"), given["limit"], given.get("cursor"),
        given.get("kind"), given.get("mode"), given.get("until"), given.get("destination"), assignee,
    )  # fmt: skip
    with connection() as conn:
        return ops.events(conn, wanted if "q" not in given else _searched(conn, wanted, given["q"]))


def _searched(conn: Conn, wanted: Wanted, text: str) -> Wanted:
    """Those that a text may mean; as the console searches, and no more often."""
    wait = tools().rates.wait("search", gate.token().operator, searching.PER_MINUTE)
    if wait:
        raise Problem(HTTPStatus.TOO_MANY_REQUESTS, "too_many_requests", retry_after=ceil(wait))
    found = searching.find(conn, text, tools().settings.region)
    if not found:
        listed = ops.events(conn, replace(wanted, cursor=None, limit=searching.LOOKED_THROUGH)).events
        found = searching.among(conn, text, [each.event_id for each in listed])
    return replace(wanted, events=found)


def event(given: Given, event_id: UUID) -> dict[str, object]:
    """One event, with all that happened to it."""
    with connection() as conn:
        found = _event(conn, event_id)
        view = decided.view_of(conn, found)
        return asdict(found) | {
            "attempts": trail.attempts(conn, event_id),
            "history": trail.history(conn, event_id),
            "decisions": trail.decisions(conn, event_id),
            "safe_actions": safe_actions(view, _language(given)),
            "destination": view.destination,
            "pages": record_pages.read(conn, tools().settings).of_records(view.records),
            "content": revisions.named(conn, event_id),
            "reissue_of": remaking.reissue_of(conn, event_id),
            "reissues": remaking.reissues(conn, event_id),
            "related": kin.relatives(conn, tools().settings, found),
        }


def _event(conn: Conn, event_id: UUID) -> EventRow:
    found = ops.event(conn, event_id)
    if found is None:
        raise LookupError(f"event {event_id}")
    return found


def _language(given: Given) -> Language:
    return "en" if given["lang"] == "en" else "es"


def explained(given: Given, event_id: UUID) -> dict[str, object]:
    """Why it is where it is."""
    with connection() as conn:
        found = _event(conn, event_id)
        can = dossier.open_destinations(tools().settings)
        told = explain(decided.view_of(conn, found), _language(given), open_destinations=can)
    return asdict(told) | {
        "event_id": event_id, "state": found.state, "reason": found.reason, "language": _language(given),
    }  # fmt: skip


def data(given: Given, event_id: UUID) -> dict[str, object]:
    """What it says; who read it is noted first."""
    del given
    with connection() as conn:
        _event(conn, event_id)
        access.note(conn, gate.viewer(), "content", event_id)
        found = dossier.contents(conn, event_id)
    shown = [
        {"revision": each.revision, "lead": json.loads(dossier.as_json(each.lead)) if each.lead else None}
        for each in found
    ]
    return {"event_id": event_id, "revisions": shown}


def in_crm(given: Given, event_id: UUID) -> dict[str, object]:
    """What a worker read there in the last minutes; asks for nothing."""
    del given
    with connection() as conn:
        return _standing(decided.view_of(conn, _event(conn, event_id)), conn)


def read_in_crm(given: Given, event_id: UUID) -> dict[str, object]:
    """Have its records read there by a worker; the answer says what is known so far."""
    del given
    with connection() as conn:
        seen = decided.view_of(conn, _event(conn, event_id))
        acting.ask_all(conn, seen)
        tools().hint()
        return _standing(seen, conn)


def _standing(seen: View, conn: Conn) -> dict[str, object]:
    standing = dossier.standing(conn, tools().settings, seen)
    return {
        "event_id": seen.event.event_id,
        "destination": seen.destination,
        "reading": any(each.is_being_read for each in standing),
        "records": [_record(each) for each in standing],
    }


READ: Final = ("asked_at", "answered_at", "outcome", "reason", "owner", "closed", "changed")


def _record(each: Standing) -> dict[str, object]:
    record, read = each.record, each.read
    told = (
        dict.fromkeys(READ) if read is None else {name: value for name, value in asdict(read).items() if name in READ}
    )
    return told | {
        "record": record.kind,
        "reference": record.reference,
        "crm_id": record.crm_id,
        "page": each.page,
        "state": record.state,
        "found_reference": read.reference if read else None,
    }


def items(given: Given) -> dict[str, object]:
    """What is open, the oldest first."""
    wanted = worklist.Wanted(given.get("kind"), given.get("assignee"), given["limit"], given.get("cursor"))
    with connection() as conn:
        page, pages = worklist.page(conn, wanted), record_pages.read(conn, tools().settings)
        return {"items": [_whole(conn, each, "es", pages) for each in page.items], "next_cursor": page.next_cursor}


def item(given: Given, item_id: int) -> dict[str, object]:
    """One item, open or closed; what is in doubt is looked for in the CRM at once."""
    with connection() as conn:
        found = worklist.item(conn, item_id)
        if found is None:
            raise LookupError(f"item {item_id}")
        if opened.item(conn, found):
            tools().hint()
        return _whole(conn, found, _language(given), record_pages.read(conn, tools().settings))


def _whole(conn: Conn, row: ItemRow, language: Language, pages: Pages) -> dict[str, object]:
    then = item_step(row.kind, row.reason, language)
    records = trail.records(conn, row.event_id) if row.event_id else []
    return asdict(row) | {
        "then": then, "safe_actions": _safe(conn, row, language), "pages": pages.of_records(records),
    }  # fmt: skip


def _safe(conn: Conn, row: ItemRow, language: Language) -> list[SafeAction]:
    """The event's, where it is one of a delivery; else the item's own."""
    if row.kind == "delivery" and row.event_id is not None:
        return list(safe_actions(decided.view(conn, row.event_id), language))
    is_open = row.closed_at is None
    # An item's actions are named otherwise than an event's.
    return [SafeAction(name, is_open, does) for name, does in item_actions(row.kind, language).items()]  # type: ignore[arg-type]


ROUTES: Final = (
    Route("GET", "/events", "listEvents", "What came in, the newest first.",
          "see", EventsQuery(), EventsSchema(), events),
    Route("GET", "/events/<uuid:event_id>", "getEvent", "One event: attempts, history, decisions, what may be done.",
          "see", LanguageQuery(), WholeEventSchema(), event),
    Route("GET", "/events/<uuid:event_id>/explain", "explainEvent", "Why it is where it is, and what is safe.",
          "see", LanguageQuery(), ExplanationSchema(), explained),
    Route("GET", "/events/<uuid:event_id>/data", "getEventData", "What it says, unmasked; who read it is noted.",
          "data", NoQuery(), DataSchema(), data),
    Route("GET", "/events/<uuid:event_id>/crm", "getInCrm", "How its records stood in the CRM in the last minutes.",
          "see", NoQuery(), InCrmSchema(), in_crm),
    Route("POST", "/events/<uuid:event_id>/crm", "readInCrm", "Have its records read in the CRM now; writes nothing.",
          "see", NoBody(), InCrmSchema(), read_in_crm),
    Route("GET", "/items", "listItems", "What waits for a person, the oldest first.",
          "see", ItemsQuery(), ItemsSchema(), items),
    Route("GET", "/items/<int(max=4611686018427387904):item_id>", "getItem",
          "One item, open or closed; what is in doubt is looked for now.", "see", LanguageQuery(), ItemSchema(), item),
)  # fmt: skip
