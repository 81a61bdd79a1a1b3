"""Bodies of webhooks as their senders write them.  The people in them are invented."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from workers.demo.scenario import Json


def form(name: str, phone: str, email: str, message: str, product: str = "") -> Json:
    """A contact form of a web site, in the envelope that Standard Webhooks advises."""
    answers = {"nombre": name, "teléfono": phone, "correo": email, "producto": product, "mensaje": message}
    return {"type": "form.submitted", "data": {label: answer for label, answer in answers.items() if answer}}


def quote(number: str, version: int, issued_at: datetime, chairs: int, price: Decimal) -> Json:
    """One version of a quote of our own program."""
    return {
        "number": number,
        "version": version,
        "issued_at": issued_at.isoformat(timespec="seconds"),
        "currency": "PEN",
        "amount": str(chairs * price),
        "items": [{"sku": "SILLA-02", "name": "Silla ergonómica", "quantity": chairs, "unit_price": str(price)}],
        "contact": {
            "name": "Gloria Huamán",
            "phone": "+51 955 010 110",
            "email": "gloria.huaman@example.com",
            "ruc": "20100070970",
        },
        "message": f"Cotización por {chairs} sillas.",
    }


def whatsapp(name: str, phone: str, texts: Sequence[str], now: datetime, *, first: int = 0) -> Json:
    """A batch as Meta's Cloud API sends it: messages of one person, and the status of a message of ours.

    `first`: how many messages of this person came before.
    """
    began = now - timedelta(minutes=5)
    messages = [
        {
            "from": phone,
            "id": f"wamid.DEMO{phone}{number}",
            "timestamp": str(int(began.timestamp()) + number),
            "type": "text",
            "text": {"body": text},
        }
        for number, text in enumerate(texts, first)
    ]
    status = {"id": "wamid.OURS", "status": "read", "timestamp": str(int(began.timestamp())), "recipient_id": phone}
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "5115550100", "phone_number_id": "100200300"},
        "contacts": [{"profile": {"name": name}, "wa_id": phone}],
        "messages": messages,
        "statuses": [status],
    }
    change = {"field": "messages", "value": value}
    return {"object": "whatsapp_business_account", "entry": [{"id": "900", "changes": [change]}]}
