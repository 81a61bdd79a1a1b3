"""The client for HubSpot's CRM objects, API v3.  Its requests were held against HubSpot's own OpenAPI files; no account
was ever used (`verified` is False).

What it relies on, read on 2026-11-29 where no other date stands:

- A property with `hasUniqueValue` names a record in a path, with `?idProperty=` (HubSpot's OpenAPI files of 2026-08-21,
  "Retrieve a deal": contacts, deals and tasks).  That custom properties of tasks and notes may be unique is inferred
  from the same words for every object; where they may not, the sentinel is not found, and nothing is delivered.
- That reading by such a property sees what was written at once is inferred: it is no search.  `/search` sees new
  records only after "a few moments", and is never taken as proof.
- A second record with the same unique value is refused with 400 and "already has that value": seen in public programs
  only.  So the reference counts as stored, until the owner has tried it and says so (`enforced`).
- A create may carry associations, which is one write ("Associate records during creation" in
  developers.hubspot.com/docs/api-reference/latest/crm/associations/overview).
- Archived records are not shown without `archived=true`, so that they look absent.  A merged record answers under the
  survivor's id, which lists the merged ones in `hs_merged_object_ids` (public programs).
- Nothing says how long HubSpot may work on a request: the limit is unknown.
- v3 paths are announced as unsupported after September 2027 (HubSpot's change log); dated ones have the same bodies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal
from urllib.parse import quote

from crm_clients import answers
from crm_clients.abilities import CALLS, Aim, Limit, Question
from crm_clients.base import (
    Capability,
    ContactDraft,
    Draft,
    Kind,
    Looked,
    OpportunityDraft,
    Request,
    Response,
    Seen,
    Unsure,
    Written,
    kind_of,
)
from crm_clients.hubspot import drafts, outcomes, preflight, sightings
from crm_clients.options import Settings, currencies, kinds, number, only, seconds
from crm_clients.sentinel import sentinel

VERSION = "v3"
OBJECTS: Mapping[Kind, str] = {
    Kind.CONTACT: "contacts",
    Kind.OPPORTUNITY: "deals",
    Kind.TASK: "tasks",
    Kind.NOTE: "notes",
}

# Okta's connector waits 10 s after a create and 60 s after an update for HubSpot's search (help.okta.com, "Search
# Contacts"); a read by a unique property is quicker, but nobody promises it.
LAG = timedelta(seconds=60)
PAGE = 200  # results of a search; the most that HubSpot gives (its OpenAPI files, "limit")

OPTIONS = (
    "reference_field", "enforced", "currencies", "whatsapp_field", "pipeline", "stage", "portal", "limit_seconds",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HubSpot:
    """`reference` is the internal name of the property that keeps the reference; it must be unique for every object.

    `enforced`: the kinds for which the owner has seen HubSpot refuse a second record with the same reference.
    `currencies`: those that the account keeps amounts in, the company's own first; an amount in another one stands in
    the text.  `whatsapp`: the contact property in which a WhatsApp number stands, by which contacts are found too.
    `pipeline` and `stage`: of opportunities that name none, the sentinel among them.  `portal`: the account's number
    (Hub ID), None: not told, and its records have no pages.  `limit`: how long HubSpot may work on a request, None:
    unknown.
    """

    reference: str = "lead_ref"
    enforced: frozenset[Kind] = frozenset()
    currencies: tuple[str, ...] = ()
    whatsapp: str | None = None
    pipeline: str | None = None
    stage: str | None = None
    portal: int | None = None
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "hubspot"

    @property
    def verified(self) -> bool:
        return False

    def capability(self, kind: Kind) -> Capability:
        """Archived records are not seen.  A finished task stays."""
        return Capability(
            "enforced" if kind in self.enforced else "stored",
            lag=LAG,
            limit=self.limit,
            sees_archived=False,
            currencies=frozenset(self.currencies) if kind is Kind.OPPORTUNITY else None,
            changes_phone=kind is Kind.CONTACT,
        )

    def create(self, draft: Draft, reference: str) -> Request:
        """Properties and the association to the parent, in one write."""
        body = {
            "properties": {
                **self._defaults(draft),
                **drafts.properties(draft, self.currencies),
                self.reference: reference,
            },
            "associations": drafts.associations(draft),
        }
        return _writing("POST", _path(kind_of(draft)), body)

    def _defaults(self, draft: Draft) -> Mapping[str, str]:
        """A stage is one of its pipeline: neither is added to another pipeline's deal."""
        if not isinstance(draft, OpportunityDraft) or draft.pipeline not in {None, self.pipeline}:
            return {}
        named = {"pipeline": self.pipeline, "dealstage": self.stage}
        return {name: value for name, value in named.items() if value}

    def created(self, kind: Kind, response: Response) -> Written:
        return outcomes.created(kind, response, self.reference)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:  # noqa: ARG002 - it has a place
        return self._reading(kind, reference, ("idProperty", self.reference))

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(kind, reference, response, self.reference, self.currencies)

    def read(self, kind: Kind, crm_id: str) -> Request:
        return self._reading(kind, crm_id)

    def _reading(self, kind: Kind, value: str, *how: tuple[str, str]) -> Request:
        """Only the properties that are named are shown, and owners are not among the usual ones."""
        wanted = ("properties", ",".join(sightings.shown(kind, self.reference)))
        place = (("associations", "contacts"),) if kind is Kind.OPPORTUNITY else ()
        return Request("GET", f"{_path(kind)}/{quote(value, safe='')}", (*how, wanted, *place))

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(kind, crm_id, response, self.reference, self.currencies)

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Properties that are not named stay as they are.  Raises ValueError for a field that is not guarded."""
        body = {"properties": drafts.changes(kind, changes, self.currencies)}
        return _writing("PATCH", f"{_path(kind)}/{quote(crm_id, safe='')}", body)

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:
        return outcomes.updated(kind, crm_id, response, self.reference)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """By e-mail, which is unique, without a search; by telephone and WhatsApp number there is the search alone.

        Neither changes anything, though both are POSTs: an e-mail address has no place in a path.
        """
        properties = list(sightings.shown(Kind.CONTACT, self.reference))
        groups = drafts.telephones(draft, self.whatsapp)
        by_email = drafts.by_email(draft, properties)
        by_phone = drafts.search(groups, properties, PAGE)
        return (
            *((_writing("POST", f"{_path(Kind.CONTACT)}/batch/read", by_email),) if draft.email else ()),
            *((_writing("POST", f"{_path(Kind.CONTACT)}/search", by_phone),) if groups else ()),
        )

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(draft, response, self.reference, self.whatsapp)

    def opportunities_of(self, contact_id: str) -> Request | None:
        """By the search, which may not show yet what is some moments old."""
        group = (("associations.contact", contact_id),)
        body = drafts.search(group, list(sightings.shown(Kind.OPPORTUNITY, self.reference)), PAGE)
        return _writing("POST", f"{_path(Kind.OPPORTUNITY)}/search", body)

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(contact_id, response, self.reference, self.currencies)

    def user(self, owner: str) -> Request:
        """One owner; an archived one is not shown (OpenAPI files, "Retrieve a specific owner")."""
        return Request("GET", f"/crm/{VERSION}/owners/{quote(owner, safe='')}")

    def is_there(self, owner: str, response: Response) -> bool | None:
        return sightings.is_owner(owner, response)

    def remove(self, kind: Kind, crm_id: str) -> Request | None:
        """Archived, and restorable for a while (OpenAPI files, "Archive a deal")."""
        return Request("DELETE", f"{_path(kind)}/{quote(crm_id, safe='')}")

    def removed(self, kind: Kind, response: Response) -> bool:  # noqa: ARG002 - all kinds answer alike
        return answers.succeeded(response) or outcomes.is_gone(response)

    def limits(self) -> tuple[Limit, ...]:
        """100 calls in ten seconds where plans have the fewest; searches have a limit of their own, and count apart.

        4 searches a second by HubSpot's change log, 5 by later notes (developers.hubspot.com/changelog/
        increasing-our-api-limits, 2026-11-29; OpenAPI files, "Search deals": `x-hubspot-rate-limit-exemptions`).
        """
        return (Limit(100, timedelta(seconds=10)), Limit(4, timedelta(seconds=1), "search"))

    def bucket(self, request: Request) -> str:
        return "search" if request.path.endswith("/search") else CALLS

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        if aim.pipeline in {None, self.pipeline}:
            aim = replace(aim, pipeline=self.pipeline, stage=aim.stage or self.stage)
        return preflight.questions(f"/crm/{VERSION}", OBJECTS, self.reference, aim)

    def asks_name(self, contact_id: str) -> Request:
        path = f"{_path(Kind.CONTACT)}/{quote(contact_id, safe='')}"
        return Request("GET", path, (("properties", "firstname,lastname"),))

    def name_in(self, response: Response) -> str | None:
        shown = answers.mapping((answers.json_object(response) or {}).get("properties"))
        return answers.full_name(shown.get("firstname"), shown.get("lastname"))

    def page(self, kind: Kind, base_url: str) -> str | None:  # noqa: ARG002 - it does not depend on the API's address
        """By the account's number and the type's (developers.hubspot.com/docs/guides/crm/using-object-apis;
        "app.hubspot.com/contacts/<portal>/record/0-3/<id>" as seen in public programs; 2026-11-30)."""
        kind_id = {Kind.CONTACT: "0-1", Kind.OPPORTUNITY: "0-3"}.get(kind)
        if self.portal is None or kind_id is None:
            return None
        return f"https://app.hubspot.com/contacts/{self.portal}/record/{kind_id}/{{id}}"

    def control(self) -> Request:
        """The definition of the reference for deals: whether it is there, and unique."""
        return Request("GET", f"/crm/{VERSION}/properties/deals/{quote(self.reference, safe='')}")

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(response, self.reference)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return sentinel(kind, installation, parent_id=parent_id)


def from_settings(settings: Settings) -> HubSpot:
    """The client with a destination's options.  Raises BadSetting."""
    only(
        settings,
        "reference_field",
        "enforced",
        "currencies",
        "whatsapp_field",
        "pipeline",
        "stage",
        "portal",
        "limit_seconds",
    )
    default = HubSpot()
    return HubSpot(
        reference=settings.get("reference_field", default.reference),
        enforced=kinds(settings, "enforced", of=set(Kind)),
        currencies=currencies(settings, "currencies"),
        whatsapp=settings.get("whatsapp_field"),
        pipeline=settings.get("pipeline"),
        stage=settings.get("stage"),
        portal=number(settings, "portal"),
        limit=seconds(settings, "limit_seconds"),
    )


def _path(kind: Kind) -> str:
    return f"/crm/{VERSION}/objects/{OBJECTS[kind]}"


def _writing(method: Literal["POST", "PATCH"], path: str, body: Mapping[str, object]) -> Request:
    return Request(method, path, body=json.dumps(body).encode(), headers=(("Content-Type", "application/json"),))
