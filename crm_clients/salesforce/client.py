"""The client for Salesforce, REST API.  Never run against an org (`verified` is False).

What it relies on, read on 2026-11-29 where nothing else stands:

- Contacts, opportunities and tasks keep the reference in a custom field.  A field that is *External ID and Unique*
  refuses a second record with 400 `DUPLICATE_VALUE` (github.com/k-capehart/go-salesforce/issues/133); External ID alone
  does not.  So the reference counts as stored until the owner has tried it and says so (`enforced`).  That a field of
  an activity may be unique was not found.
- Records are created, never upserted: an upsert that is repeated overwrites what people changed meanwhile.
- SOQL reads the database, not an index, and sees what was written at once: inferred, as is usual on this platform.
  `queryAll` shows deleted, merged and archived records too, with `IsDeleted` (developer.salesforce.com/docs/platform/
  api-rest/guide/resources-queryall.md); a contact that lost a merge names the one that won (`MasterRecordId`, same
  site, apexcode/apex_triggers_merge_statements.htm, 2026-11-29).
- An opportunity takes its primary contact in the create alone, as `ContactId` (object reference, API 46; from memory);
  a task its opportunity as `WhatId`.
- A note is the classic `Note`, which has no custom fields: its title bears the reference (80 characters, the field
  reference of `Note`), its body (32,000) is the text.
- An opportunity must have a stage and a day on which it may close.
- How long Salesforce may work on a request is not published for this API.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
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
    Request,
    Response,
    Seen,
    Unsure,
    Written,
    kind_of,
)
from crm_clients.options import BadSetting, Settings, currencies, kinds, number, only, seconds
from crm_clients.origins import origin
from crm_clients.salesforce import drafts, outcomes, preflight, sightings
from crm_clients.salesforce.drafts import OBJECTS
from crm_clients.salesforce.sightings import Reading
from crm_clients.sentinel import sentinel

# October 2024; Salesforce keeps a version for years.
ROOT = "/services/data/v62.0"

# Nobody publishes one; long enough for any copy that is read from.
LAG = timedelta(seconds=60)
FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Salesforce:
    """`reference` is the API name of the field on Contact, Opportunity and Activity.

    `enforced`: the kinds for which the owner has seen Salesforce refuse a second record with the same reference.
    `currencies`: those in which the org keeps amounts, its own first; an amount in another one stands in the text.
    `whatsapp`: the contact field in which a WhatsApp number stands, by which contacts are found too.  `stage`: of
    opportunities that name none.  `close_days`: after how many days they may close.  `limit`: how long Salesforce may
    work on a request, None: unknown.
    """

    reference: str = "Lead_Ref__c"
    enforced: frozenset[Kind] = frozenset()
    currencies: tuple[str, ...] = ()
    whatsapp: str | None = None
    stage: str = "Prospecting"
    close_days: int = 30
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "salesforce"

    @property
    def verified(self) -> bool:
        return False

    def capability(self, kind: Kind) -> Capability:
        """The recycle bin and the archive of activities are seen.  A finished task stays."""
        return Capability(
            "enforced" if kind in self.enforced else "stored",
            lag=LAG,
            limit=self.limit,
            currencies=frozenset(self.currencies) if kind is Kind.OPPORTUNITY else None,
            changes_phone=kind is Kind.CONTACT,
        )

    def create(self, draft: Draft, reference: str) -> Request:
        """One record, which names its parent."""
        kind = kind_of(draft)
        fields = drafts.fields(draft, self.currencies, stage=self.stage, close_days=self.close_days)
        own = {"Title": sightings.title(reference)} if kind is Kind.NOTE else {self.reference: reference}
        return _writing("POST", _sobject(kind), {**fields, **own})

    def created(self, kind: Kind, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.created(response, self.reference)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        """By the reference's field; of a child under its opportunity, for which Salesforce keeps an index."""
        field, value = ("Title", sightings.title(reference)) if kind is Kind.NOTE else (self.reference, reference)
        parent = {Kind.TASK: "WhatId", Kind.NOTE: "ParentId"}.get(kind)
        under = f" AND {parent} = {drafts.quoted(parent_id)}" if parent and parent_id else ""
        return self._query(kind, f"{field} = {drafts.quoted(value)}{under}")

    def _query(self, kind: Kind, where: str, *, deleted: bool = True) -> Request:
        fields = ", ".join(self._reading().fields(kind))
        soql = f"SELECT {fields} FROM {OBJECTS[kind]} WHERE {where} LIMIT {sightings.ROWS}"  # noqa: S608 - values are quoted
        return Request("GET", f"{ROOT}/{'queryAll' if deleted else 'query'}", (("q", soql),))

    def _reading(self) -> Reading:
        return Reading(self.reference, self.currencies, self.whatsapp)

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(kind, reference, response, self._reading())

    def read(self, kind: Kind, crm_id: str) -> Request:
        """A query by id shows what is deleted, which a read does not."""
        return self._query(kind, f"Id = {drafts.quoted(crm_id)}")

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(kind, crm_id, response, self._reading())

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Fields that are not named stay as they are.  Raises ValueError for a field that is not guarded."""
        body = drafts.changes(kind, changes, self.currencies)
        return _writing("PATCH", f"{_sobject(kind)}/{quote(crm_id, safe='')}", body)

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.updated(crm_id, response, self.reference)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """By e-mail, and by telephone as it may have been typed: a telephone is free text there."""
        by_phone = drafts.telephones(draft, self.whatsapp)
        return (
            *((self._matching(f"Email = {drafts.quoted(draft.email)}"),) if draft.email else ()),
            *((self._matching(by_phone),) if by_phone else ()),
        )

    def _matching(self, where: str) -> Request:
        return self._query(Kind.CONTACT, where, deleted=False)

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(draft, response, self._reading())

    def opportunities_of(self, contact_id: str) -> Request | None:
        """Those whose primary contact it is."""
        return self._query(Kind.OPPORTUNITY, f"ContactId = {drafts.quoted(contact_id)}")

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(contact_id, response, self._reading())

    def all_of(self, kind: Kind, *, after: str | None) -> Request | None:
        """All that bear a reference and are not deleted, in the order of their ids, each page after the last id."""
        bears = "Title LIKE '[ref:%'" if kind is Kind.NOTE else f"{self.reference} != null"
        beyond = "" if after is None else f" AND Id > {drafts.quoted(after)}"
        return self._query(kind, f"{bears}{beyond} ORDER BY Id", deleted=False)

    def page_of(self, kind: Kind, response: Response, *, after: str | None) -> Page:  # noqa: ARG002 - the answer says
        return sightings.page(kind, response, self._reading())

    def user(self, owner: str) -> Request:
        soql = f"SELECT Id, IsActive FROM User WHERE Id = {drafts.quoted(owner)}"  # noqa: S608 - the value is quoted
        return Request("GET", f"{ROOT}/query", (("q", soql),))

    def is_there(self, owner: str, response: Response) -> bool | None:  # noqa: ARG002 - the query named it
        return sightings.is_active(response)

    def remove(self, kind: Kind, crm_id: str) -> Request | None:
        """Into the recycle bin."""
        return Request("DELETE", f"{_sobject(kind)}/{quote(crm_id, safe='')}")

    def removed(self, kind: Kind, response: Response) -> bool:  # noqa: ARG002 - all kinds answer alike
        return outcomes.is_done(response) or outcomes.is_gone(response)

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        aim = replace(aim, stage=aim.stage or self.stage)
        return preflight.questions(ROOT, OBJECTS, self.reference, self.enforced, aim)

    def asks_name(self, contact_id: str) -> Request:
        soql = f"SELECT Name FROM Contact WHERE Id = {drafts.quoted(contact_id)}"  # noqa: S608 - the value is quoted
        return Request("GET", f"{ROOT}/query", (("q", soql),))

    def name_in(self, response: Response) -> str | None:
        rows = answers.rows((answers.json_object(response) or {}).get("records")) or ()
        return answers.full_name(rows[0].get("Name")) if len(rows) == 1 else None

    def page(self, kind: Kind, base_url: str) -> str | None:  # noqa: ARG002 - all kinds are found alike
        """An id under the org's address leads to its record's page (salesforceben.com/salesforce-url-consist,
        2026-11-30)."""
        return f"{origin(base_url)}/{{id}}"

    def control(self) -> Request:
        """A query that names the reference: where opportunities lack it, or the token may not see it, it is refused."""
        soql = f"SELECT {self.reference} FROM Opportunity LIMIT 1"  # noqa: S608 - a name out of the configuration
        return Request("GET", f"{ROOT}/query", (("q", soql),))

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(response)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return sentinel(kind, installation, parent_id=parent_id)


def from_settings(settings: Settings) -> Salesforce:
    """The client with a destination's options.  Raises BadSetting."""
    only(
        settings, "reference_field", "enforced", "currencies", "whatsapp_field", "stage", "close_days", "limit_seconds",
    )  # fmt: skip
    default = Salesforce()
    return Salesforce(
        reference=field_name(settings, "reference_field") or default.reference,
        enforced=kinds(settings, "enforced", of={Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK}),
        currencies=currencies(settings, "currencies"),
        whatsapp=field_name(settings, "whatsapp_field"),
        stage=settings.get("stage", default.stage),
        close_days=number(settings, "close_days") or default.close_days,
        limit=seconds(settings, "limit_seconds"),
    )


def field_name(settings: Settings, name: str) -> str | None:
    """The API name of a field, which stands in queries as it is; None: the setting is missing.  Raises BadSetting."""
    written = settings.get(name)
    if written is not None and not FIELD.fullmatch(written):
        raise BadSetting(f"{name} is no API name of a field: {written!r}")
    return written


def _sobject(kind: Kind) -> str:
    return f"{ROOT}/sobjects/{OBJECTS[kind]}"


def _writing(method: Literal["POST", "PATCH"], path: str, body: Mapping[str, object]) -> Request:
    return Request(method, path, body=json.dumps(body).encode(), headers=(("Content-Type", "application/json"),))
