"""From a lead to what its CRM records say: titles, texts, owners and due times, as the destination wants them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from zoneinfo import ZoneInfo

from crm_clients.base import (
    Capability,
    ContactDraft,
    Draft,
    Kind,
    NoteDraft,
    OpportunityDraft,
    TaskDraft,
    kind_of,
)
from intake.business_time import due_at
from intake.config import Destination, Settings
from intake.lead import Enquiry, Item, Lead
from workers.joining import joined, media_lines, moment
from workers.work import Work

# What an adviser reads in the CRM is written in the language of the sales team.
CHANNELS = {"form": "Formulario", "whatsapp": "WhatsApp", "quote": "Cotización"}
NAMELESS = "Sin nombre"
LONGEST_TITLE = 200  # characters; the shortest limit among the CRMs that state one is 255 (HubSpot, Odoo)
LONGEST_TEXT = 30_000


def contact(work: Work, destination: Destination) -> ContactDraft:
    """The person, with the fields that the destination wants."""
    lead = work.lead
    return ContactDraft(
        name=_title(destination.contact_name.render(_values(work))) or NAMELESS,
        phone=_phone(lead),
        email=lead.contact.email,
        company=lead.contact.company,
        owner=None,
        fields=tuple(_mapped(work, destination.fields)),
    )


def opportunity(
    work: Work, destination: Destination, can: Capability, *, contact_id: str, owner: str | None
) -> OpportunityDraft:
    """The chance of a sale, with everything that was said in its text."""
    enquiry = work.lead.enquiry
    currency = enquiry.currency or destination.currency
    kept = can.currencies is None or currency is None or currency in can.currencies
    return OpportunityDraft(
        title=_title(destination.opportunity_title.render(_values(work))) or NAMELESS,
        text=_cut(_text(work, destination, names_amount=not kept)),
        contact_id=contact_id,
        amount=enquiry.amount if kept else None,
        currency=currency if kept else None,
        owner=owner,
        pipeline=destination.pipeline,
        stage=destination.stage,
        fields=tuple(_mapped(work, destination.fields)),
        received_at=work.received_at,
    )


def _text(work: Work, destination: Destination, *, names_amount: bool) -> str:
    """The destination's own text, or all that is known, which names the amount anyway."""
    if destination.opportunity_text is None:
        return "\n".join(_lines(work))
    text = destination.opportunity_text.render(_values(work))
    amount = _amount(work.lead.enquiry, destination.currency) if names_amount else ""
    return f"{amount}\n\n{text}" if amount else text


def task(
    work: Work, destination: Destination, settings: Settings, *, opportunity_id: str, owner: str | None
) -> TaskDraft:
    """What the adviser has to do, due in business hours from when the lead came."""
    due = due_at(work.received_at, destination.task.due, settings.business_hours, settings.holidays, settings.timezone)
    return TaskDraft(
        title=_title(destination.task_title.render(_values(work))) or NAMELESS,
        opportunity_id=opportunity_id,
        due_at=due,
        owner=owner,
        type=destination.task.type,
    )


def note(works: Sequence[Work], zone: ZoneInfo, *, opportunity_id: str) -> NoteDraft:
    """Later messages of the same conversation, in the order in which they were said."""
    first = works[0]
    when = moment(first, zone) if len(works) == 1 else f"{len(works)} mensajes"
    text = "\n".join((f"{_channel(first)} · {when}", *_lines(joined(first, works, zone))))
    return NoteDraft(text=_cut(text), opportunity_id=opportunity_id, said_at=first.received_at)


def is_full(draft: OpportunityDraft | NoteDraft) -> bool:
    """Whether its text is as long as one may be, so that some of it may have been cut off."""
    return len(draft.text) >= LONGEST_TEXT


# What the fields that a version may change are called in a note to the adviser.
FIELDS = {"title": "Título", "text": "Texto", "amount": "Monto", "currency": "Moneda"}


def left_note(work: Work, left: Mapping[str, str], *, opportunity_id: str) -> NoteDraft:
    """What a later version says otherwise, where somebody changed the field in the CRM, so that it was left alone."""
    named = f"{_channel(work)} {work.number or ''}".rstrip()
    version = "" if work.version is None else f", versión {work.version}"
    head = f"{named}{version}: lo que alguien cambió aquí se dejó como está."
    lines = (f"{FIELDS.get(name, name)}: {value}" for name, value in left.items())
    text = "\n".join((head, "La versión recibida dice:", *lines))
    return NoteDraft(text=_cut(text), opportunity_id=opportunity_id, said_at=work.received_at)


def guarded_values(draft: Draft) -> bytes:
    """The guarded fields of a draft, as clients name them in `Seen.values`; empty for kinds that are never updated."""
    if not isinstance(draft, OpportunityDraft | ContactDraft):
        return b""
    return json.dumps(guarded(draft)).encode()


# The fields that something later may change: never owner nor stage, and of a person the number alone.
GUARDED: Mapping[Kind, tuple[str, ...]] = {
    Kind.OPPORTUNITY: ("title", "text", "amount", "currency"),
    Kind.CONTACT: ("phone",),
}


def guarded(draft: OpportunityDraft | ContactDraft) -> dict[str, str]:
    """Those of them that a draft names."""
    named = zip(GUARDED[kind_of(draft)], _guarded_values(draft), strict=True)
    return {name: value for name, value in named if value is not None}


def _guarded_values(draft: OpportunityDraft | ContactDraft) -> tuple[str | None, ...]:
    match draft:
        case ContactDraft():
            return (draft.phone,)
        case OpportunityDraft():
            amount = None if draft.amount is None else format(draft.amount.normalize(), "f")
            return (draft.title, draft.text, amount, draft.currency)


# ---------------------------------------------------------------------------------------------------------------------


def _title(text: str) -> str:
    return " ".join(text.split())[:LONGEST_TITLE]


def _cut(text: str) -> str:
    """Without white space at the ends, which CRMs drop: what is read back is to be what was sent."""
    return text.strip()[:LONGEST_TEXT].rstrip()


def _channel(work: Work) -> str:
    return CHANNELS[work.kind]


def _phone(lead: Lead) -> str | None:
    if lead.contact.phone and lead.contact.phone.e164:
        return lead.contact.phone.e164
    return "+" + lead.contact.wa_id if lead.contact.wa_id else None


def _name(lead: Lead) -> str:
    person = lead.contact
    return person.name or person.company or person.email or _phone(lead) or person.username or ""


def _values(work: Work) -> Mapping[str, str]:
    """A text for each placeholder that a template may hold."""
    lead = work.lead
    utm = dict(lead.attribution.utm)
    return {
        "contact": _name(lead) or NAMELESS,
        "channel": _channel(work),
        "product": lead.enquiry.product or _products(lead.enquiry.items),
        "company": lead.contact.company or "",
        "document": lead.contact.document or "",
        "email": lead.contact.email or "",
        "phone": _phone(lead) or "",
        "message": lead.enquiry.text,
        "answers": "\n".join(f"{label}: {value}" for label, value in lead.answers),
        "items": "\n".join(_item(each) for each in lead.enquiry.items),
        "amount": "" if lead.enquiry.amount is None else f"{lead.enquiry.amount:f}",
        "currency": lead.enquiry.currency or "",
        "number": work.number or "",
        "source": work.source,
        "utm_campaign": utm.get("campaign", ""),
        "utm_source": utm.get("source", ""),
    }


def _products(items: tuple[Item, ...]) -> str:
    return "" if not items else items[0].name + (f" (+{len(items) - 1})" if len(items) > 1 else "")


def _item(item: Item) -> str:
    quantity = f"{item.quantity:f} \N{MULTIPLICATION SIGN} " if item.quantity is not None else ""
    price = f" a {item.unit_price:f}" if item.unit_price is not None else ""
    return f"{quantity}{item.name}{price}" + (f" [{item.sku}]" if item.sku else "")


def _amount(enquiry: Enquiry, currency: str | None = None) -> str:
    """The amount with its currency; `currency`: the one of amounts that come without."""
    return "" if enquiry.amount is None else f"{enquiry.amount:f} {enquiry.currency or currency or ''}".strip()


def _lines(work: Work) -> Iterator[str]:
    """Everything that the person said, and what a reader should know of it; a line for each."""
    lead = work.lead
    person, enquiry, origin = lead.contact, lead.enquiry, lead.attribution
    if enquiry.text:
        yield enquiry.text
    for label, value in (
        ("Nombre", person.name), ("Empresa", person.company), ("Documento", person.document),
        ("Teléfono", _phone(lead) or (person.phone.raw if person.phone else None)), ("Correo", person.email),
        ("Usuario", person.username), ("Producto", enquiry.product), ("Número", work.number),
        ("Monto", _amount(enquiry)),
    ):  # fmt: skip
        if value:
            yield f"{label}: {value}"
    yield from (f"- {_item(each)}" for each in enquiry.items)
    yield from (f"{label}: {value}" for label, value in lead.answers)
    yield from media_lines(enquiry.media)
    yield from (f"utm_{key}: {value}" for key, value in origin.utm)
    if origin.ad_headline or origin.ad_id:
        yield f"Anuncio: {origin.ad_headline or origin.ad_id}"
    if lead.consent is not None:
        yield f"Consentimiento: {'sí' if lead.consent else 'no'}"
    if lead.flags:
        yield "Avisos: " + ", ".join(lead.flags)


def _mapped(work: Work, fields: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The CRM's own fields, filled from the lead's; one without a value is not sent."""
    known = _fields(work.lead) | _of_work(work)
    return ((theirs, known[ours]) for ours, theirs in fields.items() if known.get(ours))


def _of_work(work: Work) -> dict[str, str]:
    """What only a destination has a field for: how the lead came, and what of it is more than one line."""
    values, wanted = _values(work), ("channel", "source", "number", "items", "answers")
    files = "\n".join(media_lines(work.files or work.lead.enquiry.media))
    return {each: values[each] for each in wanted if values[each]} | ({"media": files} if files else {})


def _fields(lead: Lead) -> dict[str, str]:
    person, enquiry, origin = lead.contact, lead.enquiry, lead.attribution
    amount = None if enquiry.amount is None else f"{enquiry.amount:f}"
    consent = None if lead.consent is None else str(lead.consent).lower()
    plain = {
        "name": person.name, "phone": _phone(lead), "email": person.email, "company": person.company,
        "document": person.document, "wa_id": person.wa_id, "bsuid": person.bsuid, "username": person.username,
        "message": enquiry.text, "product": enquiry.product, "amount": amount, "currency": enquiry.currency,
        "ad_id": origin.ad_id, "ad_headline": origin.ad_headline, "click_id": origin.click_id, "consent": consent,
    }  # fmt: skip
    return {key: value for key, value in plain.items() if value} | {f"utm_{key}": value for key, value in origin.utm}
