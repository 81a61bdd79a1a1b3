"""Which question is about which field, however it is worded."""

from __future__ import annotations

import pytest

from intake.sources.known_names import FIELD_OF
from intake.sources.leaves import folded
from intake.sources.questions import Question, answers


def labels(*questions: Question) -> list[str]:
    return [leaf.label for leaf in answers(questions)]


@pytest.mark.parametrize(
    ("title", "field"),
    [
        ("What's your full name?", "name"),
        ("What is your first name?", "first_name"),
        ("¿Cuál es tu nombre completo?", "name"),
        ("¿Cómo te llamas?", "name"),
        ("¿Nombre de tu empresa?", "company"),
        ("¿Cuál es su correo electrónico?", "email"),
        ("Please enter your phone number", "phone"),
        ("¿En qué podemos ayudarte?", "text"),
        ("Qual é o seu nome?", "name"),
        ("Nombre (obligatorio)", "name"),
        ("E-mail address (required)", "email"),
        ("Mensaje / Consulta", "text"),
        ("Número de celular o WhatsApp", "phone"),
        ("RUC / DNI", "document"),
    ],
)
def test_spoken_question_is_a_known_field(title: str, field: str) -> None:
    (label,) = labels(Question("/a", title, "x"))
    assert FIELD_OF[folded(label)] == field


@pytest.mark.parametrize(
    "title", ["What is your pet's name?", "¿Nombre del producto anterior?", "¿Hasta qué hora?", "Número de personas"]
)
def test_question_about_something_else_keeps_its_title(title: str) -> None:
    assert labels(Question("/a", title, "x")) == [title]


def test_hint_tells_what_the_title_does_not() -> None:
    assert labels(Question("/a", "¿A dónde escribimos?", "x", ("field_1", "email"))) == ["email"]


def test_second_answer_of_a_kind_keeps_its_title() -> None:
    first, second = Question("/a", "Correo", "x"), Question("/b", "El otro", "y", ("email",))
    assert labels(first, second) == ["Correo", "El otro"]


def test_only_long_text_is_the_message() -> None:
    assert labels(Question("/a", "Cuéntanos", "x", long=True), Question("/b", "Color", "y")) == ["message", "Color"]


@pytest.mark.parametrize("other", [Question("/b", "Dirección", "y", long=True), Question("/b", "Mensaje", "y")])
def test_long_text_beside_another_keeps_its_title(other: Question) -> None:
    assert labels(Question("/a", "Cuéntanos", "x", long=True), other)[0] == "Cuéntanos"
