"""The client for Zoho CRM, API v8.  Its requests were held against Zoho's own OpenAPI file; no account was ever used
(`verified` is False).

What it relies on, read on 2026-11-29 where no other date stands:

- An "external" field names a record in a path, with the header `X-EXTERNAL: Deals.Field` (Zoho's `crm-oas`, v8.0
  `record.json`, 45dff2c of 2025-06-27: "Get Record Using External ID").  It is a read and no search, so that it sees
  what was written at once: inferred.  What it answers where nothing has the value is not published; several answers
  that can mean nothing else are taken for it, and the sentinel shows that the field is looked at.
- Contacts, deals and tasks may have such a field (zoho.com/crm/developer/docs/api/v8/insert-records-ext.html).  Notes
  have no fields of one's own: their reference stands in the text, and the deal's notes are listed.
- A second record with the same value is refused as `DUPLICATE_DATA`, which names the first (`record.json`,
  `API_Exception`).  Nobody has seen it for an external field of a task, so that the reference counts as stored until
  the owner has tried it and says so (`enforced`).
- Success and refusal stand inside `data[0]`, under any status: the status alone says nothing.
- An update by PUT changes the fields that it names ("Update Record"); an owner that is not sent stays.
- `/search` may lag behind; Zoho does not say by how much.  Nor does it say how long it may work on a request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal
from urllib.parse import quote

from crm_clients import answers
from crm_clients.abilities import Aim, Question
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
from crm_clients.options import Settings, currencies, kinds, only, seconds
from crm_clients.origins import origin
from crm_clients.sentinel import sentinel
from crm_clients.zoho import drafts, outcomes, preflight, sightings

ROOT = "/crm/v8"
MODULES: Mapping[Kind, str] = {
    Kind.CONTACT: "Contacts",
    Kind.OPPORTUNITY: "Deals",
    Kind.TASK: "Tasks",
    Kind.NOTE: "Notes",
}

# Nobody publishes one for reads; long enough that a copy of the database that is read from has caught up.
LAG = timedelta(seconds=60)
PAGE = 200  # rows of a list; the most that Zoho gives ("per_page")

TABS: Mapping[Kind, str] = {Kind.CONTACT: "Contacts", Kind.OPPORTUNITY: "Potentials", Kind.TASK: "Tasks"}
REGIONS = ("com", "eu", "in", "com.au", "jp", "com.cn")
WEB: Mapping[str, str] = {f"https://www.zohoapis.{each}": f"https://crm.zoho.{each}" for each in REGIONS}


@dataclass(frozen=True, slots=True)
class Zoho:
    """`reference` is the API name of the external field, which contacts, deals and tasks must have.

    `enforced`: the kinds for which the owner has seen Zoho refuse a second record with the same reference.
    `currencies`: those in which the account keeps amounts, its own first; an amount in another one stands in the text.
    `whatsapp`: the contact field in which a WhatsApp number stands, by which contacts are found too.  `closed`: the
    stages in which a deal is won or lost; without them nobody knows.  `pipeline` and `stage`: of deals that name none.
    `limit`: how long Zoho may work on a request, None: unknown.
    """

    reference: str = "Lead_Ref"
    enforced: frozenset[Kind] = frozenset()
    currencies: tuple[str, ...] = ()
    whatsapp: str | None = None
    closed: frozenset[str] = frozenset()
    pipeline: str | None = None
    stage: str = "Qualification"
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "zoho"

    @property
    def verified(self) -> bool:
        return False

    def account(self, name: str, base_url: str, credential: str) -> Account:
        """Zoho's own word in the place of "Bearer" (zoho.com/crm/developer/docs/api/v8/upsert-records.html)."""
        return Account(name, base_url, (("Authorization", f"Zoho-oauthtoken {credential}"),))

    def capability(self, kind: Kind) -> Capability:
        """What is in the recycle bin is not shown.  A finished task stays."""
        kept = frozenset(self.currencies) if kind is Kind.OPPORTUNITY else None
        if kind is Kind.NOTE:
            return Capability("marker", lag=LAG, limit=self.limit, sees_archived=False)
        reference: Literal["enforced", "stored"] = "enforced" if kind in self.enforced else "stored"
        return Capability(
            reference,
            lag=LAG,
            limit=self.limit,
            sees_archived=False,
            currencies=kept,
            changes_phone=kind is Kind.CONTACT,
        )

    def create(self, draft: Draft, reference: str) -> Request:
        """One record; the link to its parent is one of its fields, or the address."""
        if isinstance(draft, NoteDraft):
            return _writing("POST", _notes_of(draft.opportunity_id), drafts.note(draft, reference))
        row = {**drafts.row(draft, self.currencies, self.pipeline, self.stage), self.reference: reference}
        return _writing("POST", _module(kind_of(draft)), row, *self._external(kind_of(draft)))

    def _external(self, kind: Kind) -> tuple[tuple[str, str], ...]:
        return (("X-EXTERNAL", f"{MODULES[kind]}.{self.reference}"),)

    def created(self, kind: Kind, response: Response) -> Written:
        return outcomes.created(kind, response, self.reference)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        """By the external field; notes cannot be asked for, so that the deal's are listed."""
        if kind is Kind.NOTE:
            path = _module(kind) if parent_id is None else _notes_of(parent_id)
            return Request("GET", path, (_fields(sightings.NOTE), ("per_page", str(PAGE))))
        path = f"{_module(kind)}/{quote(reference, safe='')}"
        return Request("GET", path, (_fields(self._shown(kind)),), headers=self._external(kind))

    def _shown(self, kind: Kind) -> tuple[str, ...]:
        own = (self.whatsapp,) if kind is Kind.CONTACT and self.whatsapp else ()
        return sightings.NOTE if kind is Kind.NOTE else (self.reference, *sightings.SHOWN[kind], *own)

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(kind, reference, response, self._reading())

    def _reading(self) -> sightings.Reading:
        return sightings.Reading(self.reference, self.currencies, self.closed)

    def read(self, kind: Kind, crm_id: str) -> Request:
        return Request("GET", f"{_module(kind)}/{quote(crm_id, safe='')}", (_fields(self._shown(kind)),))

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(kind, crm_id, response, self._reading())

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Fields that are not named stay as they are.  Raises ValueError for a field that is not guarded."""
        path = f"{_module(kind)}/{quote(crm_id, safe='')}"
        return _writing("PUT", path, drafts.changes(kind, changes, self.currencies))

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:
        return outcomes.updated(kind, crm_id, response, self.reference)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """By e-mail and by telephone, both searched: what is some moments old may be missing."""
        shown, path = _fields(self._shown(Kind.CONTACT)), f"{_module(Kind.CONTACT)}/search"
        criteria = drafts.telephones(draft, self.whatsapp)
        return (
            *((Request("GET", path, (("email", draft.email), shown)),) if draft.email else ()),
            *((Request("GET", path, (("criteria", criteria), shown)),) if criteria else ()),
        )

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(draft, response, self._reading(), self.whatsapp)

    def opportunities_of(self, contact_id: str) -> Request | None:
        path = f"{_module(Kind.CONTACT)}/{quote(contact_id, safe='')}/{MODULES[Kind.OPPORTUNITY]}"
        return Request("GET", path, (_fields(self._shown(Kind.OPPORTUNITY)), ("per_page", str(PAGE))))

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(contact_id, response, self._reading())

    def user(self, owner: str) -> Request:
        return Request("GET", f"{ROOT}/users/{quote(owner, safe='')}")

    def is_there(self, owner: str, response: Response) -> bool | None:
        return sightings.is_active(owner, response)

    def remove(self, kind: Kind, crm_id: str) -> Request | None:
        """Into the recycle bin ("Delete Record")."""
        return Request("DELETE", f"{_module(kind)}/{quote(crm_id, safe='')}")

    def removed(self, kind: Kind, response: Response) -> bool:  # noqa: ARG002 - all kinds answer alike
        return outcomes.code_of(response) == "SUCCESS" or outcomes.is_gone(response)

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        aim = replace(aim, pipeline=aim.pipeline or self.pipeline, stage=aim.stage or self.stage)
        return preflight.questions(ROOT, MODULES, self.reference, aim)

    def asks_name(self, contact_id: str) -> Request:
        path = f"{_module(Kind.CONTACT)}/{quote(contact_id, safe='')}"
        return Request("GET", path, (_fields(("First_Name", "Last_Name")),))

    def name_in(self, response: Response) -> str | None:
        rows = answers.rows((answers.json_object(response) or {}).get("data")) or ()
        return answers.full_name(rows[0].get("First_Name"), rows[0].get("Last_Name")) if len(rows) == 1 else None

    def page(self, kind: Kind, base_url: str) -> str | None:
        """Under the web address of the account's own region, deals by their older name ("crm.zoho.com/crm/tab/
        Potentials/<id>", as seen in public programs, GitHub, 2026-11-30)."""
        web, tab = WEB.get(origin(base_url)), TABS.get(kind)
        return f"{web}/crm/tab/{tab}/{{id}}" if web and tab else None

    def control(self) -> Request:
        """The fields of deals: whether the reference is there, and external."""
        return Request("GET", f"{ROOT}/settings/fields", (("module", MODULES[Kind.OPPORTUNITY]),))

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(response, self.reference)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return sentinel(kind, installation, parent_id=parent_id)


def from_settings(settings: Settings) -> Zoho:
    """The client with a destination's options.  Raises BadSetting."""
    only(
        settings, "reference_field", "enforced", "currencies", "whatsapp_field", "closed_stages", "pipeline", "stage",
        "limit_seconds",
    )  # fmt: skip
    default = Zoho()
    return Zoho(
        reference=settings.get("reference_field", default.reference),
        enforced=kinds(settings, "enforced", of={Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK}),
        currencies=currencies(settings, "currencies"),
        whatsapp=settings.get("whatsapp_field"),
        closed=frozenset(filter(None, map(str.strip, settings.get("closed_stages", "").split(",")))),
        pipeline=settings.get("pipeline"),
        stage=settings.get("stage", default.stage),
        limit=seconds(settings, "limit_seconds"),
    )


def _module(kind: Kind) -> str:
    return f"{ROOT}/{MODULES[kind]}"


def _notes_of(deal_id: str) -> str:
    return f"{_module(Kind.OPPORTUNITY)}/{quote(deal_id, safe='')}/{MODULES[Kind.NOTE]}"


def _fields(names: tuple[str, ...]) -> tuple[str, str]:
    return ("fields", ",".join(names))


def _writing(
    method: Literal["POST", "PUT"], path: str, row: Mapping[str, object], *headers: tuple[str, str]
) -> Request:
    """A list of one record: what became of it stands in the answer's list of one."""
    body = json.dumps({"data": [row]}).encode()
    return Request(method, path, body=body, headers=(("Content-Type", "application/json"), *headers))
