"""What an erasure says to people, in either language, names no word that only programs know."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import click
import pytest

from intake.cli import certificates, place
from intake.cli.certificates import LABELS, TEXTS
from intake.forgetting import erasing
from intake.forgetting.opened import Open
from intake.forgetting.whole import Certificate, Standing, StillOpen
from intake.reason_texts import Language, Text

COUNTED = sorted({*erasing.OF_EVENTS, *erasing.OF_RECEIPTS, *erasing.OF_ANSWERS, *erasing.OF_DECISIONS})
CERTIFICATE = Certificate(
    UUID(int=7), datetime(2026, 11, 29, tzinfo=UTC), "rosa", "Ley 29733", ("ab12",), 2, {"raw_bodies": 3},
    (UUID(int=9),), 0, (Standing("crm", "contact", "41"),), dry=False,
)  # fmt: skip


def shown(capsys: pytest.CaptureFixture[str], language: Language) -> str:
    with click.Context(click.Command("forget")) as context:
        context.meta[place.LANGUAGE] = language
        certificates.show(CERTIFICATE, 3)
    return capsys.readouterr().out


@pytest.mark.parametrize("word", COUNTED)
def test_whatever_is_counted_has_a_name(word: str) -> None:
    assert word in LABELS


@pytest.mark.parametrize("text", [*TEXTS.values(), *LABELS.values()])
def test_nothing_was_left_untranslated(text: Text) -> None:
    assert text.es != text.en


def test_a_certificate_is_in_spanish_where_spanish_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(capsys, "es")
    assert "Borrado" in told
    assert "contenidos tal como llegaron" in told
    assert "contacto" in told
    assert "Erased" not in told


def test_a_certificate_is_in_english_where_english_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(capsys, "en")
    assert "Erased" in told
    assert "bodies as they came" in told
    assert "Borrado" not in told


def test_what_is_still_open_is_told_in_words() -> None:
    waiting = Open(event_id=UUID(int=7), item_id=None, kind="delivery", state="review", reason="budget_used_up")
    with click.Context(click.Command("forget")) as context:
        context.meta[place.LANGUAGE] = "es"
        told = "\n".join(certificates.unfinished([(3, StillOpen(UUID(int=1), (waiting,), 2)), (4, CERTIFICATE)]))
    assert "no se borró nada" in told
    assert "fila 3\n" in told
    assert "fila 4" not in told
    assert "en revisión" in told
    assert "2 en el spool" in told
    assert "budget_used_up" not in told
