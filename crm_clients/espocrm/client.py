"""The client for EspoCRM.  Never run against a server by us: written after its documentation and source, and after what
others saw on 8.4.2 (2026-11-29).

- A reference has a custom field, which is stored and can be searched.  A unique index on it is the owner's to make; it
  answers a second record with an empty 500, so that what stands is found by the look that follows (`enforced`).
- A list reads the database (SQL), so that it shows at once what is there.  Deleted records are not shown.
- EspoCRM asks whether a contact of the same name or e-mail is a duplicate, and takes two people of one name for one.
  We have looked by reference, phone and e-mail right before, and tell it not to ask (`X-Skip-Duplicate-Check`).
- A note is a post in the opportunity's stream; its reference ends the text.
- Nothing says how long the server may work on a request: the limit is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal
from urllib.parse import quote

from crm_clients import answers, numbers
from crm_clients.abilities import Aim, Page, Question
from crm_clients.base import (
    Account,
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
from crm_clients.espocrm import drafts, outcomes, preflight, sightings
from crm_clients.espocrm.drafts import Usual
from crm_clients.espocrm.sightings import PAGE, Sight
from crm_clients.options import Settings, currencies, kinds, number, only, seconds
from crm_clients.sentinel import sentinel

ENTITIES: Mapping[Kind, str] = {
    Kind.CONTACT: "Contact",
    Kind.OPPORTUNITY: "Opportunity",
    Kind.TASK: "Task",
    Kind.NOTE: "Note",
}
WITH_FIELD = frozenset({Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK})
CLOSED = frozenset({"Closed Won", "Closed Lost"})  # entityDefs/Opportunity.json, `probabilityMap`

Where = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class EspoCRM:
    """`reference_field` is the custom field of contacts, opportunities and tasks that keeps the reference.

    `enforced`: the kinds that have a unique index on it.  `closed`: the stages that end an opportunity.  `limit`: how
    long the owner's server may work on a request, None: unknown.
    """

    reference_field: str = "cExternalRef"
    usual: Usual = field(default_factory=Usual)
    enforced: frozenset[Kind] = frozenset()
    closed: frozenset[str] = CLOSED
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "espocrm"

    @property
    def verified(self) -> bool:
        return False

    def account(self, name: str, base_url: str, credential: str) -> Account:
        """The key of an API user ("API", docs/development/api.md)."""
        return Account(name, base_url, (("X-Api-Key", credential),))

    def capability(self, kind: Kind) -> Capability:
        if kind is Kind.NOTE:
            return Capability("marker", limit=self.limit, sees_archived=False)
        return Capability(
            "enforced" if kind in self.enforced else "stored",
            limit=self.limit,
            sees_archived=False,
            currencies=frozenset(self.usual.currencies) if kind is Kind.OPPORTUNITY else None,
        )

    def create(self, draft: Draft, reference: str) -> Request:
        borne = {} if isinstance(draft, NoteDraft) else {self.reference_field: reference}
        body = dict(drafts.body(draft, reference, self.usual)) | borne
        return _writing("POST", f"/{ENTITIES[kind_of(draft)]}", body, ("X-Skip-Duplicate-Check", "true"))

    def created(self, kind: Kind, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.created(response)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        """By the custom field; a note among what stands in its opportunity's stream."""
        if kind is Kind.NOTE:
            path = f"/Opportunity/{quote(parent_id or '', safe='')}/stream"
            return Request("GET", path, (("maxSize", str(PAGE)), ("offset", "0")))
        return self._list(kind, [_equals(self.reference_field, reference)])

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(self._sight(kind), reference, response)

    def read(self, kind: Kind, crm_id: str) -> Request:
        return Request("GET", _record(kind, crm_id))

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(self._sight(kind), crm_id, response)

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Attributes that are not named stay as they are.  Raises ValueError for one that is not guarded."""
        return _writing("PUT", _record(kind, crm_id), drafts.changes(kind, changes, self.usual.currencies))

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.updated(crm_id, response)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """By e-mail, and by phone in E.164, as EspoCRM keeps numbers by default, and as people type them."""
        asked: list[Where] = []
        if draft.phone:
            typed = [_equals("phoneNumber", each) for each in numbers.variants(draft.phone)]
            asked.append({"type": "or", "value": typed})
        if draft.email:
            asked.append(_equals("emailAddress", draft.email))
        return tuple(self._list(Kind.CONTACT, [each]) for each in asked)

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(self._sight(Kind.CONTACT), draft, response)

    def opportunities_of(self, contact_id: str) -> Request | None:
        return self._list(Kind.OPPORTUNITY, [_equals("contactId", contact_id)])

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(self._sight(Kind.OPPORTUNITY), contact_id, response)

    def all_of(self, kind: Kind, *, after: str | None) -> Request | None:
        """In the order in which they were made; a stream cannot be listed as a whole."""
        if kind is Kind.NOTE:
            return None
        borne = {"type": "isNotNull", "attribute": self.reference_field}
        order = (("orderBy", "createdAt"), ("order", "asc"), ("offset", after or "0"))
        return self._list(kind, [borne], *order)

    def page_of(self, kind: Kind, response: Response, *, after: str | None) -> Page:
        return sightings.page(self._sight(kind), response, after=after)

    def user(self, owner: str) -> Request:
        """A user ("User" entity, `isActive`); the role must allow to read users."""
        return Request("GET", f"/User/{quote(owner, safe='')}")

    def is_there(self, owner: str, response: Response) -> bool | None:
        return sightings.is_user(owner, response)

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        aim = replace(aim, stage=aim.stage or self.usual.stage)
        return preflight.questions(ENTITIES, self.reference_field, aim)

    def asks_name(self, contact_id: str) -> Request:
        return self.read(Kind.CONTACT, contact_id)

    def name_in(self, response: Response) -> str | None:
        return answers.full_name((answers.json_object(response) or {}).get("name"))

    def page(self, kind: Kind, base_url: str) -> str | None:
        """As in Google's example for EspoCRM (docs.cloud.google.com/contact-center/ccai-platform/docs/
        espo-example-implementation, "#Case/view/", "#Contact/view/", 2026-11-30); a post has no page of its own."""
        return None if kind is Kind.NOTE else f"{base_url.removesuffix('/api/v1')}/#{ENTITIES[kind]}/view/{{id}}"

    def control(self) -> Request:
        """A filter by the reference's field, which EspoCRM refuses where it is not defined."""
        return self._list(Kind.OPPORTUNITY, [_equals(self.reference_field, "intake-control")])

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(response)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return sentinel(kind, installation, parent_id=parent_id)

    def remove(self, kind: Kind, crm_id: str) -> Request | None:
        """Marked as deleted; only what the contract probe made."""
        return Request("DELETE", _record(kind, crm_id))

    def removed(self, kind: Kind, response: Response) -> bool:  # noqa: ARG002 - all kinds answer alike
        return response.body.strip() == b"true" or outcomes.is_gone(response)

    def _sight(self, kind: Kind) -> Sight:
        return Sight(kind, self.reference_field, self.closed)

    def _list(self, kind: Kind, where: Sequence[Where], *more: tuple[str, str]) -> Request:
        borne = (self.reference_field,) if kind in WITH_FIELD else ()
        select = ",".join(("id", *sightings.FIELDS[kind], *borne))
        query = (("select", select), ("maxSize", str(PAGE)), *_flat("where", where), *more)
        return Request("GET", f"/{ENTITIES[kind]}", query)


def _equals(attribute: str, value: str) -> Where:
    return {"type": "equals", "attribute": attribute, "value": value}


def _flat(name: str, value: object) -> Iterator[tuple[str, str]]:
    """A filter as PHP reads it from a query: `where[0][type]=equals`."""
    match value:
        case Mapping():
            for key, each in value.items():
                yield from _flat(f"{name}[{key}]", each)
        case list():
            for position, each in enumerate(value):
                yield from _flat(f"{name}[{position}]", each)
        case _:
            yield name, str(value)


def _record(kind: Kind, crm_id: str) -> str:
    return f"/{ENTITIES[kind]}/{quote(crm_id, safe='')}"


def _writing(
    method: Literal["POST", "PUT"], path: str, body: Mapping[str, object], *headers: tuple[str, str]
) -> Request:
    return Request(
        method, path, body=json.dumps(body).encode(), headers=(("Content-Type", "application/json"), *headers)
    )


def from_settings(settings: Settings) -> EspoCRM:
    """The client with a destination's options.  Raises BadSetting."""
    only(
        settings,
        *("reference_field", "enforced", "currencies", "stage", "close_days", "closed_stages", "assignee"),
        "limit_seconds",
    )
    default = EspoCRM()
    usual = Usual(
        currencies=currencies(settings, "currencies"),
        stage=settings.get("stage", default.usual.stage),
        close_days=number(settings, "close_days") or default.usual.close_days,
        assignee=settings.get("assignee"),
    )
    closed = frozenset(filter(None, map(str.strip, settings.get("closed_stages", "").split(","))))
    return EspoCRM(
        reference_field=settings.get("reference_field", default.reference_field),
        usual=usual,
        enforced=kinds(settings, "enforced", of=WITH_FIELD),
        closed=closed or CLOSED,
        limit=seconds(settings, "limit_seconds"),
    )
