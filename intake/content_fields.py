"""The content of an event field by field, as a person may compare it: masked where it is somebody's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from intake.lead import Contact, Enquiry, Item, Lead

SHOWN_END = 3  # characters of a number


@dataclass(frozen=True, slots=True)
class Field:
    """One field.  `personal`: it says something of a person, and is shown masked."""

    name: str
    value: str = field(repr=False)
    personal: bool = True

    @property
    def masked(self) -> str:
        """Enough to recognise it, too little to copy it."""
        return mask(self.name, self.value) if self.personal else self.value


def mask(name: str, value: str) -> str:
    """Initials of names, the end of numbers, the domain of addresses, and how long everything else is."""
    match name:
        case "name" | "company":
            return " ".join(f"{word[0]}." for word in value.split()[:3])
        case "email":
            return f"···@{value.rpartition('@')[2]}"
        case "phone" | "wa_id" | "document":
            return f"···{value[-SHOWN_END:]}" if len(value) > 2 * SHOWN_END else "···"
        case _:
            return f"··· ({len(value)})"


def fields_of(lead: Lead) -> list[Field]:
    """Those that say something, in the order in which a person reads them; names are unlike each other."""
    found: dict[str, Field] = {}
    for each in (*_of_contact(lead.contact), *_of_enquiry(lead.enquiry), *_of_rest(lead)):
        name, number = each.name, 2
        while name in found:
            name, number = f"{each.name} ({number})", number + 1
        if each.value:
            found[name] = Field(name, each.value, each.personal)
    return list(found.values())


def _of_contact(contact: Contact) -> Iterator[Field]:
    yield Field("name", contact.name or "")
    if contact.phone:
        yield Field("phone", contact.phone.e164 or contact.phone.raw)
    for name in ("email", "company", "document", "wa_id", "bsuid", "username"):
        yield Field(name, getattr(contact, name) or "")


def _of_enquiry(enquiry: Enquiry) -> Iterator[Field]:
    yield Field("text", enquiry.text)
    yield Field("product", enquiry.product or "", personal=False)
    yield Field("amount", "" if enquiry.amount is None else str(enquiry.amount), personal=False)
    yield Field("currency", enquiry.currency or "", personal=False)
    for number, item in enumerate(enquiry.items, 1):
        yield Field(f"item {number}", _item(item), personal=False)
    for number, media in enumerate(enquiry.media, 1):
        yield Field(f"file {number}", media.kind, personal=False)


def _item(item: Item) -> str:
    told = (str(item.quantity) if item.quantity is not None else "", item.name, f"({item.sku})" if item.sku else "",
            f"à {item.unit_price}" if item.unit_price is not None else "")  # fmt: skip
    return " ".join(part for part in told if part)


def _of_rest(lead: Lead) -> Iterator[Field]:
    for label, answer in lead.answers:
        yield Field(f"answer {label}", answer)
    for name, value in lead.attribution.utm:
        yield Field(f"utm_{name}", value, personal=False)
    yield Field("ad_id", lead.attribution.ad_id or "", personal=False)
    yield Field("consent", {True: "yes", False: "no", None: ""}[lead.consent], personal=False)
    yield Field("flags", ", ".join(lead.flags), personal=False)
