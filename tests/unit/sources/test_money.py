"""Amounts as people write them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from intake.sources.money import Money, read


@pytest.mark.parametrize(
    ("typed", "amount", "currency"),
    [
        ("1500", "1500", None),
        ("1500.50", "1500.50", None),
        ("S/ 1,500.50", "1500.50", "PEN"),
        ("S/.200", "200", "PEN"),
        ("1,500", "1500", None),
        ("12,345,678.90", "12345678.90", None),
        ("1.500,50 €", "1500.50", "EUR"),
        ("1.500.000", "1500000", None),
        ("10,5", "10.5", None),
        ("USD 2500", "2500", "USD"),
        ("2500 usd", "2500", "USD"),
        ("US$ 2,500.00", "2500.00", "USD"),
        ("$ 300", "300", None),
        ("300 soles", "300", "PEN"),
    ],
)
def test_amount_that_can_only_be_one_number_is_read(typed: str, amount: str, currency: str | None) -> None:
    assert read(typed) == Money(Decimal(amount), currency)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "mucho",
        "entre 100 y 200",
        "100-200",
        "1,50,0",
        "1.5.0",
        "-",
        "5 mil",
        "5k",
        "desde 300",
        "300 o más",
        "300 aprox. 2",
        "1e400",
    ],
)
def test_what_may_be_several_numbers_is_none(typed: str) -> None:
    assert read(typed) is None
