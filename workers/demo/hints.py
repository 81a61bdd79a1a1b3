"""What the reader may try while the demonstration runs: commands that can be pasted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from crm_clients.sandbox.server import TOKEN
from intake.explain_texts import Language, Text
from workers.demo.judging import Judgement
from workers.demo.stage import Stage

OWN = '{"nombre": "Eva", "correo": "eva@example.com"}'


def command() -> str:
    """How to call `intake` from here."""
    program = Path(sys.executable).with_name("intake")
    here = os.path.relpath(program)
    return str(program) if here.startswith("..") else here


def suggestions(stage: Stage, judgement: Judgement, language: Language) -> Iterator[tuple[str, Text]]:
    """Commands, and what each of them shows."""
    intake, crm = command(), stage.dials.url
    yield f"{intake} items --lang {language}", Text("lo que espera a una persona", "what waits for a person")
    if lost := _event_of(judgement, "lost_answer", "confirmed"):
        why = Text("una respuesta perdida: ¿qué se hizo?", "an answer was lost: what was done?")
        yield f"{intake} show {lost} --lang {language}", why
    if refused := _event_of(judgement, "422", "review"):
        why = Text("corregir lo que el CRM rechazó", "mend what the CRM refused")
        yield f"{intake} correct {refused} email=hugo@example.com --by eva --reason typo --lang {language}", why
    if doubtful := _event_of(judgement, "503", "uncertain"):
        why = Text("por qué está en duda y qué es seguro hacer", "why it is in doubt, and what is safe to do")
        yield f"{intake} explain {doubtful} --lang {language}", why
        why = Text("el CRM se recupera, y la duda se aclara", "the CRM recovers, and the doubt clears up")
        yield f"curl -s -X DELETE {crm}/control/faults; {intake} show {doubtful} --fresh --lang {language}", why
    why = Text("un envío suyo, cinco veces a la vez", "a delivery of your own, five times at once")
    yield f"echo '{OWN}' | {intake} send web-contact - --times 5 --parallel 5", why
    why = Text("y lo que el CRM tiene de él", "and what the CRM has of it")
    yield f"curl -s -H 'Authorization: Bearer {TOKEN}' '{crm}/api/contacts?email=eva@example.com'", why


def _event_of(judgement: Judgement, fault: str, state: str) -> str | None:
    """The event in this state of the scenario with this fault, as commands take it; None: it came out otherwise."""
    for verdict in judgement.verdicts:
        if any(rule["fault"] == fault for rule in verdict.played.scenario.dials):
            for row in verdict.rows:
                if row.state == state:
                    return str(row.event_id)[:8]
    return None
