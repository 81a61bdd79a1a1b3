"""One decision about many events, for programs: counted, begun for that number, with a result for each."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final
from uuid import UUID

from marshmallow import fields, validate

from intake import bulk
from intake.api import gate
from intake.api.asked import Asked, Body, LanguageQuery, NoBody, NoQuery
from intake.api.routes import Given, Route
from intake.api.schemas import Answer, SafeActionSchema
from intake.bulk import BULK_ACTIONS, Filter, Run, Seen
from intake.bulk_texts import result_text
from intake.db import Conn
from intake.decided import Author
from intake.desk import many
from intake.desk.many import Desk, Wish
from intake.desk.roles import deciding_many
from intake.desk.tools import connection, tools
from intake.explain import reason_text
from intake.ops import STATES
from intake.reason_texts import Language

MOST_RESULTS: Final = 1000


# --- documents --------------------------------------------------------------------------------------------------------


class FilterQuery(Asked):
    """At least one of the first five; without a state only open events are meant."""

    state = fields.String(validate=validate.OneOf(STATES), metadata={"description": "`pending`: all not final."})
    source = fields.String(validate=validate.Length(max=100))
    since = fields.AwareDateTime(metadata={"description": "Received since then, ISO 8601 with its zone."})
    reason_word = fields.String(validate=validate.Length(1, 200), metadata={"description": "Stands in the reason."})
    cause = fields.String(validate=validate.Length(1, 200), metadata={"description": "The whole reason."})
    lang = fields.String(load_default="es", validate=validate.OneOf(("es", "en")))


class BulkBody(Body):
    action = fields.String(required=True, validate=validate.OneOf(BULK_ACTIONS))
    expected = fields.Integer(
        required=True,
        validate=validate.Range(1, 10_000_000),
        metadata={"description": "How many events were counted; where another number matches, nothing is begun."},
    )
    seen = fields.String(
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, 64),
        metadata={"description": "`fingerprint` of the count: nothing is begun where one of them changed since."},
    )
    state = fields.String(load_default=None, allow_none=True, validate=validate.OneOf(STATES))
    source = fields.String(load_default=None, allow_none=True, validate=validate.Length(max=100))
    since = fields.AwareDateTime(load_default=None, allow_none=True)
    reason_word = fields.String(load_default=None, allow_none=True, validate=validate.Length(1, 200))
    cause = fields.String(load_default=None, allow_none=True, validate=validate.Length(1, 200))


class ResultsQuery(Asked):
    limit = fields.Integer(load_default=100, validate=validate.Range(1, MOST_RESULTS))
    cursor = fields.UUID(metadata={"description": "`next_cursor` of the page before."})
    lang = fields.String(load_default="es", validate=validate.OneOf(("es", "en")))


class CauseSchema(Answer):
    state = fields.String(required=True)
    cause = fields.String(required=True, attribute="reason")
    why = fields.String(required=True, metadata={"description": "The cause in words."})
    events = fields.Integer(required=True)
    oldest = fields.AwareDateTime(required=True)
    action = fields.String(required=True, metadata={"description": "What is mostly done about it."})


class HeldSchema(Answer):
    account = fields.String(required=True, attribute="destination")
    paused_at = fields.AwareDateTime(required=True)
    cause = fields.String(required=True, attribute="paused_reason")
    why = fields.String(required=True)
    events = fields.Integer(required=True, metadata={"description": "How many wait; none of them is lost."})


class CausesSchema(Answer):
    causes = fields.List(fields.Nested(CauseSchema()), required=True)
    paused_accounts = fields.List(fields.Nested(HeldSchema()), required=True)


class GroupSchema(Answer):
    state = fields.String(required=True)
    cause = fields.String(required=True, attribute="reason")
    events = fields.Integer(required=True)


class FitSchema(SafeActionSchema):
    events = fields.Integer(required=True, metadata={"description": "How many of them allow it now."})


class CountSchema(Answer):
    events = fields.Integer(required=True)
    fingerprint = fields.String(required=True, metadata={"description": "Of which events those are and what they say."})
    groups = fields.List(fields.Nested(GroupSchema()), required=True)
    safe_actions = fields.List(fields.Nested(FitSchema()), required=True)


class RunSchema(Answer):
    bulk_id = fields.Integer(required=True)
    made_at = fields.AwareDateTime(required=True)
    action = fields.String(required=True)
    author = fields.String(required=True)
    reason = fields.String(required=True)
    filter = fields.Dict(required=True)
    stopped_at = fields.AwareDateTime(allow_none=True, required=True)
    events = fields.Integer(required=True)
    left = fields.Integer(required=True, metadata={"description": "Not decided yet; any worker goes on."})


class RunsSchema(Answer):
    runs = fields.List(fields.Nested(RunSchema()), required=True)


class ResultSchema(Answer):
    event_id = fields.UUID(required=True)
    result = fields.String(
        allow_none=True, required=True, metadata={"description": "`done`, or the word for the refusal; null: left."}
    )
    told = fields.String(required=True)


class WholeRunSchema(RunSchema):
    results = fields.List(fields.Nested(ResultSchema()), required=True)
    next_cursor = fields.UUID(allow_none=True, required=True)


# --- reading ----------------------------------------------------------------------------------------------------------


def _language(given: Given) -> Language:
    return "en" if given["lang"] == "en" else "es"


def causes(given: Given) -> dict[str, object]:
    """Why several events wait for a person."""
    language = _language(given)
    with connection() as conn:
        shared, held = many.causes(conn), many.held(conn)
    return {
        "causes": [
            asdict(each) | {"why": reason_text(each.reason, language), "action": each.action} for each in shared
        ],
        "paused_accounts": [asdict(each) | {"why": reason_text(each.paused_reason, language)} for each in held],
    }


def _filter(given: Given) -> Filter:
    wanted = Filter(*(given.get(name) for name in ("state", "source", "since", "reason_word", "cause")))
    if wanted.is_empty:
        raise gate.invalid("state", "name at least one of state, source, since, reason_word, cause")
    return wanted


def count(given: Given) -> dict[str, object]:
    """How many match, and what could be done with them."""
    with connection() as conn:
        meant = many.meant(conn, _filter(given), _language(given))
    fits = [{"action": each.action, "allowed": each.allowed, "why": each.why, "events": each.events}
            for each in meant.fits]  # fmt: skip
    told = {"events": meant.events, "fingerprint": meant.fingerprint}
    return told | {"groups": meant.groups, "safe_actions": fits}


def runs(given: Given) -> dict[str, object]:
    """The latest, the newest first."""
    del given
    with connection() as conn:
        return {"runs": bulk.runs(conn)}


def run(given: Given, bulk_id: int) -> dict[str, object]:
    """How far it is, and what became of each."""
    with connection() as conn:
        return _whole(conn, bulk_id, given["limit"], given.get("cursor"), _language(given))


def _whole(conn: Conn, bulk_id: int, limit: int, after: UUID | None, language: Language) -> dict[str, object]:
    page = many.results(conn, bulk_id, after, limit)
    shown = [
        {"event_id": event_id, "result": result, "told": result_text(result, language)}
        for event_id, result in page.results.items()
    ]
    return asdict(many.found(conn, bulk_id)) | {"results": shown, "next_cursor": page.next}


# --- deciding ---------------------------------------------------------------------------------------------------------


def _desk(conn: Conn) -> Desk:
    return Desk(conn, tools().settings, tools().hint)


def begin(given: Given) -> Run:
    """For the number that was counted."""
    gate.must(deciding_many(given["action"]))
    author = Author(gate.token().operator, str(given["reason"]).strip())
    if not author.reason:
        raise gate.invalid("reason", "must say something")
    if given["action"] == "approve" and given["seen"] is None:
        raise gate.invalid("seen", "goes with approve: the content that was seen is what is approved")
    with connection() as conn:
        wish = Wish(given["action"], _filter(given), Seen(given["expected"], given["seen"]))
        bulk_id = _desk(conn).begin(author, wish)
        return many.found(conn, bulk_id)


def stop(given: Given, bulk_id: int) -> Run:
    """What is not decided yet stays as it is."""
    del given
    with connection() as conn:
        many.found(conn, bulk_id)
        bulk.stop(conn, bulk_id)
        return many.found(conn, bulk_id)


def go_on(given: Given, bulk_id: int) -> Run:
    """After a stop."""
    del given
    with connection() as conn:
        action = next((each for each in BULK_ACTIONS if each == many.found(conn, bulk_id).action), None)
        if action is not None:
            gate.must(deciding_many(action))
        _desk(conn).go_on(bulk_id)
        return many.found(conn, bulk_id)


RUN: Final = "/bulk/<int(max=4611686018427387904):bulk_id>"

ROUTES: Final = (
    Route("GET", "/causes", "listCauses", "Why several events wait for a person, and which accounts are paused.",
          "see", LanguageQuery(), CausesSchema(), causes),
    Route("GET", "/bulk/count", "countBulk", "How many events a filter means, and what could be done with them.",
          "see", FilterQuery(), CountSchema(), count),
    Route("GET", "/bulk", "listRuns", "The latest decisions about many events, and how far each is.",
          "see", NoQuery(), RunsSchema(), runs),
    Route("GET", RUN, "getRun", "How far a run is, and what became of each event.",
          "see", ResultsQuery(), WholeRunSchema(), run),
    Route("POST", "/bulk", "decideMany", "Decide about all that match, if they are as many as were counted.",
          "work", BulkBody(), RunSchema(), begin),
    Route("POST", f"{RUN}/stop", "stopRun", "Leave what is not decided yet as it is.",
          "work", NoBody(), RunSchema(), stop),
    Route("POST", f"{RUN}/go", "goOnWithRun", "Go on with a run that was stopped.",
          "work", NoBody(), RunSchema(), go_on),
)  # fmt: skip
