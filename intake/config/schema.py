"""The form of `intake.toml`: which keys a table may have, and of what kind each is."""

from __future__ import annotations

from collections.abc import Mapping

from marshmallow import RAISE, Schema, ValidationError, fields, validates_schema

from intake.config import page_addresses, words
from intake.config.errors import unknown
from intake.config.known import KNOWN_CLIENTS, KNOWN_PROVIDERS, RECORD_KINDS, UNSIGNED
from intake.config.words import Flag, Holiday, Hour, Number, Word, WordMap, Words

WEEK_MINUTES = 7 * 24 * 60
UNKNOWN = "Unknown field."  # marshmallow's own words, replaced below


class Strict(Schema):
    """A table in which an unknown key is an error that names the nearest known one."""

    class Meta:
        unknown = RAISE

    error_messages = {"type": "must be a table", "unknown": UNKNOWN}  # noqa: RUF012 - marshmallow reads it so

    def handle_error(self, error: ValidationError, data: object, *, many: bool, **kwargs: object) -> None:  # noqa: ARG002
        """Say what else an unknown key may have meant."""
        keys = [field.data_key or name for name, field in self.fields.items()]
        if isinstance(error.messages, dict):
            for key, messages in error.messages.items():
                if messages == [UNKNOWN]:
                    error.messages[key] = [unknown("key", str(key), keys)]


class IntakeSchema(Strict):
    """[intake]: what holds for the whole installation."""

    public_base_url = Word(words.public_address)
    region = Word(words.region)
    timezone = Word(words.timezone)
    language = Word(words.language)
    spool_dir = Word(words.folder)
    spool_megabytes = Number(range(1, 1024 * 1024 + 1))
    spool_persistent = Flag()
    business_hours = Word(words.business_hours)
    holidays = Words(Holiday(), longest=1000)
    reconcile_at = Hour()


class AlertsSchema(Strict):
    """[alerts]: who is told what needs a person, and how."""

    webhook_url = Word(words.secret_reference, longest=2000)
    format = Word(words.one_of("format", ("slack", "json")))
    email_to = Words(Word(words.email_address), longest=20)
    email_from = Word(words.email_address)
    smtp_url = Word(words.secret_reference, longest=2000)
    heartbeat_url = Word(words.secret_reference, longest=2000)
    digest_at = Hour()
    console_url = Word(words.public_address)


class AssignmentSchema(Strict):
    """[[destinations.owner.assign]]: one user, and what they get."""

    user = Word(words.line, required=True)
    product = Word(words.line)
    region = Word(words.line)
    source = Word(words.name)


class OwnerSchema(Strict):
    """[destinations.owner]: who gets a new record."""

    rule = Word(words.owner_rules)
    users = Words(Word(words.line))
    assign = fields.List(
        fields.Nested(AssignmentSchema),
        error_messages={"invalid": "must be begun with [[destinations.owner.assign]], one for each"},
    )


class OAuthSchema(Strict):
    """[destinations.oauth]: an account that is connected, not given a credential."""

    client_id = Word(words.line, required=True)
    client_secret = Word(words.secret_reference, longest=2000)
    grant = Word(words.one_of("grant", ("authorization_code", "client_credentials", "jwt")))
    scopes = Word(words.line)
    authorize_url = Word(words.crm_address, longest=1000)
    token_url = Word(words.crm_address, longest=1000)
    redirect_uri = Word(words.public_address)
    key = Word(words.secret_reference, longest=2000)
    subject = Word(words.line)


class ContactSchema(Strict):
    """[destinations.contacts]: where it is not certain which contact a person is."""

    several = Word(words.one_of("policy", ("review", "new")))
    other_name = Word(words.one_of("policy", ("adopt", "new", "review")))


class TaskSchema(Strict):
    """[destinations.task]: what that person has to do."""

    type = Word(words.line)
    due = Word(words.duration)


class DestinationSchema(Strict):
    """[[destinations]]: one CRM account."""

    name = Word(words.name, required=True)
    client = Word(words.one_of("client", KNOWN_CLIENTS), required=True)
    base_url = Word(words.crm_address, longest=1000)
    credential = Word(words.secret_reference, longest=2000)
    mode = Word(words.one_of("mode", ("live", "test")))
    pipeline = Word(words.line)
    stage = Word(words.line)
    currency = Word(words.currency)
    opportunity_title = Word(words.template)
    opportunity_text = Word(words.template, longest=words.LONGEST_TEXT)
    task_title = Word(words.template)
    contact_name = Word(words.template)
    assume_limit = Number(range(1, 86_401))
    oauth = fields.Nested(OAuthSchema)
    owner = fields.Nested(OwnerSchema)
    task = fields.Nested(TaskSchema)
    contacts = fields.Nested(ContactSchema)
    lead_fields = WordMap(words.delivered_field, words.line, key="fields")
    pages = WordMap(words.one_of("kind of record", RECORD_KINDS), page_addresses.read, longest=1000)
    options = WordMap(words.option_name, words.line, longest=words.LONGEST_TEXT)


class DefaultsSchema(Strict):
    """[defaults]: what any source may override."""

    destination = Word(words.name)
    test_destination = Word(words.name)
    enabled = Flag()
    max_body_bytes = Number(range(1024, 64 * 1024 * 1024 + 1))
    approval = Word(words.one_of("approval", ("none", "required")))
    approval_hours = Number(range(24 * 365 + 1))
    opportunity_per = Word(words.one_of("unit", ("conversation", "message")))
    conversation_hours = Number(range(1, 24 * 365 + 1))
    when_closed = Word(words.one_of("policy", ("note", "new", "review")))
    accepted_status = Number((200, 202))
    scheme = Word(words.scheme)
    dedupe = Word(words.dedupe)
    dedupe_window_minutes = Number(range(1, WEEK_MINUTES + 1))
    identity_group = Word(words.name)
    renamed_from = Word(words.name)
    debounce_seconds = Number(range(3601))
    near_twin_minutes = Number(range(WEEK_MINUTES + 1))
    order_policy = Word(words.one_of("order policy", ("lead", "ignore")))
    promise_minutes = Number(range(WEEK_MINUTES + 1))
    hold = Word(words.hold_rules)
    key_retention_days = Number(range(36_501))
    payload_retention_days = Number(range(36_501))
    attempt_retention_days = Number(range(36_501))
    decision_retention_days = Number(range(36_501))
    assignee = Word(words.line)
    idempotency_key = Flag()
    allow_get = Flag()
    rate_per_minute = Number(range(1, 6001))


class SourceSchema(DefaultsSchema):
    """[[sources]]: one way in."""

    name = Word(words.name, required=True)
    kind = Word(words.one_of("kind", ("form", "whatsapp", "quote")), required=True)
    provider = Word(words.one_of("provider", KNOWN_PROVIDERS), required=True)
    secrets = Words(Word(words.secret_reference, longest=2000), longest=8)
    allowed_origins = Words(Word(words.origin), longest=20)
    verify_token = Word(words.secret_reference, longest=2000)
    page_token = Word(words.secret_reference, longest=2000)
    graph_url = Word(words.crm_address)
    media_token = Word(words.secret_reference, longest=2000)
    media_url = Word(words.crm_address)
    media_hosts = Words(Word(words.crm_address), longest=10)
    media_megabytes = Number(range(1, 17))
    shop_url = Word(words.crm_address)
    consumer_key = Word(words.secret_reference, longest=2000)
    consumer_secret = Word(words.secret_reference, longest=2000)
    pull_every = Number(range(1, WEEK_MINUTES + 1))
    lead_fields = WordMap(words.lead_field, words.pointer, key="fields")

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def check_proof(self, read: object, given: Mapping[str, object], **kwargs: object) -> None:  # noqa: ARG002
        """A source has secrets; where browsers deliver, which can hold none, it has their origins instead."""
        unsigned = any(given.get("provider") == one for one in UNSIGNED)
        needed, other = ("allowed_origins", "secrets") if unsigned else ("secrets", "allowed_origins")
        if needed not in given:
            raise ValidationError("is missing", needed)
        if other in given:
            raise ValidationError(f"does not go with {needed}", other)
