"""The words of alerts and incidents: none is missing, and what leaves is what may leave."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from intake.alerts import conditions, texts, wording
from intake.alerts.content import Change, Channel, Content, Digest, plain, read
from intake.explain import item_step, reason_text
from intake.incident_texts import INCIDENTS
from intake.reason_texts import Language
from intake.reconcile import ACCUSATIONS
from workers import verify
from workers.reconcile import NOT_VERIFIED

LIMA = ZoneInfo("America/Lima")
SINCE = datetime(2026, 11, 29, 15, 4, tzinfo=UTC).isoformat()
LANGUAGES: tuple[Language, ...] = ("es", "en")
CHANGES = tuple(
    Change(what, name, "web", 3, SINCE, ("n-1",))
    for what in ("began", "grew", "ended")
    for name in (*conditions.QUICK_NAMES, *conditions.SLOW_NAMES)
)
REASONS = (
    *ACCUSATIONS,
    *(f"{kind}_{each}" for kind in verify.KINDS for each in ("gone", "not_live", "other_reference")),
    *(f"{kind}_{each}" for kind in verify.KINDS for each in verify.LISTED_WRONG),
    "opportunity_without_owner",
    "opportunity_without_contact",
    NOT_VERIFIED,
)
DIGEST = Digest(12, 10, 1, {"uncertain": 1, "awaiting_approval": 2}, (Channel("form", 8, 2.4, 95.0),), 3.25, 4,
                human_seconds=504.0, measured=3, single=4, waited=5400.0)  # fmt: skip


@pytest.mark.parametrize("name", [*conditions.QUICK_NAMES, *conditions.SLOW_NAMES])
def test_every_condition_has_words(name: str) -> None:
    assert name in texts.CONDITIONS
    assert name in texts.NAMES


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("change", CHANGES)
def test_no_placeholder_is_left_in_a_line(change: Change, language: Language) -> None:
    line = wording.change(change, language, LIMA)
    assert "{" not in line
    assert "web" in line or change.name in {"no_worker", "spool"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("reason", REASONS)
def test_every_incident_has_words(reason: str, language: Language) -> None:
    assert reason not in reason_text(reason, language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("reason", [*REASONS, "several", "late_success"])
def test_every_incident_says_what_ends_it(reason: str, language: Language) -> None:
    assert item_step("incident", reason, language)


def test_no_words_are_left_over() -> None:
    assert set(INCIDENTS) <= set(REASONS)


def test_times_are_those_of_the_wall() -> None:
    assert "desde 29/11 10:04" in wording.change(Change("began", "silence", "web", 1, SINCE), "es", LIMA)


def test_the_digest_in_spanish() -> None:
    text = wording.text(Content("https://leads.example.com/console", digest=DIGEST), "es", LIMA)
    assert text.splitlines() == [
        "Resumen de leads de las últimas 24 horas",
        "Recibidos: 12",
        "En el CRM: 10",
        "En camino: 1",
        "Esperan por usted: 3 (1 en duda, 2 por aprobar)",
        "Tiempo hasta el CRM (mediana / 95 %):",
        "- Formularios: 2 s / 2 min (8)",
        "Intentos por lead: 3.2",
        (
            "Minutos de personas por lead recibido: 0.7 "
            "(de ver a decidir; 8 min en total, medidos en 3 de 4 decisiones una a una)"
        ),
        "Lo resuelto había esperado por una persona: 1.5 h (mediana)",
        "Decisiones tomadas: 4",
        "Consola: https://leads.example.com/console",
    ]


@pytest.mark.parametrize(
    ("content", "subject"),
    [
        (Content("x", CHANGES[:1]), "Leads: en duda"),
        (Content("x", CHANGES[:3]), "Leads: 3 avisos"),
        (Content("x", digest=DIGEST), "Resumen de leads de las últimas 24 horas"),
        (Content("x"), "Prueba: los avisos de leads llegan aquí."),
    ],
)
def test_an_e_mail_says_in_its_subject_what_it_is_about(content: Content, subject: str) -> None:
    assert wording.subject(content, "es") == subject


@pytest.mark.parametrize("content", [Content("x", CHANGES), Content("x", digest=DIGEST), Content("x")])
def test_what_is_stored_is_read_again(content: Content) -> None:
    assert read(json.loads(json.dumps(content.document()))) == content


@pytest.mark.parametrize("word", ["ana@example.com", "Ana Prueba", "+51987654321", "a" * 65, "x\n"])
def test_a_word_that_is_none_of_ours_may_not_leave(word: str) -> None:
    assert plain(word) == "?"
    with pytest.raises(ValueError, match="may not leave"):
        Change("began", "uncertain", word, 1, SINCE)
    with pytest.raises(ValueError, match="may not leave"):
        Change("began", "uncertain", "web", 1, SINCE, (word,))
