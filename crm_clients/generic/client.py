"""The client for a CRM of one's own, as its destination's options describe it (docs/crm/http.md).

It was run end to end against our sandbox CRM, whose interface is the default of all options.  What another CRM does,
its owner says and we did not see, so that it counts as never run (`verified`), and a reference as stored until the
owner says that the CRM refuses a second record (`enforced`).  Only answers that the owner names are refusals.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from crm_clients import answers
from crm_clients.base import (
    Account,
    Capability,
    ContactDraft,
    Draft,
    Kind,
    Looked,
    NoteDraft,
    OpportunityDraft,
    Request,
    Response,
    Seen,
    TaskDraft,
    UnreadableAnswer,
    Unsure,
    Written,
    kind_of,
)
from crm_clients.generic import outcomes, sightings, templates
from crm_clients.generic.plan import Plan, plan
from crm_clients.generic.suggested import CHANGEABLE
from crm_clients.generic.templates import Filling, Place
from crm_clients.options import Settings
from crm_clients.own_fields import own_fields
from crm_clients.sentinel import sentinel


@dataclass(frozen=True, slots=True)
class Generic:
    """Built from a plan; all that it knows stands there."""

    plan: Plan

    @property
    def name(self) -> str:
        return "http"

    @property
    def verified(self) -> bool:
        return False

    def account(self, name: str, base_url: str, credential: str) -> Account:
        """The credential in the header that the owner names."""
        value = self.plan.auth_value.replace("{credential}", credential)
        return Account(name, base_url, ((self.plan.auth_header, value),))

    def capability(self, kind: Kind) -> Capability:
        """What the owner says of it."""
        return Capability(
            "enforced" if kind in self.plan.enforced else "marker" if kind in self.plan.marker else "stored",
            look=self.plan.look,
            lag=self.plan.lag,
            limit=self.plan.limit,
            sees_archived=self.plan.archived,
            currencies=self.plan.currencies if kind is Kind.OPPORTUNITY else None,
        )

    def create(self, draft: Draft, reference: str) -> Request:
        kind = kind_of(draft)
        asked, fillings = self.plan.of[kind], _fillings(draft, reference)
        key = () if self.plan.key_header is None else ((self.plan.key_header, f"{kind}-{reference}"),)
        words = {name: value for name, value in fillings.items() if isinstance(value, str)}
        return _writing(asked.create, words, templates.filled(asked.body, fillings), *key)

    def created(self, kind: Kind, response: Response) -> Written:
        return outcomes.created(self.plan, kind, response)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        return _looking(self.plan.of[kind].find, {"reference": reference, "opportunity": parent_id or ""})

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(self.plan, kind, reference, response)

    def read(self, kind: Kind, crm_id: str) -> Request:
        return _looking(self.plan.of[kind].read, {"id": crm_id})

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(self.plan, kind, crm_id, response)

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Only what is named is sent.  Raises ValueError for what is not guarded, or no opportunity's."""
        unknown = changes.keys() - CHANGEABLE
        if unknown or kind is not Kind.OPPORTUNITY:
            raise ValueError(f"not a guarded field of a {kind}: {', '.join(sorted(unknown or changes))}")
        fillings = {name: answers.text(value) for name, value in changes.items()}
        return _writing(self.plan.update, {"id": crm_id}, templates.filled(self.plan.update_body, fillings))

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:
        return outcomes.updated(self.plan, kind, crm_id, response)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        known = {"phone": draft.phone, "email": draft.email}
        asked = ((place, name, known[name]) for name, place in self.plan.matches.items())
        return tuple(_looking(place, {name: value}) for place, name, value in asked if value)

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(self.plan, draft, response)

    def opportunities_of(self, contact_id: str) -> Request | None:
        place = self.plan.opportunities_of
        return None if place is None else _looking(place, {"contact": contact_id})

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        if self.plan.opportunities_of is None:
            raise UnreadableAnswer("this CRM cannot list the opportunities of a contact")
        return sightings.listed(self.plan, contact_id, response)

    def control(self) -> Request:
        return _looking(self.plan.control, {})

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(self.plan, response)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return sentinel(kind, installation, parent_id=parent_id)


def _fillings(draft: Draft, reference: str) -> Mapping[str, Filling]:
    """What a record says, by the names of the holes."""
    return {**_said(draft, reference), "reference": reference}


def _said(draft: Draft, reference: str) -> dict[str, Filling]:
    match draft:
        case ContactDraft():
            return _contact(draft)
        case OpportunityDraft():
            return _opportunity(draft)
        case TaskDraft():
            return _task(draft, reference)
        case NoteDraft():
            text, marked = answers.text(draft.text), answers.marked(draft.text, reference)
            return {"text": text, "marked_text": marked, "opportunity": draft.opportunity_id, "said_at": draft.said_at}


def _contact(draft: ContactDraft) -> dict[str, Filling]:
    name = _line(draft.name)
    first, _, last = name.partition(" ")
    own = dict(own_fields(draft))
    who: dict[str, Filling] = {"name": name, "first_name": first if last else "", "last_name": last or first}
    reach: dict[str, Filling] = {"phone": draft.phone, "email": draft.email, "company": _line(draft.company or "")}
    return {**who, **reach, "owner": draft.owner, "text": own.pop("text", None), "fields": own}


def _opportunity(draft: OpportunityDraft) -> dict[str, Filling]:
    what: dict[str, Filling] = {"title": _line(draft.title), "text": answers.text(draft.text)}
    place: dict[str, Filling] = {"contact": draft.contact_id, "owner": draft.owner, "pipeline": draft.pipeline}
    worth: dict[str, Filling] = {"amount": draft.amount, "currency": draft.currency, "stage": draft.stage}
    return {**what, **place, **worth, "received_at": draft.received_at, "fields": dict(own_fields(draft))}


def _task(draft: TaskDraft, reference: str) -> dict[str, Filling]:
    title = _line(draft.title)
    what: dict[str, Filling] = {"title": title, "marked_title": f"{title} [ref:{reference}]".lstrip()}
    return {
        **what,
        "opportunity": draft.opportunity_id,
        "owner": draft.owner,
        "due_at": draft.due_at,
        "type": draft.type,
    }


def _line(value: str) -> str:
    return " ".join(answers.text(value).split())


def _looking(place: Place, with_: Mapping[str, str]) -> Request:
    path, query = place.filled(with_)
    return Request(place.method, path, query)


def _writing(place: Place, with_: Mapping[str, str], body: Mapping[str, object], *headers: tuple[str, str]) -> Request:
    path, query = place.filled(with_)
    headers = (("Content-Type", "application/json"), *headers)
    return Request(place.method, path, query, json.dumps(body).encode(), headers)


def from_settings(settings: Settings) -> Generic:
    """The client with a destination's options.  Raises BadSetting."""
    return Generic(plan(settings))
