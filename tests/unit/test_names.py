"""Names that one person may write, and names of two people."""

from __future__ import annotations

import pytest

from intake.names import is_other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rosa Quispe", "rosa quispe"),
        ("Rosa Quispe", "Rosa"),
        ("Quispe, Rosa", "Rosa Quispe Mamani"),
        ("Rosa Q.", "Rosa Quispe"),
        ("R. Quispe", "Rosa Quispe"),
        ("José Núñez", "JOSE NUNEZ"),
        ("Rosa Elena Quispe", "Rosa Quispe Mamani"),
        ("Rosa Quispe", None),
        ("", "Rosa Quispe"),
        ("🌸 987", "Rosa Quispe"),
    ],
)
def test_these_may_be_one_person(one: str, other: str | None) -> None:
    assert not is_other(one, other)
    assert not is_other(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana", "Luis"),
        ("Ana Quispe", "Luis Quispe"),
        ("Ana Quispe Mamani", "Luis Quispe Mamani"),
        ("Minera del Sur SAC", "Rosa Quispe"),
        ("Rosa Elena Quispe", "Rosa Huamán Torres"),
        ("¿Quién?", "Luis"),
    ],
)
def test_these_are_two_people(one: str, other: str) -> None:
    assert is_other(one, other)
    assert is_other(other, one)
