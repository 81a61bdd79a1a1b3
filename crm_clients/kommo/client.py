"""The client for Kommo, API v4.  Never run against an account (`verified` is False).

What it relies on was read in the vendor's own client (amocrm/amocrm-api-php 1354d8a) on 2026-11-29:

- Contacts and leads keep a reference in a custom field.  **Nothing in Kommo is unique**: a second create makes a second
  record and says nothing; `request_id` is an echo, and stored nowhere.
- A filter by a custom field finds it (`filter[custom_fields_values]`, `LeadsFilter`); whether every plan has it, and
  how soon it sees what is new, is not documented.  So the look is weak until the owner measured a lag (`lag_seconds`).
- Tasks and notes have no custom fields: the reference is the last line of their text, and the lead's are listed.
- `leads/complex` may merge what is sent into somebody else's lead: it is not used.
- A lead has no text of its own: it needs a custom field for what the lead says.  A price is a whole number.
- Deleted records are not shown.
- Nothing says how long Kommo may work on a request: the limit is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from urllib.parse import quote

from crm_clients import answers, numbers
from crm_clients.abilities import CALLS, Aim, Limit, Question
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
    Unsure,
    Written,
    kind_of,
)
from crm_clients.kommo import drafts, outcomes, preflight, sightings
from crm_clients.kommo.drafts import Fields
from crm_clients.options import BadSetting, Settings, currencies, number, only, seconds
from crm_clients.origins import origin
from crm_clients.sentinel import sentinel

PATHS: Mapping[Kind, str] = {
    Kind.CONTACT: "/api/v4/contacts",
    Kind.OPPORTUNITY: "/api/v4/leads",
    Kind.TASK: "/api/v4/tasks",
    Kind.NOTE: "/api/v4/leads",  # a note is made, listed and read through its lead
}
PAGE = 250  # the most rows that a list gives (`BaseApiClient`, "limit")


@dataclass(frozen=True, slots=True)
class Kommo:
    """`fields` are the numbers of custom fields.

    `lag` is how long a new record may be missing from a list, None: nobody measured it, and the look is weak.
    `limit`: how long Kommo may work on a request, None: unknown.
    """

    fields: Fields
    lag: timedelta | None = None
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "kommo"

    @property
    def verified(self) -> bool:
        return False

    def capability(self, kind: Kind) -> Capability:
        currency = self.fields.currency
        return Capability(
            "marker" if kind in {Kind.TASK, Kind.NOTE} else "stored",
            look="weak" if self.lag is None else "strong",
            lag=self.lag or timedelta(0),
            limit=self.limit,
            sees_archived=False,
            currencies=frozenset({currency} if currency else ()) if kind is Kind.OPPORTUNITY else None,
        )

    def create(self, draft: Draft, reference: str) -> Request:
        kind = kind_of(draft)
        path = f"{_lead(draft.opportunity_id)}/notes" if isinstance(draft, NoteDraft) else PATHS[kind]
        return _writing("POST", path, drafts.body(draft, reference, self.fields))

    def created(self, kind: Kind, response: Response) -> Written:
        return outcomes.created(kind, response)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        page = ("limit", str(PAGE))
        match kind:
            case Kind.CONTACT:
                return Request("GET", PATHS[kind], (_by(self.fields.contact, reference), page))
            case Kind.OPPORTUNITY:
                query = (_by(self.fields.lead, reference), ("with", "contacts"), page)
                return Request("GET", PATHS[kind], query)
            case Kind.TASK:
                of_lead = (("filter[entity_type]", "leads"), ("filter[entity_id][]", parent_id or ""))
                return Request("GET", PATHS[kind], (*of_lead, page))
            case Kind.NOTE:
                return Request("GET", f"{_lead(parent_id or '')}/notes", (("filter[note_type][]", "common"), page))

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(kind, reference, response, self.fields)

    def read(self, kind: Kind, crm_id: str) -> Request:
        """A lead with its contacts, which are not shown otherwise."""
        if kind is Kind.NOTE:
            parent, _, own = crm_id.partition(":")
            return Request("GET", f"{_lead(parent)}/notes/{quote(own, safe='')}")
        with_ = (("with", "contacts"),) if kind is Kind.OPPORTUNITY else ()
        return Request("GET", f"{PATHS[kind]}/{quote(crm_id, safe='')}", with_)

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(kind, crm_id, response, self.fields)

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Fields that are not named stay as they are.  Raises ValueError for one that is not guarded."""
        sent = drafts.changes(kind, changes, self.fields)
        return _writing("PATCH", f"{PATHS[kind]}/{quote(crm_id, safe='')}", sent)

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:  # noqa: ARG002 - only leads are updated
        return outcomes.updated(crm_id, response)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """By the search, which finds a part of a number; the national one, so that it does not matter how it begins."""
        asked = [numbers.national(draft.phone)] if draft.phone else []
        asked += [draft.email] if draft.email else []
        return tuple(Request("GET", PATHS[Kind.CONTACT], (("query", each), ("limit", str(PAGE)))) for each in asked)

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(draft, response, self.fields)

    def opportunities_of(self, contact_id: str) -> Request | None:  # noqa: ARG002 - there is no such filter
        """Leads have no filter by contact (`LeadsFilter`)."""
        return None

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(contact_id, response, self.fields)

    def user(self, owner: str) -> Request:
        """A user with his rights, among which is whether he is active (`UserModel`, `RightModel`)."""
        return Request("GET", f"/api/v4/users/{quote(owner, safe='')}")

    def is_there(self, owner: str, response: Response) -> bool | None:
        return sightings.is_user(owner, response)

    def limits(self) -> tuple[Limit, ...]:
        """7 a second; who goes on is blocked by address (es-developers.kommo.com/docs/limitaciones, 2026-11-29)."""
        return (Limit(7, timedelta(seconds=1)),)

    def bucket(self, request: Request) -> str:  # noqa: ARG002 - all count alike
        return CALLS

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        return preflight.questions(self.fields, aim)

    def asks_name(self, contact_id: str) -> Request:
        return self.read(Kind.CONTACT, contact_id)

    def name_in(self, response: Response) -> str | None:
        return answers.full_name((answers.json_object(response) or {}).get("name"))

    def page(self, kind: Kind, base_url: str) -> str | None:
        """The cards as they are linked to in many public programs ("…kommo.com/leads/detail/<id>", GitHub,
        2026-11-30); tasks and notes have none."""
        card = {Kind.CONTACT: "contacts", Kind.OPPORTUNITY: "leads"}.get(kind)
        return f"{origin(base_url)}/{card}/detail/{{id}}" if card else None

    def control(self) -> Request:
        """The definition of the reference's field of leads."""
        return Request("GET", f"/api/v4/leads/custom_fields/{self.fields.lead}")

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(response, self.fields.lead)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        """The usual one; a contact has no text, so that its name says whose it is."""
        if kind is Kind.CONTACT:
            return ContactDraft(f"intake-sentinel-contact {installation}")
        return sentinel(kind, installation, parent_id=parent_id)


def _lead(crm_id: str) -> str:
    return f"{PATHS[Kind.OPPORTUNITY]}/{quote(crm_id, safe='')}"


def _by(field: int, reference: str) -> tuple[str, str]:
    return f"filter[custom_fields_values][{field}][]", reference


def _writing(method: Literal["POST", "PATCH"], path: str, body: object) -> Request:
    return Request(method, path, body=json.dumps(body).encode(), headers=(("Content-Type", "application/json"),))


def from_settings(settings: Settings) -> Kommo:
    """The client with a destination's options.  Raises BadSetting."""
    only(
        settings,
        *("contact_reference", "lead_reference", "lead_text", "currency", "lag_seconds", "limit_seconds"),
    )
    codes = currencies(settings, "currency")
    if len(codes) > 1:
        raise BadSetting("currency names several; an account of Kommo has one")
    fields = Fields(
        contact=_field(settings, "contact_reference"),
        lead=_field(settings, "lead_reference"),
        text=_field(settings, "lead_text"),
        currency=codes[0] if codes else None,
    )
    return Kommo(fields, seconds(settings, "lag_seconds"), seconds(settings, "limit_seconds"))


def _field(settings: Settings, name: str) -> int:
    """The number of a custom field.  Raises BadSetting."""
    known = number(settings, name)
    if known is None:
        raise BadSetting(f"{name} must be the number of a custom field, as Kommo's API shows it")
    return known
