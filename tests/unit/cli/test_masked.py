"""A person in a table is recognised, not copied."""

from __future__ import annotations

import pytest

from intake.lead import Contact, Phone
from intake.masked import mask


@pytest.mark.parametrize(("contact", "shown"), [
    (Contact(name="Ana Prueba", phone=Phone("987654321", e164="+51987654321")), "A. P. ···321"),
    (Contact(name="Ana", email="ana@example.com"), "A. ···@example.com"),
    (Contact(wa_id="51987650001"), "···001"),
    (Contact(), "-"),
])  # fmt: skip
def test_initials_and_the_end_of_a_number_are_shown(contact: Contact, shown: str) -> None:
    assert mask(contact) == shown
