"""The default of every option: together they are the interface that we suggest, and our sandbox's."""

from __future__ import annotations

from collections.abc import Mapping

from crm_clients.base import Kind

# What may fill a request for a record, by name.
HOLES: Mapping[Kind, frozenset[str]] = {
    Kind.CONTACT: frozenset(
        {"reference", "name", "first_name", "last_name", "phone", "email", "company", "owner", "text", "fields"}
    ),
    Kind.OPPORTUNITY: frozenset(
        {
            *(
                "reference",
                "title",
                "text",
                "contact",
                "amount",
                "currency",
                "owner",
                "pipeline",
                "stage",
                "received_at",
            ),
            "fields",
        }
    ),
    Kind.TASK: frozenset({"reference", "title", "marked_title", "opportunity", "due_at", "owner", "type"}),
    Kind.NOTE: frozenset({"reference", "text", "marked_text", "opportunity", "said_at"}),
}
CHANGEABLE = frozenset({"title", "text", "amount", "currency"})
CHILDREN = frozenset({Kind.TASK, Kind.NOTE})

REQUESTS: Mapping[str, str] = {
    "contact_create": "POST /api/contacts",
    "contact_find": "GET /api/contacts?reference={reference}",
    "contact_read": "GET /api/contacts/{id}",
    "opportunity_create": "POST /api/opportunities",
    "opportunity_find": "GET /api/opportunities?reference={reference}",
    "opportunity_read": "GET /api/opportunities/{id}",
    "opportunity_update": "PATCH /api/opportunities/{id}",
    "task_create": "POST /api/tasks",
    "task_find": "GET /api/tasks?reference={reference}",
    "task_read": "GET /api/tasks/{id}",
    "note_create": "POST /api/notes",
    "note_find": "GET /api/notes?reference={reference}",
    "note_read": "GET /api/notes/{id}",
    "match_phone": "GET /api/contacts?phone={phone}",
    "match_email": "GET /api/contacts?email={email}",
    "opportunities_of": "GET /api/opportunities?contact_id={contact}",
    "control": "GET /api/me",
}
BODIES: Mapping[str, str] = {
    "contact_body": '{"reference": "{reference}", "name": "{name}", "phone": "{phone}", "email": "{email}",'
    ' "company": "{company}", "owner_id": "{owner}", "text": "{text}", "fields": "{fields}"}',
    "opportunity_body": '{"reference": "{reference}", "title": "{title}", "text": "{text}", "contact_id": "{contact}",'
    ' "amount": "{amount}", "currency": "{currency}", "owner_id": "{owner}", "pipeline": "{pipeline}",'
    ' "stage": "{stage}", "fields": "{fields}"}',
    "opportunity_update_body": '{"title": "{title}", "text": "{text}", "amount": "{amount}", "currency": "{currency}"}',
    "task_body": '{"reference": "{reference}", "title": "{title}", "opportunity_id": "{opportunity}",'
    ' "due_at": "{due_at}", "owner_id": "{owner}", "type": "{type}"}',
    "note_body": '{"reference": "{reference}", "text": "{text}", "opportunity_id": "{opportunity}"}',
}
# Where a list has its rows, an answer its record, and a record its values; "" is the whole, "-" is nowhere.
POINTERS: Mapping[str, str] = {
    "rows": "/results", "more": "/more", "total": "-", "record": "", "id": "/id", "reference": "/reference",
    "owner": "/owner_id", "live": "/live", "contact": "/contact_id", "title": "/title", "text": "/text",
    "amount": "/amount", "currency": "/currency", "closed": "/stage", "phone": "/phone", "email": "/email",
}  # fmt: skip
CONDITIONS: Mapping[str, str] = {
    "gone": "404 /error=not_found",
    "duplicate": "409 /error=duplicate",
    "refused": "422 /error=validation",
    "denied": "401; 403",
}
REST = (
    *("enforced", "marker", "look", "lag_seconds", "limit_seconds", "currencies", "closed_words"),
    *("auth_header", "auth_value", "key_header", "control_ok", "duplicate_id", "refused_fields", "archived"),
)
CLOSED_WORDS = "won, lost, ganada, perdida"
