"""Answers of several parts become what somebody would write, or stay what they are."""

from __future__ import annotations

import pytest

from intake.sources.compound import one_text
from intake.sources.decoding import Json


@pytest.mark.parametrize(
    ("parts", "written"),
    [
        ({"first": "Rosa", "last": "Prueba"}, "Rosa Prueba"),
        ({"prefix": "Sra.", "first": "Rosa", "middle": "", "last": "Prueba"}, "Sra. Rosa Prueba"),
        ({"full": "(987) 654-321"}, "(987) 654-321"),
        ({"country": "51", "area": "1", "phone": "4567890"}, "+51 1 4567890"),
        ({"area": "01", "phone": "4567890"}, "01 4567890"),
        ({"country": "+51", "area": "", "phone": ""}, None),
        ({"year": "2026", "month": "03", "day": "15"}, "2026-03-15"),
        ({"month": "03", "day": "15", "year": "2026", "hour": "10", "min": "30", "ampm": "AM"}, "2026-03-15 10 30 AM"),
        ({"addr_line1": "Av. Ejemplo 123", "city": "Lima", "state": ""}, "Av. Ejemplo 123, Lima"),
        ({"first": "", "last": ""}, None),
        ({"first": "a", "other": "b"}, None),
        ({}, None),
        ("Rosa", None),
        (["Rosa"], None),
    ],
)
def test_parts_are_one_text(parts: Json, written: str | None) -> None:
    assert one_text(parts) == written
