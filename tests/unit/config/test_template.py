"""Titles and texts with placeholders."""

from __future__ import annotations

import pytest

from intake.config import Template

TITLE = Template.parse("{contact} · {channel} · {product}")


def test_values_are_put_in() -> None:
    values = {"contact": "Ana Pérez", "channel": "WhatsApp", "product": "Puerta"}
    assert TITLE.render(values) == "Ana Pérez · WhatsApp · Puerta"


def test_part_without_a_value_is_left_out() -> None:
    assert TITLE.render({"contact": "Ana Pérez", "channel": "", "product": "Puerta"}) == "Ana Pérez · Puerta"


def test_line_without_a_value_is_left_out() -> None:
    template = Template.parse("{message}\nRUC: {document}\n\nTel.: {phone}")
    assert template.render({"message": "Hola", "phone": "+51 900 000 001"}) == "Hola\n\nTel.: +51 900 000 001"


def test_fixed_words_stay() -> None:
    assert Template.parse("Web · {product}").render({}) == "Web"


def test_value_is_never_read_as_a_template() -> None:
    assert Template.parse("{contact}").render({"contact": "{phone} \\1", "phone": "x"}) == "{phone} \\1"


@pytest.mark.parametrize(
    "text",
    [
        "{contact.__class__}",
        "{contact[0]}",
        "{contact!r}",
        "{contact:>10}",
        "{}",
        "{0}",
        "{{contact}}",
        "{",
        "}",
        "{ contact }",
    ],
)
def test_nothing_but_a_plain_word_may_stand_in_braces(text: str) -> None:
    with pytest.raises(ValueError, match="a brace may only stand around a placeholder"):
        Template.parse(text)


def test_unknown_placeholder_is_refused() -> None:
    with pytest.raises(ValueError, match=r'unknown placeholder "celular"; allowed are: \{amount\}'):
        Template.parse("{celular}")
