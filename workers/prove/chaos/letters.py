"""What senders send: forms, conversations and quotes of made-up people, whose words are known again in the CRM."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Json = dict[str, object]

LEAD = ("contact", "opportunity", "task")
# A person whose first message comes in one POST with another's has a number so far from theirs.
BESIDE = 4_000_000


@dataclass(frozen=True, slots=True)
class Saying:
    """One event that a delivery holds.  `person`: the name by which the CRM knows them.  `words`: nobody else's.

    `version` and `amount`: of a quote; 0 and None of others.
    """

    person: str
    words: str
    version: int = 0
    amount: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a sender wants to be rid of.  `makes`: the records that it adds to the CRM.  `says`: the events it holds."""

    source: str
    delivery_id: str
    body: bytes = field(repr=False)
    makes: tuple[str, ...]
    says: tuple[Saying, ...] = ()


def person(tag: str, number: int) -> str:
    """The name of the person with this number."""
    return f"{tag} {number}"


def token(tag: str, number: int, place: int) -> str:
    """The words of one event, by which it is known again in whatever text carries it."""
    return f"{tag}/{number}/{place}."


def form(tag: str, number: int, *, source: str = "web") -> Delivery:
    """One person's form."""
    words = token(tag, number, 0)
    answers = {
        "name": person(tag, number), "email": f"{tag}.{number}@example.com", "phone": f"98{number:07d}",
        "message": f"Hola, consulta {words}",
    }  # fmt: skip
    said = Saying(person(tag, number), words)
    return Delivery(source, f"msg_{tag}_{number}", json.dumps(answers).encode(), LEAD, (said,))


def message(tag: str, number: int, place: int) -> Delivery:
    """The message at this place of one person's conversation; the first opens it."""
    return batch(tag, [(number, place)])


def batch(tag: str, messages: Sequence[tuple[int, int]]) -> Delivery:
    """One WhatsApp POST with the messages at these places of these persons' conversations."""
    cards = [
        {"profile": {"name": person(tag, number)}, "wa_id": _wa_id(number)}
        for number in dict.fromkeys(number for number, _ in messages)
    ]
    value: Json = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "5115550000", "phone_number_id": tag},
        "contacts": cards,
        "messages": [_message(tag, number, place) for number, place in messages],
    }
    body: Json = {
        "object": "whatsapp_business_account",
        "entry": [{"id": "1", "changes": [{"field": "messages", "value": value}]}],
    }
    makes = tuple(kind for _, place in messages for kind in ((*LEAD, "message") if place == 0 else ("message",)))
    says = tuple(Saying(person(tag, number), token(tag, number, place)) for number, place in messages)
    name = "_".join(f"{number}_{place}" for number, place in messages)
    return Delivery("wa", f"wa_{tag}_{name}", json.dumps(body).encode(), makes, says)


def _wa_id(number: int) -> str:
    return f"5197{number:07d}"


def _message(tag: str, number: int, place: int) -> Json:
    return {
        "from": _wa_id(number),
        "id": f"wamid.{tag}.{number}.{place}",
        "timestamp": str(1_790_000_000 + place),
        "type": "text",
        "text": {"body": f"Mensaje {token(tag, number, place)}"},
    }


def quote(tag: str, number: int, version: int) -> Delivery:
    """One version of one person's quote."""
    amount = f"{100 * version}.50"
    words = token(tag, number, version)
    body: Json = {
        "number": f"{tag}-{number}",
        "version": version,
        "issued_at": "2026-11-20T15:04:05-05:00",
        "currency": "PEN",
        "amount": amount,
        "items": [{"sku": "A", "name": "Silla", "quantity": 1, "unit_price": amount}],
        "contact": {"name": person(tag, number), "phone": f"96{number:07d}", "email": f"{tag}.{number}@example.com"},
        "message": f"Por favor {words}",
    }
    said = Saying(person(tag, number), words, version, amount)
    makes = LEAD if version == 1 else ()
    return Delivery("quotes", f"quote_{tag}_{number}_{version}", json.dumps(body).encode(), makes, (said,))


def deliveries(tag: str, numbers: Iterator[int]) -> Iterator[Delivery]:
    """Person after person, each by one of the ways, without an end."""
    for number in numbers:
        # In fours, so that each of several senders that share the numbers meets all ways.
        match number // 4 % 4:
            case 0:
                yield form(tag, number)
            case 1:
                yield message(tag, number, 0)
                yield batch(tag, [(number, 1), (number, 2), (number + BESIDE, 0)])
            case 2:
                yield from (quote(tag, number, version) for version in (1, 2, 3))
            case _:
                yield form(tag, number, source="keyed")
