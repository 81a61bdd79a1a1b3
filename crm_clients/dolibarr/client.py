"""The client for Dolibarr.  Never run against a server by us: written after its source, and after what others saw on
Gestimag 1.0-rc1, a fork of Dolibarr 20 (2026-11-29).

- A contact is a third party, since only that has a place in a project (`socid`).  Its `ref_ext` keeps the reference;
  that a third party stores it, and shows it again, was seen of contacts only [INF].
- An opportunity is a project that follows an opportunity (`usage_opportunity`).  Its `ref` is the reference, required,
  and unique in the database (`uk_projet_ref`: of two at once one was made, 6 of 6 times).  It counts as stored until
  the owner has seen that (`enforced`).  `ref_ext` is taken by a project and stored nowhere.
- A task is an event of the agenda, a note an event that nobody has to do.  Their `ref_ext` is stored and never shown,
  so that the label ends with the reference, and the project's events are listed: Dolibarr's own log is among them.
- A project has no owner: an extra field may name one (`owner_field`).
- An update reads the whole project and writes it back (`put`), so that what somebody saves in the same instant is lost.
- A search reads the database; deleted records are gone.  Nothing says how long a request may run.
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
from crm_clients.abilities import Aim, Question
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
from crm_clients.dolibarr import drafts, outcomes, preflight, sightings
from crm_clients.dolibarr.drafts import Company
from crm_clients.options import BadSetting, Settings, currencies, kinds, number, only, seconds
from crm_clients.sentinel import sentinel

PATHS: Mapping[Kind, str] = {
    Kind.CONTACT: "/thirdparties",
    Kind.OPPORTUNITY: "/projects",
    Kind.TASK: "/agendaevents",
    Kind.NOTE: "/agendaevents",
}
FIELD = re.compile(r"[a-z][a-z0-9_]{0,60}")
# What may stand between the quotes of a filter: Dolibarr has no way to write a quote or a bracket there.
FILTERABLE = re.compile(r"[A-Za-z0-9 .,_@+\-]+")

CARDS: Mapping[Kind, str] = {
    Kind.CONTACT: "/societe/card.php?socid=",
    Kind.OPPORTUNITY: "/projet/card.php?id=",
    Kind.TASK: "/comm/action/card.php?id=",
    Kind.NOTE: "/comm/action/card.php?id=",
}


@dataclass(frozen=True, slots=True)
class Dolibarr:
    """`enforced`: the opportunities, if the owner has seen a second one refused.  `limit`: how long the owner's server
    may work on a request, None: unknown."""

    company: Company
    enforced: frozenset[Kind] = frozenset()
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "dolibarr"

    @property
    def verified(self) -> bool:
        return False

    def account(self, name: str, base_url: str, credential: str) -> Account:
        return Account(name, base_url, (("DOLAPIKEY", credential),))

    def capability(self, kind: Kind) -> Capability:
        match kind:
            case Kind.CONTACT:
                return Capability("stored", limit=self.limit, changes_phone=True)
            case Kind.OPPORTUNITY:
                kept = frozenset({self.company.currency} if self.company.currency else ())
                borne: Literal["enforced", "stored"] = "enforced" if kind in self.enforced else "stored"
                return Capability(borne, limit=self.limit, currencies=kept)
            case Kind.TASK | Kind.NOTE:
                return Capability("marker", limit=self.limit)

    def create(self, draft: Draft, reference: str) -> Request:
        return _writing("POST", PATHS[kind_of(draft)], drafts.body(draft, reference, self.company))

    def created(self, kind: Kind, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.created(response)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        """Of events the project's newest first, so that what was just made is on the first page."""
        match kind:
            case Kind.CONTACT:
                return _list(kind, _equals("t.ref_ext", reference))
            case Kind.OPPORTUNITY:
                return _list(kind, _equals("t.ref", reference))
            case Kind.TASK | Kind.NOTE:
                newest = (("sortfield", "t.id"), ("sortorder", "DESC"))
                return _list(kind, _equals("t.fk_project", parent_id or ""), *newest)

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(kind, reference, response, self.company)

    def read(self, kind: Kind, crm_id: str) -> Request:
        return Request("GET", _record(kind, crm_id))

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(kind, crm_id, response, self.company)

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Fields that are not named stay as they are.  Raises ValueError for one that is not guarded."""
        return _writing("PUT", _record(kind, crm_id), drafts.changes(kind, changes, self.company.currency))

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:  # noqa: ARG002 - only projects are updated
        return outcomes.updated(crm_id, response)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """By phone in the forms in which people type it, letter by letter, and by e-mail."""
        asked: list[str] = []
        if draft.phone:
            asked.append(" or ".join(_equals("t.phone", each) for each in _filterable(*numbers.variants(draft.phone))))
        if draft.email:
            asked += [_equals("t.email", each) for each in _filterable(draft.email)]
        return tuple(_list(Kind.CONTACT, each) for each in asked)

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(draft, response, self.company)

    def opportunities_of(self, contact_id: str) -> Request | None:
        return _list(Kind.OPPORTUNITY, _equals("t.fk_soc", contact_id))

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(contact_id, response, self.company)

    def user(self, owner: str) -> Request:
        """A user; the key's own user must be allowed to read users."""
        return Request("GET", f"/users/{quote(owner, safe='')}")

    def is_there(self, owner: str, response: Response) -> bool | None:
        return sightings.is_user(owner, response)

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        return preflight.questions(self.company, aim, self.find(Kind.CONTACT, "intake-control", parent_id=None))

    def asks_name(self, contact_id: str) -> Request:
        return self.read(Kind.CONTACT, contact_id)

    def name_in(self, response: Response) -> str | None:
        return answers.full_name((answers.json_object(response) or {}).get("name"))

    def page(self, kind: Kind, base_url: str) -> str | None:
        """As Dolibarr's own links are (Dolibarr/dolibarr 002c4a1, `Societe::getNomUrl`; core/lib/project.lib.php,
        `project_prepare_head`, 2026-11-30); that of an event is from memory."""
        return f"{base_url.removesuffix('/api/index.php')}{CARDS[kind]}{{id}}"

    def control(self) -> Request:
        return _list(Kind.OPPORTUNITY, _equals("t.ref", "intake-control"))

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(response)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return sentinel(kind, installation, parent_id=parent_id)


def _filterable(*values: str) -> tuple[str, ...]:
    return tuple(each for each in values if FILTERABLE.fullmatch(each))


def _equals(field: str, value: str) -> str:
    """A criterion; what cannot stand in one is left out of it, and finds nothing."""
    return f"({field}:=:'{''.join(FILTERABLE.findall(value))}')"


def _list(kind: Kind, filter_: str, *more: tuple[str, str]) -> Request:
    return Request("GET", PATHS[kind], (("sqlfilters", filter_), ("limit", str(sightings.PAGE)), *more))


def _record(kind: Kind, crm_id: str) -> str:
    return f"{PATHS[kind]}/{quote(crm_id, safe='')}"


def _writing(method: Literal["POST", "PUT"], path: str, body: Mapping[str, object]) -> Request:
    return Request(method, path, body=json.dumps(body).encode(), headers=(("Content-Type", "application/json"),))


def from_settings(settings: Settings) -> Dolibarr:
    """The client with a destination's options.  Raises BadSetting."""
    only(settings, "user", "currency", "owner_field", "enforced", "limit_seconds")
    user, codes, owner_field = number(settings, "user"), currencies(settings, "currency"), settings.get("owner_field")
    if user is None:
        raise BadSetting("user must be the number of a user, who gets the tasks of projects without an owner")
    if len(codes) > 1:
        raise BadSetting("currency names several; a company of Dolibarr has one")
    if owner_field is not None and not FIELD.fullmatch(owner_field):
        raise BadSetting("owner_field is the code of an extra field: small letters, digits and underscores")
    company = Company(user, codes[0] if codes else None, owner_field)
    enforced = kinds(settings, "enforced", of=(Kind.OPPORTUNITY,))
    return Dolibarr(company, enforced, seconds(settings, "limit_seconds"))
