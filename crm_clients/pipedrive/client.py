"""The client for Pipedrive, API v2, and v1 for notes, which v2 does not have.  Never run against an account
(`verified` is False).

What it relies on was read on 2026-11-29 in Pipedrive's own client (`pipedrive/client-nodejs`, v32.2.1) and pages:

- Persons and deals keep a reference in a custom field, which is known by a key of 40 letters.  **Nothing in Pipedrive
  is unique**: a second create makes a second record and says nothing.
- Such a field is found by the search alone.  How soon it sees a new record is not documented, so that the look is weak,
  and nothing is made again without a person.
- Activities and notes have no custom fields in a create: their reference is the last line of their text, and a deal's
  are listed (`?deal_id=`).  That lists are no search, and see everything at once, is inferred.
- A deal has no text of its own: it needs a custom field for what the lead says.
- A deal carries its person (`person_id`) and an activity its deal (`deal_id`), so that no link is made apart.
- What the token's user may not see is left out of every answer ("do not exist or are not visible"): use one who sees
  everything.  What is deleted is kept for 30 days, and shown as `is_deleted` if at all.
- How long Pipedrive may work on a request is not published.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from urllib.parse import quote

from crm_clients import answers, numbers
from crm_clients.abilities import CALLS, Aim, Limit, Page, Question
from crm_clients.base import (
    Account,
    Capability,
    ContactDraft,
    Draft,
    Kind,
    Looked,
    Request,
    Response,
    Seen,
    Unsure,
    Written,
    kind_of,
)
from crm_clients.options import BadSetting, Settings, only, seconds
from crm_clients.origins import origin
from crm_clients.own_fields import own_number
from crm_clients.pipedrive import drafts, outcomes, preflight, sightings
from crm_clients.pipedrive.sightings import Fields

PATHS: Mapping[Kind, str] = {
    Kind.CONTACT: "/api/v2/persons",
    Kind.OPPORTUNITY: "/api/v2/deals",
    Kind.TASK: "/api/v2/activities",
    Kind.NOTE: "/api/v1/notes",
}

# Nobody publishes one for lists; long enough that a copy of the database that is read from has caught up.
LAG = timedelta(seconds=60)
# Rows of a list, the most that it gives: 500 in v2 (`limit`), 100 were always allowed in v1.
PAGE: Mapping[Kind, int] = {Kind.CONTACT: 500, Kind.OPPORTUNITY: 500, Kind.TASK: 500, Kind.NOTE: 100}
SEARCHED = 100

KEY = re.compile(r"[0-9a-f]{40}", re.ASCII)

SHARED = "https://api.pipedrive.com"  # answers for every company, and shows no pages


@dataclass(frozen=True, slots=True)
class Pipedrive:
    """The keys of custom fields: `person_reference` and `deal_reference` keep the reference, `deal_text` (large text)
    what the lead says, `whatsapp` a person's WhatsApp number, by which people are found too (None: there is none).

    `limit`: how long Pipedrive may work on a request, None: unknown.
    """

    person_reference: str
    deal_reference: str
    deal_text: str
    whatsapp: str | None = None
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "pipedrive"

    @property
    def verified(self) -> bool:
        return False

    def account(self, name: str, base_url: str, credential: str) -> Account:
        """A personal token has a header of its own (pipedrive.readme.io, "Authentication"; public programs)."""
        return Account(name, base_url, (("x-api-token", credential),))

    def capability(self, kind: Kind) -> Capability:
        """A search is weak; a list by the deal is strong as far as it can be told.  A finished activity stays."""
        if kind in {Kind.TASK, Kind.NOTE}:
            return Capability("marker", lag=LAG, limit=self.limit, sees_archived=False)
        return Capability("stored", look="weak", lag=LAG, limit=self.limit, sees_archived=False)

    @property
    def _fields(self) -> Fields:
        return Fields(self.person_reference, self.deal_reference, self.deal_text)

    def create(self, draft: Draft, reference: str) -> Request:
        """One record, which names its parent."""
        return _writing("POST", PATHS[kind_of(draft)], drafts.body(draft, reference, self._fields))

    def created(self, kind: Kind, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.created(response)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        """People and deals by the search; activities and notes among those of the deal, or of all without a parent."""
        if kind in {Kind.TASK, Kind.NOTE}:
            parent = () if parent_id is None else (("deal_id", parent_id),)
            return Request("GET", PATHS[kind], (*parent, ("limit", str(PAGE[kind]))))
        return _search(kind, "custom_fields", reference, exact=True)

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(kind, reference, response, self._fields)

    def read(self, kind: Kind, crm_id: str) -> Request:
        return Request("GET", _record(kind, crm_id))

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(kind, crm_id, response, self._fields)

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Fields that are not named stay as they are.  Raises ValueError for a field that is not guarded."""
        return _writing("PATCH", _record(kind, crm_id), drafts.changes(kind, changes, self._fields))

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.updated(crm_id, response)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """By the search alone.  A number is looked for without its country, as part of what was typed."""
        whatsapp = own_number(draft, self.whatsapp)
        return (
            *((_search(Kind.CONTACT, "email", draft.email, exact=True),) if draft.email else ()),
            *((_search(Kind.CONTACT, "phone", numbers.national(draft.phone), exact=False),) if draft.phone else ()),
            *((_search(Kind.CONTACT, "custom_fields", whatsapp, exact=True),) if whatsapp else ()),
        )

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(draft, response, self.whatsapp)

    def opportunities_of(self, contact_id: str) -> Request | None:
        """The list of deals by person, which has no deals that were archived."""
        return Request(
            "GET", PATHS[Kind.OPPORTUNITY], (("person_id", contact_id), ("limit", str(PAGE[Kind.OPPORTUNITY])))
        )

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(contact_id, response, self._fields)

    def all_of(self, kind: Kind, *, after: str | None) -> Request | None:
        """A page of the list, which is no search: at night it shows doubles that nothing refused."""
        place = () if after is None else (("start" if kind is Kind.NOTE else "cursor", after),)
        return Request("GET", PATHS[kind], (("limit", str(PAGE[kind])), *place))

    def page_of(self, kind: Kind, response: Response, *, after: str | None) -> Page:  # noqa: ARG002 - the answer says
        return sightings.page(kind, response, self._fields)

    def user(self, owner: str) -> Request:
        """Users are in v1 ("Get one user")."""
        return Request("GET", f"/api/v1/users/{quote(owner, safe='')}")

    def is_there(self, owner: str, response: Response) -> bool | None:
        return sightings.is_active(owner, response)

    def remove(self, kind: Kind, crm_id: str) -> Request | None:
        """Marked as deleted, and gone after 30 days ("Delete a deal")."""
        return Request("DELETE", _record(kind, crm_id))

    def removed(self, kind: Kind, response: Response) -> bool:  # noqa: ARG002 - all kinds answer alike
        return outcomes.is_done(response) or outcomes.is_gone(response)

    def limits(self) -> tuple[Limit, ...]:
        """Of a token of the smallest plan; searches have ten in two seconds in every plan.

        (pipedrive.readme.io/docs/core-api-concepts-rate-limiting, 2026-11-29.)  A day's budget is the company's: the
        answers tell when it is used up.
        """
        return (Limit(20, timedelta(seconds=2)), Limit(10, timedelta(seconds=2), "search"))

    def bucket(self, request: Request) -> str:
        return "search" if request.path.endswith("/search") else CALLS

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        return preflight.questions(self.person_reference, self.deal_reference, self.deal_text, aim)

    def asks_name(self, contact_id: str) -> Request:
        return self.read(Kind.CONTACT, contact_id)

    def name_in(self, response: Response) -> str | None:
        return answers.full_name(answers.mapping((answers.json_object(response) or {}).get("data")).get("name"))

    def page(self, kind: Kind, base_url: str) -> str | None:
        """On the company's own domain (pipedrive.readme.io/docs/getting-details-of-a-deal, "…/deal/222"; for people
        ringcentral.github.io/rc-unified-crm-extension, `contactPageUrl`; 2026-11-30)."""
        card = {Kind.CONTACT: "person", Kind.OPPORTUNITY: "deal"}.get(kind)
        own = origin(base_url)
        return f"{own}/{card}/{{id}}" if card and own != SHARED else None

    def control(self) -> Request:
        """The definition of the deal's reference ("Get one deal field")."""
        return Request("GET", f"/api/v2/dealFields/{quote(self.deal_reference, safe='')}")

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(response, self.deal_reference)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return drafts.sentinel(kind, installation, parent_id=parent_id)


def from_settings(settings: Settings) -> Pipedrive:
    """The client with a destination's options.  Raises BadSetting."""
    only(settings, "person_reference", "deal_reference", "deal_text", "whatsapp_field", "limit_seconds")
    return Pipedrive(
        person_reference=_key(settings, "person_reference"),
        deal_reference=_key(settings, "deal_reference"),
        deal_text=_key(settings, "deal_text"),
        whatsapp=_key(settings, "whatsapp_field") if "whatsapp_field" in settings else None,
        limit=seconds(settings, "limit_seconds"),
    )


def _key(settings: Settings, name: str) -> str:
    """The key of a custom field.  Raises BadSetting."""
    key = settings.get(name, "")
    if not KEY.fullmatch(key):
        raise BadSetting(
            f"{name} must be the key of a custom field, 40 letters and digits, as Pipedrive's settings show it"
        )
    return key


def _record(kind: Kind, crm_id: str) -> str:
    return f"{PATHS[kind]}/{quote(crm_id, safe='')}"


def _search(kind: Kind, field: str, term: str, *, exact: bool) -> Request:
    """A term must have two letters ("Search persons"); shorter ones find nothing, and are refused."""
    where = (("term", term), ("fields", field), ("exact_match", "true" if exact else "false"))
    return Request("GET", f"{PATHS[kind]}/search", (*where, ("limit", str(SEARCHED))))


def _writing(method: Literal["POST", "PATCH"], path: str, body: Mapping[str, object]) -> Request:
    return Request(method, path, body=json.dumps(body).encode(), headers=(("Content-Type", "application/json"),))
