"""The client for BottleCRM 1.35.0, run against its own server.

What it relies on was read in the package `django-crm` 1.35.0 (PyPI, 2026-11-29) and seen on a server:

- A reference has a custom field, which is stored and can be searched, and is not unique.
- Opportunity names are unique without regard to case, so that each title ends with a short form of the reference.
  A task's does too: rows of the task list do not show custom fields, and a filter that is not known is ignored.
- A create answers 400 before its first write (`contacts/views.py`, `opportunity/views/opportunity_views.py`,
  `tasks/updates.py`), and 500 after the record is there when its broker is away.
- A token sees what its user made or is assigned to, an administrator's everything: use one of an administrator, or
  what an earlier token made looks absent.
- Nothing says how long the server may work on a request; its gunicorn is the owner's: the limit is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from urllib.parse import quote

from crm_clients import answers
from crm_clients.abilities import Aim, Page, Question
from crm_clients.base import (
    Capability,
    ContactDraft,
    Draft,
    Kind,
    Looked,
    NoteDraft,
    Request,
    Response,
    Seen,
    UnreadableAnswer,
    Unsure,
    Written,
    kind_of,
)
from crm_clients.bottlecrm import drafts, outcomes, preflight, sightings
from crm_clients.options import Settings, only, seconds

PATHS: Mapping[Kind, str] = {
    Kind.CONTACT: "/contacts/",
    Kind.OPPORTUNITY: "/opportunities/",
    Kind.TASK: "/tasks/",
    # A note is a comment on an opportunity, and is made, listed and read through it.
    Kind.NOTE: "/opportunities/",
}


@dataclass(frozen=True, slots=True)
class BottleCRM:
    """`reference_field` is the key of the custom field; it must be defined for contacts, opportunities and tasks.

    `priority` is that of a task whose draft names none.  `currency` is that of amounts that come without one.
    `limit` is how long the owner's server may work on a request, None: unknown.
    """

    reference_field: str = "external_ref"
    priority: str = "High"
    currency: str | None = None
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "bottlecrm"

    @property
    def verified(self) -> bool:
        return True

    def capability(self, kind: Kind) -> Capability:
        """Tasks and comments are created without an id in the answer.  A deleted record is gone, not archived."""
        match kind:
            case Kind.CONTACT:
                return Capability("stored", limit=self.limit, changes_phone=True)
            case Kind.OPPORTUNITY:
                return Capability("stored", limit=self.limit, unique_name=True, currencies=drafts.CURRENCIES)
            case Kind.TASK:
                return Capability("stored", limit=self.limit, returns_id=False)
            case Kind.NOTE:
                return Capability("marker", limit=self.limit, returns_id=False)

    def create(self, draft: Draft, reference: str) -> Request:
        """An id of a contact that is unknown or not visible is dropped by the server: what is read back shows it."""
        kind = kind_of(draft)
        path = _record(kind, draft.opportunity_id) if isinstance(draft, NoteDraft) else PATHS[kind]
        return _writing("POST", path, drafts.body(draft, reference, self.reference_field, self.priority))

    def created(self, kind: Kind, response: Response) -> Written:
        return outcomes.created(kind, response)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        """Comments cannot be searched: all of the opportunity's are listed, and without it the look tells nothing."""
        if kind is Kind.NOTE:
            return Request("GET", PATHS[kind] if parent_id is None else _record(kind, parent_id))
        filters = ((f"cf_{self.reference_field}", reference),)
        # Without it the answer also lists every account and contact; the other lists have no such switch.
        return Request("GET", PATHS[kind], (*filters, ("slim", "true")) if kind is Kind.TASK else filters)

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(kind, reference, response, self.reference_field)

    def read(self, kind: Kind, crm_id: str) -> Request:
        return Request("GET", _record(kind, crm_id))

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(kind, crm_id, response, self.reference_field)

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """PATCH, since PUT clears the owner.  Raises ValueError for a field that is not guarded.

        An amount is sent only in a currency that BottleCRM knows; let `changes` name the currency with it.
        """
        return _writing("PATCH", _record(kind, crm_id), drafts.changes(kind, crm_id, changes, self.currency))

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:
        return outcomes.updated(kind, crm_id, response)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """The server's own search for duplicates: a POST that changes nothing, and a read-only token may call it.

        It compares phones in E.164, however they were typed; `?phone=` finds substrings of what was typed.  Only
        active contacts are listed (`common/duplicate_detection.py`).
        """
        asked = (("phone", draft.phone), ("email", draft.email))
        path = f"{PATHS[Kind.CONTACT]}duplicates/"
        return tuple(_writing("POST", path, {name: value}) for name, value in asked if value)

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(draft, response)

    def opportunities_of(self, contact_id: str) -> Request | None:  # noqa: ARG002 - there is no such filter
        """The list of opportunities has no filter by contact (opportunity_views.py of 1.35.0, read on 2026-11-29)."""
        return None

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:  # noqa: ARG002 - nothing to list
        raise UnreadableAnswer("BottleCRM cannot list the opportunities of a contact")

    def all_of(self, kind: Kind, *, after: str | None) -> Request | None:
        """Rows of tasks show no custom fields, and comments have no list of their own.

        By limit and offset (Django REST framework, "Pagination"), so that a row made meanwhile may move another onto
        the next page, or off it: it is seen the next time.
        """
        if kind in {Kind.TASK, Kind.NOTE}:
            return None
        return Request("GET", PATHS[kind], (("limit", str(sightings.PAGE)), ("offset", after or "0")))

    def page_of(self, kind: Kind, response: Response, *, after: str | None) -> Page:
        return sightings.page(kind, response, self.reference_field, after=after)

    def user(self, owner: str) -> Request:  # noqa: ARG002 - all are listed
        """A single user is shown to administrators only; the list that a form offers has those who are active."""
        return Request("GET", "/users/get-teams-and-users/")

    def is_there(self, owner: str, response: Response) -> bool | None:
        listed = (answers.json_object(response) or {}).get("profiles")
        if not answers.succeeded(response) or not isinstance(listed, list):
            return None
        profiles = [answers.mapping(each) for each in listed]
        return any(each.get("id") == owner and each.get("is_active") is not False for each in profiles)

    def remove(self, kind: Kind, crm_id: str) -> Request | None:
        """Deleted for good; only an administrator, or who made it, may (opportunity_views.py, contacts/views.py)."""
        if kind is Kind.NOTE:
            comment = crm_id.partition(":")[2]
            return Request("DELETE", f"/opportunities/comment/{quote(comment, safe='')}/")
        return Request("DELETE", _record(kind, crm_id))

    def removed(self, kind: Kind, response: Response) -> bool:
        body = answers.json_object(response) or {}
        return (answers.succeeded(response) and body.get("error") is not True) or outcomes.is_gone(kind, response)

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        return preflight.questions(self.reference_field, aim)

    def asks_name(self, contact_id: str) -> Request:
        return self.read(Kind.CONTACT, contact_id)

    def name_in(self, response: Response) -> str | None:
        row = answers.mapping((answers.json_object(response) or {}).get("contact_obj"))
        return answers.full_name(row.get("first_name"), row.get("last_name"))

    def control(self) -> Request:
        """The definitions of custom fields: where ours is not defined, a filter by it finds nothing for ever."""
        return Request("GET", "/custom-fields/")

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(response, self.reference_field)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return drafts.sentinel(kind, installation, parent_id=parent_id)


def from_settings(settings: Settings) -> BottleCRM:
    """The client with a destination's options.  Raises BadSetting."""
    only(settings, "reference_field", "priority", "currency", "limit_seconds")
    default = BottleCRM()
    return BottleCRM(
        reference_field=settings.get("reference_field", default.reference_field),
        priority=settings.get("priority", default.priority),
        currency=settings.get("currency"),
        limit=seconds(settings, "limit_seconds"),
    )


def _record(kind: Kind, crm_id: str) -> str:
    return f"{PATHS[kind]}{quote(crm_id.partition(':')[0], safe='')}/"


def _writing(method: Literal["POST", "PATCH"], path: str, body: Mapping[str, object]) -> Request:
    return Request(method, path, body=json.dumps(body).encode(), headers=(("Content-Type", "application/json"),))
