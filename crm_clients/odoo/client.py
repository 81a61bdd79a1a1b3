"""The client for Odoo.  Never run against a server by us: written after the documentation and what others saw.

- A reference stands in two places, written by one call.  The external id `<module>.<reference>` is made by Odoo's
  import (`load`) in the record's own transaction, and PostgreSQL keeps it unique
  (`ir_model_data_module_name_uniq_index`): of two calls at once for one reference one made a lead, 14 of 14 times
  (17.0, 2026-11-29).  The custom field shows it again to looks, which external ids do not.
- `load` updates a record that stands already; with `mode` "update" and `noupdate` in its context it leaves it alone
  and tells its id (`_load_records`, "if update and d_noupdate").  So the same create again is harmless.
- So the reference is enforced; since we never saw that, it counts as stored until the owner says so (`enforced`).
- A finished activity is deleted up to 16.0 and archived since [INF]: an absent task may be a task that was done.
- A lead's amount is in its company's currency.
- A note is a `mail.message`, whose text ends with its reference; that `load` makes one was read in the source [INF].
- How long a request may run is the owner's setting (`limit_time_real`), and unknown to us.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from crm_clients import answers, numbers
from crm_clients.abilities import Aim, Page, Question
from crm_clients.base import (
    Account,
    Capability,
    Confirmed,
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
from crm_clients.odoo import drafts, outcomes, preflight, sightings
from crm_clients.odoo.drafts import MODELS
from crm_clients.odoo.sightings import Sight
from crm_clients.odoo.wire import FIRST_WITH_JSON2, Value, Wire
from crm_clients.options import BadSetting, Settings, currencies, kinds, number, only, seconds
from crm_clients.sentinel import sentinel

OLDEST = 11  # the oldest version that anybody looked at for this client
MODULE = re.compile(r"[a-z][a-z0-9_]{0,40}")
CUSTOM_FIELD = re.compile(r"x_[a-z0-9_]{1,60}")

# A record that stands is left alone; times are read in UTC, and not in the zone of the key's user (`_input_tz`).
CONTEXT = {"mode": "update", "noupdate": True, "tz": "UTC"}
ARCHIVED_TOO = {"active_test": False}


@dataclass(frozen=True, slots=True)
class Odoo:
    """`reference_field` must be there for contacts, leads and activities.  `module` is the first half of all our
    external ids.  `currency` is the company's (ISO 4217), None: not told, and amounts that name one stand in the text.

    `enforced`: the kinds for which the owner has seen that the same create again makes no second record.
    `limit` is the server's `limit_time_real`, None: unknown.
    """

    wire: Wire = field(default_factory=Wire)
    reference_field: str = "x_external_ref"
    module: str = "intake"
    currency: str | None = None
    enforced: frozenset[Kind] = frozenset()
    limit: timedelta | None = None

    @property
    def name(self) -> str:
        return "odoo"

    @property
    def verified(self) -> bool:
        return False

    def account(self, name: str, base_url: str, credential: str) -> Account:
        return self.wire.account(name, base_url, credential)

    def capability(self, kind: Kind) -> Capability:
        """Looks see archived records; the external id of a deleted one is deleted with it (`unlink`)."""
        return Capability(
            "enforced" if kind in self.enforced else "marker" if kind is Kind.NOTE else "stored",
            limit=self.limit,
            absence_may_mean_done=kind is Kind.TASK,
            currencies=frozenset({self.currency} if self.currency else ()) if kind is Kind.OPPORTUNITY else None,
            changes_phone=kind is Kind.CONTACT,
        )

    def create(self, draft: Draft, reference: str) -> Request:
        cells = drafts.row(draft, reference, self.wire.version, self.currency)
        borne = {} if isinstance(draft, NoteDraft) else {self.reference_field: reference}
        cells = {"id": f"{self.module}.{reference}"} | cells | borne
        told = {"fields": list(cells), "data": [list(cells.values())]}
        return self.wire.call(MODELS[kind_of(draft)], "load", told | {"context": CONTEXT})

    def created(self, kind: Kind, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.created(self.wire, response)

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        """By the custom field; a note among those of its lead, which the filter narrows to those that name it."""
        if kind is Kind.NOTE:
            children = [["model", "=", "crm.lead"], ["res_id", "=", _number(parent_id or "")]]
            return self._search(kind, [*children, ["body", "ilike", f"[ref:{reference}]"]])
        return self._search(kind, [[self.reference_field, "=", reference]])

    def found(self, kind: Kind, reference: str, response: Response) -> Looked:
        return sightings.found(self._sight(kind), reference, response)

    def read(self, kind: Kind, crm_id: str) -> Request:
        """By a search, since `read` of what is gone is an exception in some versions and nothing in others."""
        return self._search(kind, [["id", "=", _number(crm_id)]])

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        return sightings.was_read(self._sight(kind), crm_id, response)

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """Fields that are not named stay as they are.  Raises ValueError for one that is not guarded."""
        values = drafts.changes(kind, changes, self.wire.version, self.currency)
        return self.wire.call(MODELS[kind], "write", {"vals": values}, (_number(crm_id),))

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written:  # noqa: ARG002 - all kinds answer alike
        return outcomes.updated(self.wire, crm_id, response)

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """By e-mail in any case, and by phone as Odoo keeps it in E.164 and as people may have typed it."""
        asked: list[list[object]] = []
        if draft.phone:
            typed: list[object] = ["phone", "in", list(numbers.variants(draft.phone))]
            kept: list[object] = ["phone_sanitized", "=", draft.phone]
            asked.append(["|", kept, typed] if self.wire.version >= sightings.FIRST_WITH_SANITIZED else [typed])
        if draft.email:
            asked.append([["email", "=ilike", _literally(draft.email)]])
        return tuple(self._search(Kind.CONTACT, domain, archived=False) for domain in asked)

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        return sightings.matched(self._sight(Kind.CONTACT), draft, response)

    def opportunities_of(self, contact_id: str) -> Request | None:
        return self._search(Kind.OPPORTUNITY, [["partner_id", "=", _number(contact_id)], ["type", "=", "opportunity"]])

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        return sightings.listed(self._sight(Kind.OPPORTUNITY), contact_id, response)

    def all_of(self, kind: Kind, *, after: str | None) -> Request | None:
        """In the order of ids; messages are not listed, since most are the CRM's own."""
        if kind is Kind.NOTE:
            return None
        return self._search(kind, [[self.reference_field, "!=", False], ["id", ">", int(after or 0)]])

    def page_of(self, kind: Kind, response: Response, *, after: str | None) -> Page:  # noqa: ARG002 - the rows say it
        return sightings.page(self._sight(kind), response)

    def user(self, owner: str) -> Request:
        """A user; archived ones are shown as such."""
        asked: dict[str, object] = {"domain": [["id", "=", _number(owner)]], "fields": ["active"], "limit": 2}
        return self.wire.call("res.users", "search_read", asked | {"context": ARCHIVED_TOO})

    def is_there(self, owner: str, response: Response) -> bool | None:
        return sightings.is_user(self.wire, owner, response)

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        return preflight.questions(self.wire, MODELS, self.reference_field, aim)

    def asks_name(self, contact_id: str) -> Request:
        return self.read(Kind.CONTACT, contact_id)

    def name_in(self, response: Response) -> str | None:
        told = self.wire.read(response)
        rows = (answers.rows(told.value) if isinstance(told, Value) else None) or ()
        return answers.full_name(rows[0].get("name")) if len(rows) == 1 else None

    def page(self, kind: Kind, base_url: str) -> str | None:
        """By the address in Odoo's own mails, which leads to the record in every version (odoo/odoo 003cd47,
        addons/mail/controllers/mail.py, `mail_action_view`, 2026-11-30)."""
        if kind not in {Kind.CONTACT, Kind.OPPORTUNITY}:
            return None
        return f"{base_url}/mail/view?model={MODELS[kind]}&res_id={{id}}"

    def control(self) -> Request:
        """A filter that names the custom field of all three models: Odoo refuses one that is not defined."""
        names = (self.reference_field, f"partner_id.{self.reference_field}", f"activity_ids.{self.reference_field}")
        domain = ["|", "|", *([name, "=", "intake-control"] for name in names)]
        asked = {"domain": domain, "fields": ["id"], "limit": 1}
        return self.wire.call("crm.lead", "search_read", asked)

    def controlled(self, response: Response) -> Unsure | None:
        return sightings.controlled(self.wire, response)

    def remove(self, kind: Kind, crm_id: str) -> Request | None:
        """Deleted at once; only what the contract probe made."""
        return self.wire.call(MODELS[kind], "unlink", {}, (_number(crm_id),))

    def removed(self, kind: Kind, response: Response) -> bool:  # noqa: ARG002 - all kinds answer alike
        return isinstance(outcomes.updated(self.wire, "1", response), Confirmed)

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        return sentinel(kind, installation, parent_id=parent_id)

    def _sight(self, kind: Kind) -> Sight:
        return Sight(self.wire, kind, self.reference_field, self.currency)

    def _search(self, kind: Kind, domain: Sequence[object], *, archived: bool = True) -> Request:
        fields = sightings.fields(kind, self.wire.version, self.reference_field)
        asked: dict[str, object] = {"domain": domain, "fields": fields, "limit": sightings.PAGE, "order": "id"}
        return self.wire.call(MODELS[kind], "search_read", asked | ({"context": ARCHIVED_TOO} if archived else {}))


def _number(crm_id: str) -> object:
    """Ids are numbers; what is none is sent as it is, and finds nothing."""
    return int(crm_id) if crm_id.isdigit() else crm_id


def _literally(pattern: str) -> str:
    """`=ilike` is a pattern: what a person wrote is not."""
    return re.sub(r"([\\%_])", r"\\\1", pattern)


def from_settings(settings: Settings) -> Odoo:
    """The client with a destination's options.  Raises BadSetting."""
    only(
        settings,
        *("version", "database", "user_id", "reference_field", "module", "currency", "enforced", "limit_seconds"),
    )
    version = number(settings, "version") or FIRST_WITH_JSON2
    wire = Wire(version, settings.get("database"), number(settings, "user_id"))
    if version < OLDEST:
        raise BadSetting(f"version is {version}; this client speaks to {OLDEST} and later")
    if not wire.is_json2 and (wire.database is None or wire.user_id is None):
        raise BadSetting(f"database and user_id are needed before version {FIRST_WITH_JSON2}")
    module = settings.get("module", Odoo().module)
    if not MODULE.fullmatch(module):
        raise BadSetting("module is small letters, digits and underscores")
    reference_field = settings.get("reference_field", Odoo().reference_field)
    if not CUSTOM_FIELD.fullmatch(reference_field):
        raise BadSetting("reference_field is a custom field, which begins with x_")
    enforced = kinds(settings, "enforced", of=tuple(Kind))
    return Odoo(wire, reference_field, module, one_currency(settings), enforced, seconds(settings, "limit_seconds"))


def one_currency(settings: Settings) -> str | None:
    """The company's currency.  Raises BadSetting."""
    codes = currencies(settings, "currency")
    if len(codes) > 1:
        raise BadSetting("currency names several; a company of Odoo has one")
    return codes[0] if codes else None
