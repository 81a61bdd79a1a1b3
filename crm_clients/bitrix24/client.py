"""The client for Bitrix24, by an incoming webhook or OAuth.  Never run against an account (`verified` is False).

What it relies on was read in bitrix24/b24restdocs 5988ed1 on 2026-11-29, where no other mark stands:

- Contacts and deals keep a reference in `originId` ("only for linking to an external source"); nothing says that it is
  unique, and no error tells of a double.  A misspelt field is passed over without a word, so that a reference is looked
  for before each first create.
- A task is made by REST 3.0 with an `Idempotency-Key`, made of the reference: the same request again within 24 hours
  makes no second task, and one with another body is refused (rest-v3.md, "Repeated calls without duplicates").  Two at
  the same moment may both run, and after a day nothing holds any more: that is no enforced reference.
- Tasks have no filter by `xmlId`, comments by nothing but their deal: the reference is the last line of the text, and
  the deal's are listed.  A list has 50 rows.
- That lists read the database is inferred: no page speaks of a lag.
- In the cloud a request must finish within 60 seconds (limits.md); on a server of one's own the owner knows.  It counts
  when the owner says so (`limit_seconds`).
- `crm.duplicate.findbycomm` compares numbers as Bitrix24 reads them, and tells ids alone.
- A webhook's secret is part of the address: `transport` puts it there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from crm_clients import answers, numbers
from crm_clients.abilities import CALLS, Aim, Limit, Question
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
from crm_clients.bitrix24 import drafts, outcomes, preflight, sightings
from crm_clients.bitrix24.drafts import ENTITY_TYPES, ORIGINATOR
from crm_clients.options import BadSetting, Settings, currencies, number, only, seconds
from crm_clients.origins import origin
from crm_clients.sentinel import sentinel

# Where the webhook's user and code go; an id that is quoted has no "@".
PLACE = "@credential@"
WEBHOOK = re.compile(r"[0-9]{1,18}/[A-Za-z0-9]{1,100}")

# Nobody publishes one; long enough that a copy of the database that is read from has caught up.
LAG = timedelta(seconds=60)

METHODS: Mapping[Kind, str] = {
    Kind.CONTACT: "crm.item.add",
    Kind.OPPORTUNITY: "crm.item.add",
    Kind.TASK: "tasks.task.add",
    Kind.NOTE: "crm.timeline.comment.add",
}


@dataclass(frozen=True, slots=True)
class Bitrix24:
    """`maker` is the number of the webhook's user, who makes tasks, and gets those of deals without an owner.

    `currencies`: those of the CRM; an amount in another one stands in the text.  `limit`: how long Bitrix24 may work on
    a request, None: unknown.
    """

    maker: int
    currencies: tuple[str, ...] = ()
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "bitrix24"

    @property
    def verified(self) -> bool:
        return False

    def account(self, name: str, base_url: str, credential: str) -> Account:
        """The last two parts of the webhook's address, as 1/abc123.  Raises ValueError."""
        if not WEBHOOK.fullmatch(credential):
            raise ValueError(
                "the credential of Bitrix24 is the end of a webhook's address: its user, a slash, its code"
            )
        return Account(name, base_url, places=((PLACE, credential),))

    def with_token(self, account: Account, token: str) -> Account:
        """In the body, beside a method's own parameters, with no user in the address (rest-v3.md, authorization.md)."""
        return replace(account, places=((f"/{PLACE}", ""),), members=(("auth", token),))

    def capability(self, kind: Kind) -> Capability:
        return Capability(
            "marker" if kind in {Kind.TASK, Kind.NOTE} else "stored",
            lag=LAG,
            limit=self.limit,
            returns_id=kind is not Kind.NOTE,
            sees_archived=False,
            currencies=frozenset(self.currencies) if kind is Kind.OPPORTUNITY else None,
        )

    def create(self, draft: Draft, reference: str) -> Request:
        kind = kind_of(draft)
        body = drafts.body(draft, reference, self.currencies, self.maker)
        if kind is Kind.TASK:
            return _call(METHODS[kind], body, ("Idempotency-Key", reference), rest="/rest/api")
        return _call(METHODS[kind], body)

    def created(self, kind: Kind, response: Response) -> Written:
        """A comment's answer is its bare number, which alone leads to no comment: what was made is looked for."""
        return outcomes.created(kind, response)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        match kind:
            case Kind.CONTACT | Kind.OPPORTUNITY:
                return _items(kind, {"=originatorId": ORIGINATOR, "=originId": reference})
            case Kind.TASK:
                return _tasks({"UF_CRM_TASK": f"D_{parent_id or ''}"})
            case Kind.NOTE:
                return _comments(parent_id or "")

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(kind, reference, response)

    def read(self, kind: Kind, crm_id: str) -> Request:
        match kind:
            case Kind.CONTACT | Kind.OPPORTUNITY:
                return _call("crm.item.get", {"entityTypeId": ENTITY_TYPES[kind], "id": drafts.number(crm_id)})
            case Kind.TASK:
                return _tasks({"ID": drafts.number(crm_id)})
            case Kind.NOTE:
                return _comments(crm_id.partition(":")[0])

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(kind, crm_id, response)

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Fields that are not named stay as they are.  Raises ValueError for one that is not guarded."""
        fields = drafts.changes(kind, changes, self.currencies)
        body = {"entityTypeId": ENTITY_TYPES.get(kind, 0), "id": drafts.number(crm_id), "fields": fields}
        return _call("crm.item.update", body)

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.updated(crm_id, response)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """Bitrix24's own search for doubles (crm-duplicate-find-by-comm.md), at most 20 values in a call."""
        asked: list[tuple[str, list[str]]] = []
        if draft.phone:
            asked.append(("PHONE", list(numbers.variants(draft.phone))))
        if draft.email:
            asked.append(("EMAIL", [draft.email]))
        bodies = ({"entity_type": "CONTACT", "type": kind, "values": values} for kind, values in asked)
        return tuple(_call("crm.duplicate.findbycomm", body) for body in bodies)

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:  # noqa: ARG002 - ids are all it tells
        return sightings.matched(response)

    def opportunities_of(self, contact_id: str) -> Request | None:
        return _items(Kind.OPPORTUNITY, {"contactId": drafts.number(contact_id)})

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(contact_id, response)

    def user(self, owner: str) -> Request:
        """A user (user-get.md); the webhook needs the right `user_basic` or more, and tells nothing without it."""
        return _call("user.get", {"ID": drafts.number(owner)})

    def is_there(self, owner: str, response: Response) -> bool | None:
        return sightings.is_user(owner, response)

    def limits(self) -> tuple[Limit, ...]:
        """A bucket of 50 that loses two a second (limits.md): never 50 more than it lost."""
        return (Limit(50, timedelta(seconds=25)),)

    def bucket(self, request: Request) -> str:  # noqa: ARG002 - all count alike
        return CALLS

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        return preflight.questions(_call, aim)

    def asks_name(self, contact_id: str) -> Request:
        return self.read(Kind.CONTACT, contact_id)

    def name_in(self, response: Response) -> str | None:
        item = answers.mapping(answers.mapping((answers.json_object(response) or {}).get("result")).get("item"))
        return answers.full_name(item.get("name"), item.get("lastName"))

    def page(self, kind: Kind, base_url: str) -> str | None:
        """As Bitrix24's own programs write it ("/crm/deal/details/<id>/", seen on GitHub, 2026-11-30).  The address
        alone: what follows may be a webhook's secret."""
        card = {Kind.CONTACT: "contact", Kind.OPPORTUNITY: "deal"}.get(kind)
        return f"{origin(base_url)}/crm/{card}/details/{{id}}/" if card else None

    def control(self) -> Request:
        return _items(Kind.OPPORTUNITY, {"=originatorId": ORIGINATOR, "=originId": "intake-control"})

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(response)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return sentinel(kind, installation, parent_id=parent_id)


def _items(kind: Kind, filter_: Mapping[str, object]) -> Request:
    asked = {"entityTypeId": ENTITY_TYPES[kind], "filter": filter_, "select": list(sightings.FIELDS[kind])}
    return _call("crm.item.list", asked)


def _tasks(filter_: Mapping[str, object]) -> Request:
    return _call("tasks.task.list", {"filter": filter_, "select": list(sightings.FIELDS[Kind.TASK])})


def _comments(deal_id: str) -> Request:
    """The newest first, so that what was just made is on the first page."""
    filter_ = {"ENTITY_ID": drafts.number(deal_id), "ENTITY_TYPE": "deal"}
    asked = {"filter": filter_, "select": list(sightings.FIELDS[Kind.NOTE]), "order": {"ID": "DESC"}}
    return _call("crm.timeline.comment.list", asked)


def _call(method: str, body: Mapping[str, object], *headers: tuple[str, str], rest: str = "/rest") -> Request:
    headers = (("Content-Type", "application/json"), *headers)
    return Request("POST", f"{rest}/{PLACE}/{method}", body=json.dumps(body).encode(), headers=headers)


def from_settings(settings: Settings) -> Bitrix24:
    """The client with a destination's options.  Raises BadSetting."""
    only(settings, "user", "currencies", "limit_seconds")
    user = number(settings, "user")
    if user is None:
        raise BadSetting("user must be the number of the webhook's user: the first part of the credential")
    return Bitrix24(user, currencies(settings, "currencies"), seconds(settings, "limit_seconds"))
