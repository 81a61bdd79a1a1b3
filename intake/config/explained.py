"""What each key of `intake.toml` and each variable is, in a sentence: the reference is made of these.

Kinds of values stand in `intake/config/schema.py`, defaults in `intake/config/settings.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Key:
    """`unset`: what holds where it is not given, "": the default that the code has."""

    says: str
    unset: str = ""


INTAKE: Final[Mapping[str, Key]] = {
    "public_base_url": Key(
        "The address that providers call, as they see it, and as `intake sources` shows it. Needed where there is a "
        "`twilio` source, because Twilio signs it.", "`http://127.0.0.1:$PORT`"),
    "region": Key("The country of phone numbers that are typed without one."),
    "timezone": Key("In which tasks are due."),
    "language": Key("Of operators."),
    "spool_dir": Key(
        "A folder on a persistent disk of this host, in which deliveries are kept while PostgreSQL is away; its parent "
        "exists."),
    "spool_megabytes": Key("How much may wait there; beyond it, deliveries are answered with 503."),
    "spool_persistent": Key(
        "You know that this folder is still there after a restart, although it lies on a file system that usually is "
        "not (`tmpfs`, a container's `overlay`)."),
    "business_hours": Key(
        "When somebody is at work; several: `mon-fri 09:00-13:00 14:00-18:00, sat 09:00-12:00`; `24:00` is the end of "
        "the day.", "`mon-fri 09:00-18:00`"),
    "holidays": Key("Days on which nobody is: `[2026-12-25, 2027-01-01]`."),
    "reconcile_at": Key("When the nightly reconciliation begins, in `timezone`."),
}  # fmt: skip
ALERTS: Final[Mapping[str, Key]] = {
    "webhook_url": Key("The address that takes messages (Slack and the like want a secret in it)."),
    "format": Key('`slack`: `{"text": ...}`; `json`: the same as plain data.'),
    "email_to": Key("Who gets mail; needs `smtp_url`."),
    "email_from": Key("The sender.", "the first of `email_to`"),
    "smtp_url": Key("`smtps://user:password@host:465`, or `smtp://...:587` (STARTTLS, except on this host)."),
    "heartbeat_url": Key("What the clock calls each minute; a service that misses the call tells you."),
    "digest_at": Key("When the daily summary is sent, in `timezone`."),
    "console_url": Key("Where people open the console; links in alerts begin with it.", "`public_base_url`"),
}
DESTINATION: Final[Mapping[str, Key]] = {
    "name": Key("Of this account, wherever it is named."),
    "client": Key("Which CRM it is."),
    "base_url": Key(
        "The CRM's address; `https://` unless it is on this host. All but the sandbox need it.", "the sandbox's own"
    ),
    "credential": Key("The secret; it is used with this `base_url` and no other."),
    "oauth": Key("In the place of `credential`."),
    "mode": Key("`test`: an account for trying, so that test events may go there."),
    "pipeline": Key("Its id or name; sent on creation only.", "the CRM's"),
    "stage": Key("Its id or name; sent on creation only.", "the CRM's"),
    "currency": Key("Of amounts that come without one."),
    "opportunity_title": Key("A template."),
    "opportunity_text": Key("A template.", "all that is known"),
    "task_title": Key("A template."),
    "contact_name": Key("A template."),
    "assume_limit": Key(
        "Seconds after which this CRM surely executes no request any more; only where its own limit is unknown and its "
        "owner accepts the risk of a double."),
    "owner": Key("Who gets a new opportunity."),
    "task": Key("What that person has to do."),
    "contacts": Key("What is done where it is not certain which contact a person is."),
    "fields": Key('Which lead field goes to which CRM field: `document = "cf_ruc"`.'),
    "pages": Key("Where people see a record in the CRM, by kind.", "what the client knows"),
    "options": Key(
        "Words for this client alone; its page in `docs/crm` says which, and `intake crm check` whether the CRM knows "
        "all that is named here."),
}  # fmt: skip
OAUTH: Final[Mapping[str, Key]] = {
    "client_id": Key("Of the app that you registered with the CRM's vendor."),
    "client_secret": Key("The app's secret.", "must be given, but for `jwt`"),
    "grant": Key(
        "Who consents: a person at a browser; `client_credentials`: the app itself; `jwt`: the signer of an "
        "assertion."),
    "scopes": Key("As the vendor writes them."),
    "authorize_url": Key("Where a person consents; another for Zoho's regions, Salesforce's domains.", "the vendor's"),
    "token_url": Key("Where tokens are given; another for Zoho's regions, Salesforce's domains.", "the vendor's"),
    "redirect_uri": Key("As registered with the vendor."),
    "key": Key("`jwt`: the private key (PEM)."),
    "subject": Key("`jwt`: for whom it signs."),
}  # fmt: skip
OWNER: Final[Mapping[str, Key]] = {
    "rule": Key("In their order; the first that names somebody counts."),
    "users": Key("Who takes turns with `round_robin`, as the CRM names them."),
    "assign": Key("For `assign`: who gets what, in their order."),
}
ASSIGNMENT: Final[Mapping[str, Key]] = {
    "user": Key("Who gets it, as the CRM names them."),
    "product": Key("Words of the product or of an item."),
    "region": Key("Two capital letters are the country of the phone; anything else is an answer, such as `Cusco`."),
    "source": Key("The source that it came through."),
}
CONTACTS: Final[Mapping[str, Key]] = {
    "several": Key(
        "The details lead to more than one contact. `review`: it waits until a person says which. `new`: it gets a "
        "contact of its own."),
    "other_name": Key(
        "The telephone alone leads to a contact of another name. `adopt`: it is the same person. `new`: a contact of "
        "its own. `review`: it waits."),
}  # fmt: skip
TASK: Final[Mapping[str, Key]] = {
    "type": Key("The CRM's own word.", "the CRM's"),
    "due": Key(
        "`30 minutes`, `1 day`, `45 business minutes`, `2 business hours` or `1 business day`; with `business`, time "
        "counts only while somebody is at work.", "`2 business hours`"),
}  # fmt: skip
DEFAULTS: Final[Mapping[str, Key]] = {
    "destination": Key("Where its leads go.", "the only one"),
    "test_destination": Key('Where its test events go: a destination with `mode = "test"`, or a sandbox.'),
    "enabled": Key("`false`: not served."),
    "max_body_bytes": Key("Larger bodies are refused (413).", "3145728; of `web_snippet` 65536"),
    "approval": Key("`required`: a person releases each lead."),
    "approval_hours": Key(
        "How long an approval lasts; what is not delivered by then asks for another; 0: for good."),
    "opportunity_per": Key("WhatsApp: what becomes one opportunity."),
    "conversation_hours": Key("How long a conversation lasts after its last message."),
    "when_closed": Key(
        "A later message whose opportunity is closed, deleted or never opened: `note` (where it is closed only), `new` "
        "opportunity, or `review` by a person."),
    "accepted_status": Key("202 where the caller understands it."),
    "scheme": Key("`generic` only: how a delivery is proven.", "any that is known"),
    "dedupe": Key("What names a delivery: `id` (the sender's), `body`, a JSON Pointer, or a header."),
    "dedupe_window_minutes": Key("How long equal content without an id counts as the same."),
    "identity_group": Key("Sources that hear the same number share identity under this name."),
    "renamed_from": Key("The name that this source had before; `/hooks/` with that name answers 404 from then on."),
    "debounce_seconds": Key(
        "How long a first message waits for what belongs into its opportunity's text; 0: not at all."),
    "near_twin_minutes": Key("Within which likely twins are flagged; 0: never."),
    "order_policy": Key("What a paid order is."),
    "promise_minutes": Key("A lead that is not in the CRM by then is an alert; 0: never."),
    "hold": Key(
        "Spam rules that hold a lead for a person, with commas between them: `links`; `repeated`: at least 40 "
        "characters that two others of the source wrote within a day (not for a WhatsApp number whose ads write the "
        "first message).", "`none`"),
    "key_retention_days": Key(
        "How long identities are kept, at least as long as the sender may deliver again; 0: for ever."),
    "payload_retention_days": Key("How long contents are kept; `intake purge` empties older ones; 0: for ever."),
    "attempt_retention_days": Key("How long requests to the CRM are kept; 0: for ever."),
    "decision_retention_days": Key("How long decisions about an event are kept; 0: for ever."),
    "assignee": Key("Who gets an open item of this source."),
    "idempotency_key": Key("The sender gives an `Idempotency-Key` header with each delivery."),
    "allow_get": Key("The sender delivers by GET."),
    "rate_per_minute": Key(
        "`web_snippet` only: how much one address may send to each web process, before 429."),
}  # fmt: skip
SOURCE: Final[Mapping[str, Key]] = {
    "name": Key("Its identity, and the end of its address."),
    "kind": Key("What its leads are."),
    "provider": Key("Who sends."),
    "secrets": Key("What proves a delivery; any of them does.", "must be given, but for `web_snippet`"),
    "allowed_origins": Key("The sites whose pages have the form.", "must be given for `web_snippet`, and only there"),
    "verify_token": Key("The word that Meta asks for when the address is registered."),
    "page_token": Key(
        "`meta_lead_ads`: the page's long-lived token, with which its leads are read. Without one that works they "
        "wait."),
    "graph_url": Key("`meta_lead_ads`: where they are read."),
    "media_token": Key(
        "`whatsapp_cloud`, `whatsapp_360dialog`, `twilio`: the credential with which voice notes, photos and documents "
        "are read and kept, sealed: Meta's access token, 360dialog's API key, Twilio's `SK…:secret` or auth token. "
        "Without it they are not kept."),
    "media_url": Key("`whatsapp_360dialog`, `twilio`: where files are asked for.", "the provider's own"),
    "media_hosts": Key(
        "The same, and `whatsapp_cloud`: where files may lie.", "the provider's own, and where it sends on to"),
    "media_megabytes": Key("The most that is kept of one message's files."),
    "shop_url": Key("`woocommerce`: the shop's own address, where its orders can be read."),
    "consumer_key": Key("`woocommerce`: of a REST key of the shop with the right to read."),
    "consumer_secret": Key("`woocommerce`: the secret of that key."),
    "pull_every": Key(
        "`meta_lead_ads`, `woocommerce`: minutes; how often the sender is asked for what its webhooks lost.", "never"),
    "fields": Key(
        'Where a lead field is in the body, as JSON Pointers: `name = "/your-name"`.', "found by well-known names"),
}  # fmt: skip

# What the environment says of the process; an empty variable counts as unset.
VARIABLES: Final[Mapping[str, Key]] = {
    "INTAKE_CONFIG": Key("The configuration file.", "`./intake.toml`, else the demo"),
    "DATABASE_URL": Key("`postgresql://...`, or libpq's `host=... dbname=...`.", "the embedded PostgreSQL"),
    "DATABASE_POOLER": Key("`transaction`, where a pooler stands before PostgreSQL.", "none"),
    "REDIS_URL": Key("`redis://`, `rediss://` or `unix://`.", "the embedded Valkey"),
    "INTAKE_HOME": Key("Where the state of this host is.", "`./var`"),
    "PORT": Key("On which it listens."),
    "WEB_HOST": Key(
        "The address on which it listens; `0.0.0.0` where a platform routes to the machine's own address."),
    "INTAKE_WORKERS": Key("Worker processes."),
    "INTAKE_THREADS": Key("Deliveries at a time in each worker."),
    "INTAKE_CONNECTIONS": Key(
        "Connections to PostgreSQL that each worker holds at most, two at least; its threads take turns, and hold "
        "none while they wait for a CRM."),
    "WEB_WORKERS": Key("Processes that receive."),
    "WEB_THREADS": Key("Requests at a time in each of them; each holds a connection to PostgreSQL."),
    "WEB_STORE_LIMIT": Key(
        "Seconds within which the database must have kept a delivery; then it goes to the spool, or is answered with "
        "503."),
    "WEB_REQUEST_LIMIT": Key(
        "Seconds for one request to arrive, and for its answer to go; a client that takes longer is cut off."),
    "WEB_CONNECTIONS": Key(
        "Connections to each of them, slow ones too; beyond it the oldest whose request has not arrived is cut off."),
    "INTAKE_SEAL_KEYS": Key(
        "Keys that encrypt refused bodies, files and the spool.", "`INTAKE_HOME/seal.key`, made once"),
    "INTAKE_SEAL_CONTENTS": Key("`yes`: contents in the database are encrypted with those keys, too."),
    "INTAKE_INSTALLATION": Key("Which installation this is, for hosts without a disk.", "the one in `INTAKE_HOME`"),
    "INTAKE_EPOCH": Key("And which epoch of it.", "the one in `INTAKE_HOME`"),
    "INTAKE_OPERATOR": Key("Who decides, where a command is not told with `--by`.", "none"),
    "INTAKE_SANDBOX_URL": Key("A sandbox CRM that runs elsewhere.", "the embedded one"),
    "INTAKE_SANDBOX_TOKEN": Key("The token of that one.", "`sandbox`"),
    "INTAKE_SANDBOX_PORT": Key("On which the embedded sandbox CRM listens; 0: on any that is free."),
    "SANDBOX_TOKEN": Key("The token that a sandbox CRM asks for that is started by itself.", "`sandbox`"),
    "COLUMNS": Key("How wide the tables of the demonstration are.", "the terminal's width"),
}  # fmt: skip
