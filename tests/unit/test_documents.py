"""Document numbers of Peru, and addresses of e-mail."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intake import documents, emails


@pytest.mark.parametrize(
    "document",
    [
        "20100070970",  # a RUC with a right check digit
        "20-10007097-0",
        "12345678",  # a DNI has no check digit of its own
        "001234567",  # a foreign resident's card
        "AB123456",  # a passport
        "RUC: 20100070970",
        "RUC N° 20100070970",
        "DNI 12345678",
        "\uff12\uff10\uff11\uff10\uff10\uff10\uff17\uff10\uff19\uff17\uff10",  # full-width
    ],
)
def test_document_that_may_be_right_is_not_flagged(document: str) -> None:
    assert documents.flag(document, "PE") is None


@pytest.mark.parametrize(
    "document", ["20100070971", "99999999999", "123", "1234567", "no tengo", "", "RUC 20100070971", "DNI: 1234567"]
)
def test_document_that_cannot_be_right_is_flagged(document: str) -> None:
    assert documents.flag(document, "PE") == documents.INVALID


def test_documents_of_other_countries_are_not_judged() -> None:
    assert documents.flag("0990012345001", "EC") is None


@settings(deadline=None)
@given(st.text(), st.text(max_size=2))
def test_no_text_raises(document: str, region: str) -> None:
    assert documents.flag(document, region) in (None, documents.INVALID)


@pytest.mark.parametrize(
    ("typed", "email"),
    [
        (" Rosa.Prueba@Example.COM ", "Rosa.Prueba@example.com"),
        ("Rosa <rosa@example.com>", "rosa@example.com"),
        ("mailto:rosa@example.com", "rosa@example.com"),
        ("rosa@example.com.", "rosa@example.com"),
        ("o'brien@example.com", "o'brien@example.com"),  # and never brien's
        ("o\\'brien@example.com", "o'brien@example.com"),
        ("'rosa@example.com'", "rosa@example.com"),
        ("\u200brosa\uff20example.com", "rosa@example.com"),
        ("rosa@example.com; luis@example.com", "rosa@example.com"),
        ("rosa@xn--80ak6aa92e.xn--p1ai", "rosa@xn--80ak6aa92e.xn--p1ai"),
        ("https://example.com/rosa@example.com", None),
        ("rosa@example..com", None),
        ("rosa@-example.com", None),
        ("rosa@example", None),
        ("rosa example.com", None),
        ("", None),
        ("x" * 300 + "@example.com", None),
    ],
)
def test_address_is_found_in_what_was_typed(typed: str, email: str | None) -> None:
    assert emails.read(typed) == email
