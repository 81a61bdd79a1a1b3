"""What the API is asked: queries and bodies are checked by these, and OpenAPI shows them."""

from __future__ import annotations

from typing import get_args

from marshmallow import RAISE, Schema, fields, validate

from intake.desk.corrected import FIELDS
from intake.desk.searching import LOOKED_THROUGH
from intake.ops import MOST, PAGE, STATES
from intake.records import RecordKind
from intake.worklist import KINDS

LONGEST_REASON = 1000
SEARCHED = (
    "A phone number, an e-mail, an id of ours, of the sender or of the CRM, a reference or its beginning; else a part "
    f"of the masked person or of the need's reference, among the newest {LOOKED_THROUGH} that the other filters leave."
)


class Asked(Schema):
    class Meta:
        # A parameter that is misspelt must not be taken for none.
        unknown = RAISE


class EventsQuery(Asked):
    state = fields.String(validate=validate.OneOf(STATES), metadata={"description": "`pending`: all not final."})
    source = fields.String(validate=validate.Length(max=100))
    since = fields.AwareDateTime(metadata={"description": "Received since then, ISO 8601 with its zone."})
    until = fields.AwareDateTime(metadata={"description": "Received before then."})
    kind = fields.String(validate=validate.OneOf(("form", "whatsapp", "quote")))
    mode = fields.String(validate=validate.OneOf(("live", "test")))
    destination = fields.String(
        validate=validate.Length(max=100), metadata={"description": "The CRM account that its newest delivery goes to."}
    )
    assignee = fields.String(
        validate=validate.Length(max=100),
        metadata={"description": "Whose open item it has; `me`: the token's operator; `-`: nobody's."},
    )
    q = fields.String(validate=validate.Length(1, 200), metadata={"description": SEARCHED})
    limit = fields.Integer(load_default=PAGE, validate=validate.Range(1, MOST))
    cursor = fields.String(validate=validate.Length(max=200))


class ItemsQuery(Asked):
    kind = fields.String(validate=validate.OneOf(KINDS))
    assignee = fields.String(validate=validate.Length(max=100))
    limit = fields.Integer(load_default=50, validate=validate.Range(1, 200))
    cursor = fields.String(validate=validate.Length(max=200))


class LanguageQuery(Asked):
    lang = fields.String(load_default="es", validate=validate.OneOf(("es", "en")))


class NoQuery(Asked):
    pass


class NoBody(Asked):
    pass


class Body(Schema):
    class Meta:
        unknown = RAISE

    reason = fields.String(
        required=True,
        validate=validate.Length(1, LONGEST_REASON),
        metadata={"description": "Why; kept for good, with the name of the token's operator."},
    )


class ApproveBody(Body):
    revision = fields.Integer(load_default=None, allow_none=True)
    fingerprint = fields.String(load_default=None, allow_none=True)


class SettleBody(Body):
    outcome = fields.String(
        required=True, validate=validate.OneOf(("applied", "not-applied", "contact", "note", "new", "cancel"))
    )
    crm_id = fields.String(load_default="", validate=validate.Length(max=200))
    record = fields.String(load_default=None, allow_none=True, validate=validate.OneOf(get_args(RecordKind)))
    unverified = fields.Boolean(load_default=False, metadata={"description": "Take the id without reading it back."})


class CorrectBody(Body):
    fields_ = fields.Dict(
        keys=fields.String(validate=validate.OneOf(FIELDS)),
        values=fields.String(validate=validate.Length(max=20_000)),
        required=True,
        data_key="fields",
        validate=validate.Length(1, len(FIELDS)),
    )


class SpamBody(Body):
    undo = fields.Boolean(load_default=False, metadata={"description": "It was no spam."})


class AssignBody(Body):
    assignee = fields.String(load_default=None, allow_none=True, metadata={"description": "null: who asks."})
    due_at = fields.AwareDateTime(load_default=None, allow_none=True)


class ResolveBody(Body):
    resolution = fields.String(required=True, validate=validate.OneOf(("keep", "accept", "release")))
