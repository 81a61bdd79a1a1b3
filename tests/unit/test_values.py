"""What a later version may change: fields that still read as our last write left them."""

from __future__ import annotations

from workers.values import Changes, compare

OURS = {"title": "Silla", "text": "Una silla", "amount": "100", "currency": "USD"}


def test_what_reads_as_it_should_is_not_sent() -> None:
    assert compare(OURS, OURS, OURS) == Changes({}, ())


def test_a_field_that_nobody_touched_is_changed() -> None:
    assert compare(OURS, OURS, OURS | {"text": "Dos sillas"}) == Changes({"text": "Dos sillas"}, ())


def test_a_field_that_a_person_changed_is_left() -> None:
    now = OURS | {"title": "Silla para Rosa"}
    assert compare(OURS, now, OURS | {"title": "Dos sillas"}) == Changes({}, ("title",))


def test_a_new_amount_is_sent_with_its_currency() -> None:
    assert compare(OURS, OURS, OURS | {"amount": "250.5"}) == Changes({"amount": "250.5", "currency": "USD"}, ())


def test_an_amount_without_a_currency_is_sent_with_the_one_that_stands_there() -> None:
    assert compare(OURS, OURS, {"amount": "250.5"}) == Changes({"amount": "250.5", "currency": "USD"}, ())


def test_an_amount_whose_currency_a_person_changed_is_left_with_it() -> None:
    now = OURS | {"currency": "EUR"}
    assert compare(OURS, now, OURS | {"amount": "250.5"}) == Changes({}, ("amount", "currency"))


def test_a_currency_without_an_amount_is_no_value() -> None:
    assert compare(OURS, OURS, {"currency": "EUR"}) == Changes({}, ())


def test_an_amount_that_the_crm_writes_otherwise_is_the_same() -> None:
    assert compare(OURS | {"amount": "100.00"}, OURS, OURS | {"amount": "100.0"}) == Changes({}, ())
