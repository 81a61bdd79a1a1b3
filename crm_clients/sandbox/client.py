"""The client for the sandbox CRM.  Its API is ours: what an answer promises stands in docs/sandbox.md.

Surely not executed, by that page: 401, 403 and 429, and 404, 409 and 422 with our JSON error in the body.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from urllib.parse import quote

from crm_clients import answers
from crm_clients.abilities import Page
from crm_clients.base import (
    Capability,
    Confirmed,
    ContactDraft,
    Draft,
    Duplicate,
    Kind,
    Looked,
    Rejected,
    Request,
    Response,
    Retry,
    Seen,
    Uncertain,
    Unsure,
    Written,
    kind_of,
)
from crm_clients.options import Settings, only, seconds
from crm_clients.sandbox import drafts, sightings

PATHS = {
    Kind.CONTACT: "/api/contacts",
    Kind.OPPORTUNITY: "/api/opportunities",
    Kind.TASK: "/api/tasks",
    Kind.NOTE: "/api/notes",
}
CHILDREN = frozenset({Kind.TASK, Kind.NOTE})
# The idempotency key is made of the reference, so that a used key is a used reference.
RULES: Mapping[str, Literal["reference", "email"]] = {
    "reference": "reference",
    "email": "email",
    "idempotency_key": "reference",
}


@dataclass(frozen=True, slots=True)
class SandboxClient:
    """`profile` is the server's; `limit` and `lag` are what the account declares, at least the profile's own."""

    profile: str = "stored"
    limit: timedelta = timedelta(seconds=5)
    lag: timedelta = timedelta(0)

    @property
    def name(self) -> str:
        return "sandbox"

    @property
    def verified(self) -> bool:
        return True

    def capability(self, kind: Kind) -> Capability:
        """A profile that does not state its lag ("weak") states no limit either."""
        if self.profile == "weak":
            return Capability("stored", look="weak", lag=self.lag, changes_phone=kind is Kind.CONTACT)
        if self._marks(kind):
            return Capability("marker", lag=self.lag, limit=self.limit)
        reference: Literal["enforced", "stored"] = "enforced" if self.profile == "enforced" else "stored"
        return Capability(reference, lag=self.lag, limit=self.limit, changes_phone=kind is Kind.CONTACT)

    def _marks(self, kind: Kind) -> bool:
        return self.profile == "no_task_reference" and kind in CHILDREN

    def create(self, draft: Draft, reference: str) -> Request:
        """The key is sent in every profile; only the one that says so honours it."""
        kind = kind_of(draft)
        body = drafts.body(draft, reference, marks=self._marks(kind))
        key = ("Idempotency-Key", f"{kind}-{reference}")
        return _writing("POST", PATHS[kind], body, key)

    def created(self, kind: Kind, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        body = answers.json_object(response) or {}
        crm_id = answers.record_id(body.get("id"))
        if answers.succeeded(response) and crm_id is not None:
            return Confirmed(crm_id)
        return _unwritten(response, body)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        """A child without reference field is looked for among its parent's; without a parent the look tells nothing."""
        if self._marks(kind):
            return Request("GET", PATHS[kind], (("opportunity_id", parent_id or ""),))
        return Request("GET", PATHS[kind], (("reference", reference),))

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(kind, reference, response, marks=self._marks(kind))

    def read(self, kind: Kind, crm_id: str) -> Request:
        return Request("GET", _record(kind, crm_id))

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(kind, crm_id, response, marks=self._marks(kind))

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Raises ValueError for a text that bears the marker: to replace it would lose the record."""
        if self._marks(kind) and "text" in changes:
            raise ValueError("a text that bears a marker is not replaced")
        return _writing("PATCH", _record(kind, crm_id), changes)

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        body = answers.json_object(response) or {}
        if answers.succeeded(response) and body.get("id") == crm_id:
            return Confirmed(crm_id)
        if sightings.not_found(response):
            return Rejected("gone")
        return _unwritten(response, body)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        asked = (("phone", draft.phone), ("email", draft.email))
        return tuple(Request("GET", PATHS[Kind.CONTACT], ((name, value),)) for name, value in asked if value)

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(draft, response)

    def opportunities_of(self, contact_id: str) -> Request | None:
        return Request("GET", PATHS[Kind.OPPORTUNITY], (("contact_id", contact_id),))

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(contact_id, response)

    def all_of(self, kind: Kind, *, after: str | None) -> Request | None:
        return Request("GET", PATHS[kind], (("after", after or "0"),))

    def page_of(self, kind: Kind, response: Response, *, after: str | None) -> Page:  # noqa: ARG002 - the answer says
        return sightings.page(kind, response, marks=self._marks(kind))

    def user(self, owner: str) -> Request:  # noqa: ARG002 - all are listed
        return Request("GET", "/api/owners")

    def is_there(self, owner: str, response: Response) -> bool | None:
        listed = (answers.json_object(response) or {}).get("results")
        if not answers.succeeded(response) or not isinstance(listed, list):
            return None
        owners = [answers.mapping(each) for each in listed]
        return any(each.get("id") == owner and each.get("active") is True for each in owners)

    def asks_name(self, contact_id: str) -> Request:
        return self.read(Kind.CONTACT, contact_id)

    def name_in(self, response: Response) -> str | None:
        return answers.full_name((answers.json_object(response) or {}).get("name"))

    def remove(self, kind: Kind, crm_id: str) -> Request | None:
        return Request("DELETE", _record(kind, crm_id))

    def removed(self, kind: Kind, response: Response) -> bool:  # noqa: ARG002 - all kinds answer alike
        return answers.succeeded(response) or sightings.not_found(response)

    def control(self) -> Request:
        return Request("GET", "/api/me")

    def controlled(self, response: Response) -> Unsure | None:
        body = answers.json_object(response) or {}
        if answers.succeeded(response) and body.get("ok") is True:
            return None
        return answers.no_look(response)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return drafts.sentinel(kind, installation, parent_id=parent_id)


def from_settings(settings: Settings) -> SandboxClient:
    """The client with a destination's options.  Raises BadSetting."""
    only(settings, "profile", "limit_seconds", "lag_seconds")
    default = SandboxClient()
    return SandboxClient(
        profile=settings.get("profile", default.profile),
        limit=seconds(settings, "limit_seconds") or default.limit,
        lag=seconds(settings, "lag_seconds") or default.lag,
    )


def _record(kind: Kind, crm_id: str) -> str:
    return f"{PATHS[kind]}/{quote(crm_id, safe='')}"


def _writing(
    method: Literal["POST", "PATCH"], path: str, body: Mapping[str, object], *headers: tuple[str, str]
) -> Request:
    headers = (("Content-Type", "application/json"), *headers)
    return Request(method, path, body=json.dumps(body).encode(), headers=headers)


def _unwritten(response: Response, body: Mapping[str, object]) -> Written:
    """What any answer but success means for a write."""
    match response.status, body.get("error"):
        case 401 | 403, _:
            return Retry("bad_credential", scope="account")
        case 429, _:
            return Retry("rate_limited", answers.retry_after(response), scope="account", passing=True)
        case (409, "duplicate") | (422, "idempotency_key_reused"):
            return Duplicate(_rule(body.get("by")), answers.record_id(body.get("id")))
        case 422, "validation":
            return Rejected("validation", _fields(body.get("fields")))
        case _:
            return _doubtful(response, body)


def _doubtful(response: Response, body: Mapping[str, object]) -> Uncertain:
    hinted = answers.record_id(body.get("id"))
    return answers.doubtful(response, *([hinted] if hinted else []))


def _rule(by: object) -> Literal["reference", "email", "other"]:
    return RULES.get(by, "other") if isinstance(by, str) else "other"


def _fields(value: object) -> tuple[tuple[str, str], ...]:
    return tuple((answers.text(name), answers.text(rule)) for name, rule in answers.mapping(value).items())
