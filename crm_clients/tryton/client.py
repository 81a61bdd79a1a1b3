"""The client for Tryton 8.2, run against its own server.

What it relies on was read in trytond 8.2.1 and its modules party, sale_opportunity and project 8.2.0 (PyPI, 2026-11-29)
and seen on a server:

- An opportunity's reference is its field `reference`, which is stored, can be searched, and is not unique.  A contact's
  is an identifier of its party, which is not unique either, or the party's `code`, which PostgreSQL keeps unique.
- Tryton has no task that belongs to an opportunity: ours is a `project.work` of the type task, whose comment names the
  opportunity, the employee and the due time.  Its reference and a note's end the text.
- A search reads the database; what is deleted is gone, inactive parties are asked for by name.
- A create answers with the record, or 204 where the key's user may not read it.
- Everything that is no rule of its own is a 500, also a field that it does not know.
- Nothing ends a write that takes long: the limit is unknown.
- One login by password is counted and locked; keys of the REST API are not, and need none.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    Request,
    Response,
    Seen,
    Unsure,
    Written,
    kind_of,
)
from crm_clients.options import BadSetting, Settings, currencies, number, one_of, only, seconds
from crm_clients.sentinel import sentinel
from crm_clients.tryton import drafts, outcomes, preflight, sightings
from crm_clients.tryton.drafts import Place
from crm_clients.tryton.sightings import Sight

MODELS: Mapping[Kind, str] = {
    Kind.CONTACT: "party.party",
    Kind.OPPORTUNITY: "sale.opportunity",
    Kind.TASK: "project.work",
    Kind.NOTE: "ir.note",
}
BOTH = [True, False]

# Messages are told apart by their words.
ENGLISH = ("Accept-Language", "en")


@dataclass(frozen=True, slots=True)
class Tryton:
    """`company` is the number of the company in which records are made.

    `contact_reference` is where a contact's reference stands.  `currency` is the company's (ISO 4217), None: not told,
    and amounts that name one stand in the text.  `limit` is how long the owner's server may work on a request, None:
    unknown.
    """

    company: int = 1
    contact_reference: Place = "identifier"
    currency: str | None = None
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "tryton"

    @property
    def verified(self) -> bool:
        return True

    def account(self, name: str, base_url: str, credential: str) -> Account:
        """The key of a user application, and the company that its user works in."""
        context = urlsafe_b64encode(json.dumps({"company": self.company}).encode()).decode()
        return Account(name, base_url, (("Authorization", f"Bearer {credential}"), ("X-Tryton-Context", context)))

    def capability(self, kind: Kind) -> Capability:
        match kind:
            case Kind.CONTACT:
                return Capability("enforced" if self.contact_reference == "code" else "stored", limit=self.limit)
            case Kind.OPPORTUNITY:
                kept = frozenset({self.currency} if self.currency else ())
                return Capability("stored", limit=self.limit, currencies=kept)
            case Kind.TASK | Kind.NOTE:
                return Capability("marker", limit=self.limit)

    def create(self, draft: Draft, reference: str) -> Request:
        body = drafts.body(draft, reference, self.contact_reference, self.currency)
        return _writing("POST", f"/{MODELS[kind_of(draft)]}", body)

    def created(self, kind: Kind, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.created(response)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        """Of tasks and notes all of the opportunity's, and every task that names the reference in its comment."""
        match kind:
            case Kind.CONTACT:
                return _search(kind, [self._bears(reference), ["active", "in", BOTH]])
            case Kind.OPPORTUNITY:
                return _search(kind, [["reference", "=", reference]])
            case Kind.TASK:
                named = ["comment", "ilike", f"%[ref:{reference}]%"]
                return _search(kind, ["OR", named, ["comment", "ilike", f"{drafts.link(parent_id or '')}\n%"]])
            case Kind.NOTE:
                return _search(kind, [["resource", "=", drafts.link(parent_id or "")]])

    def _bears(self, reference: str) -> Sequence[object]:
        return ["code" if self.contact_reference == "code" else "identifiers.code", "=", reference]

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(self._sight(kind, reference), reference, response)

    def read(self, kind: Kind, crm_id: str) -> Request:
        """By a search, since a missing record is a 404 that might be anybody's."""
        active = [["active", "in", BOTH]] if kind is Kind.CONTACT else []
        return _search(kind, [["id", "=", _id(crm_id)], *active])

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(self._sight(kind), crm_id, response)

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Fields that are not named stay as they are.  Raises ValueError for one that is not guarded."""
        path = f"/{MODELS[kind]}/{quote(crm_id, safe='')}"
        return _writing("PUT", path, drafts.changes(kind, changes, self.currency))

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.updated(crm_id, response)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """By what Tryton makes of a typed number (E.164, where its library phonenumbers is installed), and by e-mail.

        Only active parties are listed; one that another replaced is not active.
        """
        asked: list[list[object]] = []
        if draft.phone:
            asked.append(["contact_mechanisms.value_compact", "in", list(numbers.variants(draft.phone))])
        if draft.email:
            asked.append(["contact_mechanisms.value", "ilike", _literally(draft.email)])
        return tuple(_search(Kind.CONTACT, [each]) for each in asked)

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(self._sight(Kind.CONTACT), draft, response)

    def opportunities_of(self, contact_id: str) -> Request | None:
        return _search(Kind.OPPORTUNITY, [["party", "=", _id(contact_id)]])

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(self._sight(Kind.OPPORTUNITY), contact_id, response)

    def all_of(self, kind: Kind, *, after: str | None) -> Request | None:
        """In the order of ids.  Tasks and notes are not listed, since most are not ours."""
        if kind in {Kind.TASK, Kind.NOTE}:
            return None
        borne = ["reference", "!=", None] if kind is Kind.OPPORTUNITY else ["active", "in", BOTH]
        order = ("o", _encoded([["id", "ASC"]]))
        return _search(kind, [borne, ["id", ">", int(after or 0)]], ("s", str(sightings.PAGE)), order)

    def page_of(self, kind: Kind, response: Response, *, after: str | None) -> Page:  # noqa: ARG002 - the rows say it
        return sightings.page(self._sight(kind), response)

    def user(self, owner: str) -> Request:
        """An employee; Tryton says itself whether the dates of his employment make him one today."""
        domain = [["id", "=", _id(owner)], ["active", "in", BOTH]]
        query = (("d", _encoded(domain)), ("f", "active"))
        return Request("GET", "/company.employee", query, headers=(ENGLISH,))

    def is_there(self, owner: str, response: Response) -> bool | None:
        return sightings.is_employee(owner, response)

    def questions(self, aim: Aim) -> tuple[Question, ...]:  # noqa: ARG002 - its API describes no words
        return preflight.questions({kind: _search(kind, [["id", "=", 0]]) for kind in MODELS})

    def asks_name(self, contact_id: str) -> Request:
        return self.read(Kind.CONTACT, contact_id)

    def name_in(self, response: Response) -> str | None:
        rows = answers.json_rows(response) or ()
        return answers.full_name(rows[0].get("name")) if len(rows) == 1 else None

    def page(self, kind: Kind, base_url: str) -> str | None:
        """In the web client, whose addresses are as trytond makes them (trytond 8.2.1, url.py, `URLAccessor`:
        "#<database>/model/<model>/<id>", 2026-11-30)."""
        root, _, database = base_url.removesuffix("/rest/model").rpartition("/")
        return f"{root}/#{database}/model/{MODELS[kind]}/{{id}}" if base_url.endswith("/rest/model") else None

    def control(self) -> Request:
        """A search that finds nothing, in the module that everything else needs."""
        return _search(Kind.OPPORTUNITY, [["id", "=", 0]])

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(response)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        """The usual one, but a party has no text: its name says whose it is."""
        if kind is Kind.CONTACT:
            return ContactDraft(f"intake-sentinel-contact {installation}")
        return sentinel(kind, installation, parent_id=parent_id)

    def remove(self, kind: Kind, crm_id: str) -> Request | None:
        """Deleted at once, where no other record needs it; only what the contract probe made."""
        return Request("DELETE", f"/{MODELS[kind]}/{quote(crm_id, safe='')}", headers=(ENGLISH,))

    def cancel(self, kind: Kind, crm_id: str) -> Request | None:
        """ "To delete opportunity …, you must cancel it" (400, seen on 8.2 on 2026-11-29)."""
        if kind is not Kind.OPPORTUNITY:
            return None
        return Request("POST", f"/{MODELS[kind]}/{quote(crm_id, safe='')}/cancel", headers=(ENGLISH,))

    def removed(self, kind: Kind, response: Response) -> bool:  # noqa: ARG002 - all kinds answer alike
        return response.status in {204, 404}

    def _sight(self, kind: Kind, reference: str | None = None) -> Sight:
        return Sight(kind, self.contact_reference, reference)


def _search(kind: Kind, domain: Sequence[object], *more: tuple[str, str]) -> Request:
    fields = (("f", name) for name in sightings.asked(kind))
    query = (("d", _encoded(domain)), *fields, *more)
    return Request("GET", f"/{MODELS[kind]}", query, headers=(ENGLISH,))


def _encoded(value: object) -> str:
    """Filters and orders are JSON in URL-safe base64, with its padding."""
    return urlsafe_b64encode(json.dumps(value).encode()).decode()


def _writing(method: Literal["POST", "PUT"], path: str, body: Mapping[str, object]) -> Request:
    headers = (("Content-Type", "application/json"), ENGLISH)
    return Request(method, path, body=json.dumps(body).encode(), headers=headers)


def _id(crm_id: str) -> object:
    """A filter by what is no number is a 500; nothing has the number -1."""
    known = drafts.number(crm_id)
    return known if isinstance(known, int) else -1


def _literally(pattern: str) -> str:
    """`ilike` is a pattern: what a person wrote is not."""
    return pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def from_settings(settings: Settings) -> Tryton:
    """The client with a destination's options.  Raises BadSetting."""
    only(settings, "company", "contact_reference", "currency", "limit_seconds")
    codes = currencies(settings, "currency")
    if len(codes) > 1:
        raise BadSetting("currency names several; a company of Tryton has one")
    word = one_of(settings, "contact_reference", ("identifier", "code"), "identifier")
    return Tryton(
        company=number(settings, "company") or Tryton().company,
        contact_reference="code" if word == "code" else "identifier",
        currency=codes[0] if codes else None,
        limit=seconds(settings, "limit_seconds"),
    )
