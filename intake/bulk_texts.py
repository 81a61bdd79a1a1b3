"""One decision about many events in words: what it does, and what became of each."""

from __future__ import annotations

from collections.abc import Mapping

from intake.bulk import BulkAction
from intake.explain_texts import DOES, REFUSALS
from intake.reason_texts import Language, Text

REPLAYS = Text(
    "Intenta de nuevo lo que una persona puede intentar; lo que está en duda solo se busca, y nunca se envía.",
    "Tries again what a person may try again; what is in doubt is looked for, and never sent.",
)

RESULTS: Mapping[str, Text] = {
    "left": Text("queda", "left"),
    "done": Text("hecho", "done"),
    "moved_meanwhile": Text("cambió entretanto: mírelo de nuevo", "moved meanwhile: look at it again"),
    "missing": Text("ya no existe", "is there no more"),
    "ended": Text("ya había terminado", "it had ended"),
}


def does(action: BulkAction, language: Language) -> str:
    """What it does with each."""
    return (REPLAYS if action == "replay" else DOES[action]).of(language)


def result_text(result: str | None, language: Language) -> str:
    """What became of one event; where it was refused, why.  `result` None: it is not decided yet."""
    result = result or "left"
    known = RESULTS.get(result)
    if known is not None:
        return known.of(language)
    if result not in REFUSALS:
        return result
    # Of many no state is told: it may be another by now.
    why, _, _ = REFUSALS[result].of(language).partition(";")
    return RESULTS["ended"].of(language) if "{state}" in why else why
