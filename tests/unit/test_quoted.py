"""What a CRM says of a refused field keeps its rule, and loses what it quotes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crm_clients.base import ContactDraft, Draft, OpportunityDraft, TaskDraft
from workers.quoted import LONGEST, rules

CONTACT = ContactDraft(
    "Ana María Prueba", "+51987654321", "ana@example.com", "Sillas SAC", None, (("ruc", "20555001770"),)
)
OPPORTUNITY = OpportunityDraft("Silla alta para Ana", "Hola, quiero dos\nNombre: Ana Prueba", "contact-1")
TASK = TaskDraft("Llamar a Ana", "opportunity-1", datetime(2026, 11, 29, tzinfo=UTC))


@pytest.mark.parametrize(
    ("draft", "told", "kept"),
    [
        (CONTACT, "Enter a valid email address.", "Enter a valid email address."),
        (CONTACT, "This field may not be blank.", "This field may not be blank."),
        (CONTACT, "Ensure this field has no more than 255 characters.",
         "Ensure this field has no more than 255 characters."),
        (CONTACT, "ana@example.com is taken", "… is taken"),
        (CONTACT, "“ANA@Example.com” is taken", "“…” is taken"),
        (CONTACT, "<otra@example.com>: taken", "<…>: taken"),
        (CONTACT, "+51 987 654 321 is no number", "… is no number"),
        (CONTACT, "20555001770 has 11 digits", "… has 11 digits"),
        (CONTACT, "contact María exists", "contact … exists"),
        (CONTACT, "Sillas SAC exists", "… exists"),
        (OPPORTUNITY, "title 'Silla alta para Ana' is taken", "title '…' is taken"),
        (OPPORTUNITY, "text: Hola, quiero dos is too long", "text: … is too long"),
        (TASK, "Llamar a Ana: type unknown", "…: type unknown"),
    ],
)  # fmt: skip
def test_a_rule_stays_and_a_value_goes(draft: Draft, told: str, kept: str) -> None:
    assert rules([("any", told)], draft) == {"any": kept}


def test_a_page_is_cut() -> None:
    assert len(rules([("any", "x" * 5000)], CONTACT)["any"]) == LONGEST
