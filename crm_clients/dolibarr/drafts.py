"""Drafts as Dolibarr's API wants them.  A contact is a third party (a prospect), an opportunity a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from crm_clients.answers import text as clean
from crm_clients.base import ContactDraft, Draft, Kind, NoteDraft, OpportunityDraft, TaskDraft
from crm_clients.own_fields import own_fields

LONGEST_NAME = 128  # societe.nom
LONGEST_TITLE = 255  # projet.title, actioncomm.label
NO_NAME = "-"

PROSPECT = 2  # `client`: 1 customer, 2 prospect, 3 both
VALIDATED = 1  # `status` of a project: 0 draft, 1 open, 2 closed
NOTE_TYPE = "AC_OTH"
CALL = "AC_TEL"
NOT_APPLICABLE = -1  # `percentage` of an event that nobody has to do

GUARDED: Mapping[Kind, Mapping[str, str]] = {
    Kind.CONTACT: {"phone": "phone"},
    Kind.OPPORTUNITY: {"title": "title", "text": "description", "amount": "opp_amount", "currency": ""},
    Kind.TASK: {},
    Kind.NOTE: {},
}


@dataclass(frozen=True, slots=True)
class Company:
    """What is the company's own.  `user` gets the tasks of projects without an owner.

    `currency` is that of all amounts, None: not told.  `owner_field` is the extra field of projects that names the
    owner, None: there is none, since a project has no owner of its own.
    """

    user: int
    currency: str | None = None
    owner_field: str | None = None


def body(draft: Draft, reference: str, company: Company) -> Mapping[str, object]:
    """The JSON of a create, without what is not known."""
    return {name: value for name, value in _made(draft, reference, company).items() if value not in (None, "", {})}


def _made(draft: Draft, reference: str, company: Company) -> dict[str, object]:
    match draft:
        case ContactDraft():
            return _third_party(draft, reference)
        case OpportunityDraft():
            return _project(draft, reference, company)
        case TaskDraft():
            return _event(draft, reference, company)
        case NoteDraft():
            return _note(draft, reference, company)


def _third_party(draft: ContactDraft, reference: str) -> dict[str, object]:
    """`code_client` "-1" lets Dolibarr give the next number, as its own form does."""
    own = {name: value for name, value in own_fields(draft) if name != "text"}
    note = next((value for name, value in own_fields(draft) if name == "text"), None)
    who: dict[str, object] = {
        "name": _line(draft.name)[:LONGEST_NAME] or NO_NAME,
        "name_alias": _line(draft.company or ""),
    }
    reach: dict[str, object] = {"phone": draft.phone, "email": draft.email, "note_private": note}
    return {**who, **reach, "client": PROSPECT, "code_client": "-1", "ref_ext": reference, **_extra(own)}


def _project(draft: OpportunityDraft, reference: str, company: Company) -> dict[str, object]:
    what: dict[str, object] = {"ref": reference, "title": _line(draft.title)[:LONGEST_TITLE] or NO_NAME}
    place: dict[str, object] = {"socid": number(draft.contact_id), "usage_opportunity": 1, "status": VALIDATED}
    own = dict(own_fields(draft))
    if company.owner_field and draft.owner:
        own[company.owner_field] = draft.owner
    stage: dict[str, object] = {"opp_status": number(draft.stage or "")}
    return {**what, **place, **stage, **_worth(draft, company.currency), **_extra(own)}


def _worth(draft: OpportunityDraft, currency: str | None) -> dict[str, object]:
    """An amount is in the company's currency: one in another stands in the text."""
    said = clean(draft.text)
    if draft.amount is None:
        return {"description": said}
    if draft.currency in {None, currency}:
        return {"description": said, "opp_amount": float(draft.amount)}
    return {"description": f"{draft.currency} {draft.amount:f}\n\n{said}"}


def _event(draft: TaskDraft, reference: str, company: Company) -> dict[str, object]:
    """An event of the agenda; answers do not show its `ref_ext`, so that the label ends with the reference."""
    who: dict[str, object] = {"userownerid": number(draft.owner or "") or company.user}
    place: dict[str, object] = {"fk_project": number(draft.opportunity_id), "datep": int(draft.due_at.timestamp())}
    what: dict[str, object] = {"type_code": draft.type or CALL, "percentage": 0, "ref_ext": reference}
    return {**who, **place, **what, "label": labelled(draft.title, reference)}


def _note(draft: NoteDraft, reference: str, company: Company) -> dict[str, object]:
    """An event that nobody has to do, at the time when it was said."""
    said_at = None if draft.said_at is None else int(draft.said_at.timestamp())
    place: dict[str, object] = {"fk_project": number(draft.opportunity_id), "datep": said_at}
    what: dict[str, object] = {"type_code": NOTE_TYPE, "percentage": NOT_APPLICABLE, "ref_ext": reference}
    label = labelled("Mensaje", reference)
    return {**place, **what, "userownerid": company.user, "label": label, "note_private": clean(draft.text)}


def labelled(title: str, reference: str) -> str:
    """A title that ends with its reference."""
    ending = f"[ref:{reference}]"
    return f"{_line(title)[: LONGEST_TITLE - len(ending) - 1].rstrip()} {ending}".lstrip()


def _extra(own: Mapping[str, str]) -> dict[str, object]:
    """Extra fields, which Dolibarr calls `options_NAME` within `array_options`."""
    return {"array_options": {f"options_{name.removeprefix('options_')}": value for name, value in own.items()}}


def number(crm_id: str) -> object:
    """Ids are numbers; what is none is sent as it is, and refused.  None for ""."""
    if not crm_id:
        return None
    return int(crm_id) if crm_id.isascii() and crm_id.isdigit() else crm_id


def changes(kind: Kind, asked: Mapping[str, str], currency: str | None) -> Mapping[str, object]:
    """The JSON of an update.  Raises ValueError for a field that is not guarded for this kind."""
    unknown = asked.keys() - GUARDED[kind].keys()
    if unknown:
        raise ValueError(f"not a guarded field of a {kind}: {', '.join(sorted(unknown))}")
    sent: dict[str, object] = {}
    if "title" in asked:
        sent["title"] = _line(asked["title"])[:LONGEST_TITLE] or NO_NAME
    if "text" in asked:
        sent["description"] = clean(asked["text"])
    if "phone" in asked:
        sent["phone"] = asked["phone"]
    if asked.get("amount") and asked.get("currency") in {None, "", currency}:
        sent["opp_amount"] = float(Decimal(asked["amount"]))
    return sent


def _line(value: str) -> str:
    return " ".join(clean(value).split())
