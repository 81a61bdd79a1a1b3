"""What the API answers: its documents are made by these, and OpenAPI shows them."""

from __future__ import annotations

from typing import get_args

from marshmallow import Schema, fields, validate

from intake.deliveries import FINAL, OPEN
from intake.desk.crm_reads import Outcome
from intake.desk.kin import How
from intake.records import RecordKind
from intake.trail import Stage
from intake.worklist import KINDS


class Answer(Schema):
    """An answer is whole: every field is in it."""


class SafeActionSchema(Answer):
    action = fields.String(required=True, metadata={"description": "The action, as `POST` takes it with a dash."})
    allowed = fields.Boolean(required=True)
    why = fields.String(required=True, metadata={"description": "What it does, or why it is refused now."})


class EventSchema(Answer):
    event_id = fields.UUID(required=True)
    mode = fields.String(required=True, validate=validate.OneOf(("live", "test")))
    source = fields.String(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(("form", "whatsapp", "quote")))
    request_id = fields.String(required=True, metadata={"description": "The sender's id, or ours where it gives none."})
    version = fields.Integer(allow_none=True, required=True)
    need = fields.String(required=True, metadata={"description": "The stem of its references in the CRM."})
    state = fields.String(required=True, validate=validate.OneOf((*OPEN, *FINAL)))
    reason = fields.String(allow_none=True, required=True)
    received_at = fields.AwareDateTime(required=True)
    due_at = fields.AwareDateTime(allow_none=True, required=True)
    attempts = fields.Integer(required=True)
    contact_id = fields.String(allow_none=True, required=True)
    opportunity_id = fields.String(allow_none=True, required=True)
    task_id = fields.String(allow_none=True, required=True)
    note_id = fields.String(allow_none=True, required=True)
    contact_ref = fields.String(allow_none=True, required=True)
    opportunity_ref = fields.String(allow_none=True, required=True)
    task_ref = fields.String(allow_none=True, required=True)
    note_ref = fields.String(allow_none=True, required=True)
    open_item = fields.Integer(allow_none=True, required=True)


class AttemptSchema(Answer):
    attempt_id = fields.Integer(required=True)
    event_id = fields.UUID(allow_none=True, required=True)
    record = fields.String(required=True, validate=validate.OneOf(get_args(RecordKind)))
    reference = fields.String(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(("write", "look")))
    action = fields.String(required=True)
    stage = fields.String(required=True, validate=validate.OneOf(get_args(Stage)))
    prepared_at = fields.AwareDateTime(required=True)
    send_by = fields.AwareDateTime(allow_none=True, required=True)
    sent_at = fields.AwareDateTime(allow_none=True, required=True)
    answered_at = fields.AwareDateTime(allow_none=True, required=True)
    confirmed_at = fields.AwareDateTime(allow_none=True, required=True)
    outcome = fields.String(allow_none=True, required=True)
    reason = fields.String(allow_none=True, required=True)
    strength = fields.String(allow_none=True, required=True)
    control = fields.Boolean(allow_none=True, required=True)
    settled_how = fields.String(allow_none=True, required=True)
    evidence = fields.Dict(required=True)


class MoveSchema(Answer):
    at = fields.AwareDateTime(required=True)
    generation = fields.Integer(required=True)
    from_state = fields.String(allow_none=True, required=True)
    to_state = fields.String(required=True)
    reason = fields.String(allow_none=True, required=True)


class DecisionSchema(Answer):
    decision_id = fields.Integer(required=True)
    at = fields.AwareDateTime(required=True)
    author = fields.String(required=True)
    action = fields.String(required=True)
    reason = fields.String(required=True)
    detail = fields.Dict(required=True)


class ContentSchema(Answer):
    revision = fields.Integer(required=True)
    fingerprint = fields.String(required=True, allow_none=True, metadata={"description": "null: it cannot be read."})


class RelatedSchema(Answer):
    event_id = fields.UUID(required=True)
    how = fields.String(
        required=True,
        validate=validate.OneOf(get_args(How)),
        metadata={"description": "need: of the same opportunity; twin: of the same person, and almost the same; ..."},
    )
    received_at = fields.AwareDateTime(required=True)
    kind = fields.String(required=True)
    source = fields.String(required=True)
    state = fields.String(required=True)


class ReissueSchema(Answer):
    event_id = fields.UUID(required=True)
    state = fields.String(required=True)


PAGES = "By kind of record: where people see it in the CRM; those that are not there, or nobody knows, are missing."


def _pages() -> fields.Dict:
    return fields.Dict(
        keys=fields.String(validate=validate.OneOf(get_args(RecordKind))),
        values=fields.String(),
        required=True,
        metadata={"description": PAGES},
    )


class WholeEventSchema(EventSchema):
    attempts = fields.List(fields.Nested(AttemptSchema()), required=True)  # type: ignore[assignment]  # as the CLI shows
    history = fields.List(fields.Nested(MoveSchema()), required=True)
    decisions = fields.List(fields.Nested(DecisionSchema()), required=True)
    safe_actions = fields.List(fields.Nested(SafeActionSchema()), required=True)
    destination = fields.String(required=True)
    pages = _pages()
    content = fields.Nested(ContentSchema(), allow_none=True, required=True)
    reissue_of = fields.UUID(allow_none=True, required=True)
    reissues = fields.List(fields.Nested(ReissueSchema()), required=True)
    related = fields.List(fields.Nested(RelatedSchema()), required=True)


class EventsSchema(Answer):
    events = fields.List(fields.Nested(EventSchema()), required=True)
    next_cursor = fields.String(allow_none=True, required=True)


class ExplanationSchema(Answer):
    event_id = fields.UUID(required=True)
    state = fields.String(required=True)
    reason = fields.String(allow_none=True, required=True)
    language = fields.String(required=True, validate=validate.OneOf(("es", "en")))
    where = fields.String(required=True)
    why = fields.String(required=True)
    then = fields.String(required=True)
    safe_actions = fields.List(fields.Nested(SafeActionSchema()), required=True)


class RevisionSchema(Answer):
    revision = fields.Integer(required=True)
    lead = fields.Dict(allow_none=True, required=True, metadata={"description": "null: purged, or it cannot be read."})


class DataSchema(Answer):
    event_id = fields.UUID(required=True)
    revisions = fields.List(fields.Nested(RevisionSchema()), required=True, metadata={"description": "Newest first."})


class ItemSchema(Answer):
    item_id = fields.Integer(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(KINDS))
    reason = fields.String(required=True)
    mode = fields.String(required=True)
    source = fields.String(allow_none=True, required=True)
    event_id = fields.UUID(allow_none=True, required=True)
    receipt_id = fields.UUID(allow_none=True, required=True)
    record_id = fields.Integer(allow_none=True, required=True)
    state = fields.String(allow_none=True, required=True)
    fields_ = fields.Dict(required=True, attribute="fields", data_key="fields")
    evidence = fields.Dict(required=True)
    assignee = fields.String(allow_none=True, required=True)
    opened_at = fields.AwareDateTime(required=True)
    due_at = fields.AwareDateTime(allow_none=True, required=True)
    closed_at = fields.AwareDateTime(allow_none=True, required=True)
    resolution = fields.String(allow_none=True, required=True)
    then = fields.String(required=True, metadata={"description": "What ends an incident; empty: it is none."})
    pages = _pages()
    safe_actions = fields.List(fields.Nested(SafeActionSchema()), required=True)


class ItemsSchema(Answer):
    items_ = fields.List(fields.Nested(ItemSchema()), required=True, attribute="items", data_key="items")
    next_cursor = fields.String(allow_none=True, required=True)


class StandingSchema(Answer):
    record = fields.String(required=True, validate=validate.OneOf(get_args(RecordKind)))
    reference = fields.String(required=True)
    crm_id = fields.String(allow_none=True, required=True)
    page = fields.String(allow_none=True, required=True, metadata={"description": "Where it is seen; null: unknown."})
    state = fields.String(required=True, metadata={"description": "What we know of it, without asking."})
    asked_at = fields.AwareDateTime(allow_none=True, required=True, metadata={"description": "null: not lately."})
    answered_at = fields.AwareDateTime(allow_none=True, required=True, metadata={"description": "null: not yet."})
    outcome = fields.String(
        allow_none=True,
        required=True,
        validate=validate.OneOf(get_args(Outcome)),
        metadata={"description": "live: there. dead: in the trash, or merged. absent: not there. unsure: see reason."},
    )
    reason = fields.String(allow_none=True, required=True)
    found_reference = fields.String(allow_none=True, required=True, metadata={"description": "What it bears there."})
    owner = fields.String(allow_none=True, required=True)
    closed = fields.Boolean(allow_none=True, required=True, metadata={"description": "null: the CRM does not tell."})
    changed = fields.List(
        fields.String(),
        allow_none=True,
        required=True,
        metadata={"description": "Names of fields that people changed since our last write; null: nobody knows."},
    )


class InCrmSchema(Answer):
    event_id = fields.UUID(required=True)
    destination = fields.String(required=True)
    reading = fields.Boolean(required=True, metadata={"description": "A worker was asked, and has not answered all."})
    records = fields.List(fields.Nested(StandingSchema()), required=True)


class DoneSchema(Answer):
    event_id = fields.UUID(required=True)
    state = fields.String(required=True)
    new_event_id = fields.UUID(allow_none=True, required=True, metadata={"description": "The one that it opened."})


class ItemDoneSchema(Answer):
    item_id = fields.Integer(required=True)
    result = fields.String(required=True)


class SteeredSchema(Answer):
    name = fields.String(required=True)
    paused = fields.Boolean(required=True)
    changed = fields.Boolean(required=True, metadata={"description": "false: it was so already."})


class ProblemSchema(Answer):
    type = fields.String(required=True)
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    code = fields.String(required=True)
    detail = fields.String()
    reason = fields.String(metadata={"description": "Of `not_allowed` and `not_in_crm`: a stable word."})
    state = fields.String(metadata={"description": "Of `not_allowed`: where the event stands; may be empty."})
    fields_ = fields.Dict(data_key="fields")
    events = fields.Integer(metadata={"description": "How many match now, where another number was expected."})
