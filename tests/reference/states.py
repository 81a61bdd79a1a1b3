"""`docs/reference/states.md`: where an event and a record may stand, what moves them, and in which words it is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from intake.deliveries import FINAL, OPEN
from intake.explain_texts import HELD, STATES, THEN
from intake.incident_steps import step
from intake.incident_texts import INCIDENTS
from intake.reading_texts import READING
from intake.reason_texts import REASONS, Text
from intake.shown_names import STATES as NAMES
from tests.reference import actions
from tests.reference.answered import CHECKOUT
from tests.reference.arrows import Arrow, allowed, arrows, callers
from tests.reference.markdown import code, codes, page, table, texts

DELIVERY: Final = (*OPEN, *FINAL)
RECORD: Final = ("none", "asked", "in_doubt", "known", "gone")

BEGIN: Final = """The delivery of an event stands in one of these; `pending` is every one that is not final.
It begins as `received`, or as `awaiting_approval` where its source asks for approval or a rule of it holds it."""
MOVES: Final = """The database refuses every other arrow (`is_arrow` in `sql/schema.sql`); each goes into the history.
An arrow without a name is one that the database lets pass and no code takes."""
BOTH: Final = """`intake explain`, the console and the API tell these sentences; programs get the word.
A word that ends in `*` covers all that begin so, and `{reason}` is the word itself."""


def text() -> str:
    """The page."""
    return page(
        "States, reasons and actions",
        "## States of a delivery", BEGIN, _states(),
        "## Arrows of a delivery", MOVES, _moves(), _taken(("deliveries", "person_arrows"), DELIVERY, FINAL),
        "## States of a record", "A record is one thing in a CRM that is to exist once.", _records(),
        "### Arrows of a record", _taken(("records",), RECORD),
        actions.text(),
        "## Reasons", BOTH, texts("reason", REASONS),
        "## What happens next", "Where state and reason together ask for another step than the state alone:", _next(),
        "What holds a delivery from outside:", texts("what", HELD),
        "## What could not be read", texts("reason", READING),
        "## Incidents", "What a [reconciliation](../reconcile.md) finds wrong, and what ends it.", _incidents(),
    )  # fmt: skip


# --- states ---------------------------------------------------------------------------------------------------------


def _states() -> str:
    rows = (
        (code(name), NAMES[name].es, f"{said.where.en} {said.then.en}", f"{said.where.es} {said.then.es}")
        for name, said in STATES.items()
    )
    return table(("state", "en español", "what it means, and what follows", "qué significa, y qué sigue"), rows)


def _moves() -> str:
    """Every arrow that the database allows, and what takes it."""
    taken = [*arrows("intake/deliveries.py", DELIVERY, FINAL), *arrows("intake/person_arrows.py", DELIVERY, FINAL)]
    rows = (
        (code(left), code(right), codes(each.by for each in taken if (left, right) in each.moves))
        for left, right in allowed()
    )
    return table(("from", "to", "taken by"), rows)


def _taken(modules: Sequence[str], states: Sequence[str], final: Sequence[str] = ()) -> str:
    rows = (_arrow(module, each) for module in modules for each in arrows(f"intake/{module}.py", states, final))
    return table(("arrow", "from", "to", "what it says", "where it is called"), rows)


def _arrow(module: str, arrow: Arrow) -> tuple[str, str, str, str, str]:
    return code(arrow.by), codes(arrow.left), codes(arrow.right), arrow.told, codes(callers(module, arrow.by))


def _records() -> str:
    """As the table's own comment says it."""
    schema = (CHECKOUT / "sql" / "schema.sql").read_text("utf-8")
    comment = schema.partition("CREATE TABLE records (")[2].partition("    state ")[0].rpartition("parent_record_id")[2]
    said = " ".join(line.strip().removeprefix("-- ") for line in comment.splitlines()[1:])
    rows = ((code(name), _first_upper(told)) for name, told in re.findall(r"(\w+): (.+?\.)(?=\s+\w+: |$)", said))
    return table(("state", "what it means"), rows)


def _first_upper(told: str) -> str:
    return told[0].upper() + told[1:]


# --- words ----------------------------------------------------------------------------------------------------------


def _next() -> str:
    rows = ((code(state), code(reason), said.en, said.es) for (state, reason), said in THEN.items())
    return table(("state", "reason", "in English", "en español"), rows)


def _incidents() -> str:
    return table(("incident", "in English", "en español"), _told())


def _told() -> Iterator[tuple[str, str, str]]:
    for name, said in INCIDENTS.items():
        end = step(name) or Text("", "")
        yield code(name), f"{said.en} {end.en}", f"{said.es} {end.es}"
