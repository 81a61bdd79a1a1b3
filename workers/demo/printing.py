"""What the reader sees: a table of the events, a sentence on each scenario, where everything is, and what to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import requests
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from intake.explain_texts import Language, Text
from intake.ops import EventRow
from workers.demo.hints import command, suggestions
from workers.demo.judging import Judgement, Verdict
from workers.demo.seeing import Seen
from workers.demo.stage import FOREIGN, Stage

# Without a terminal the lines may be as long as whole ids need.
WIDE = 120  # characters
# Digits of an event's id in a table that must fit into 80 columns; commands take any beginning of one.
SHORT_ID = 7

GOOD = Text("Todo quedó donde debía", "Everything is where it should be")
BAD = Text("NO todo quedó donde debía", "NOT everything is where it should be")
COUNTS = Text(
    "{events} eventos · {records} registros en el CRM · {doubles} dobles, según el libro del propio CRM.",
    "{events} events · {records} records in the CRM · {doubles} doubles, by the CRM's own ledger.",
)
LOGIN = Text("(nombre {name}, contraseña {password})", "(name {name}, password {password})")
NO_CONSOLE = Text("no responde; use la línea de comandos", "it does not answer: use the commands")
BEFORE = Text(
    "Sin --once todo sigue en marcha, y dice dónde está y qué probar.",
    "Without --once it keeps running, and says where everything is and what to try.",
)
PLAY = Text("Todo sigue en marcha hasta Ctrl-C. En otra terminal:", "All of it runs until Ctrl-C. In another terminal:")


@dataclass(frozen=True, slots=True)
class Printer:
    """Writes for one reader, in one language."""

    console: Console
    language: Language

    def say(self, text: Text, **values: object) -> str:
        """A text in the reader's language, with its values put in."""
        said = text.of(self.language)
        for name, value in values.items():
            said = said.replace(f"{{{name}}}", str(value))
        return said

    # --- what became of it ---

    def report(self, judgement: Judgement, seen: Seen) -> None:
        """The table, the sentences, and the sum."""
        self._table(judgement)
        for number, verdict in enumerate(judgement.verdicts, 1):
            self._scenario(number, verdict)
        for complaint in judgement.besides:
            self._indented(f"[red]✗[/red]  {escape(self.say(complaint))}")
        colour = "green" if judgement.good else "red"
        self.console.print(f"\n[bold {colour}]{self.say(GOOD if judgement.good else BAD)}[/]")
        self.console.print(
            self.say(COUNTS, events=len(seen.events), records=seen.entries, doubles=len(seen.doubles)) + "\n"
        )

    def _table(self, judgement: Judgement) -> None:
        shown = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
        shown.add_column("#", justify="right", min_width=2)
        for name in COLUMNS:
            shown.add_column(self.say(name), no_wrap=True, overflow="ellipsis")
        for number, verdict in enumerate(judgement.verdicts, 1):
            for row in verdict.rows:
                shown.add_row(str(number), *(escape(each) for each in cells(row, whole=self.console.width >= WIDE)))
        self.console.print()
        self.console.print(shown)
        self.console.print()

    def _scenario(self, number: int, verdict: Verdict) -> None:
        scenario = verdict.played.scenario
        mark = "[red]✗[/red]" if verdict.complaints else "[green]✓[/green]"
        self.console.print(f"{mark} {number:>2}  [bold]{escape(self.say(scenario.title))}[/bold]")
        for complaint in verdict.complaints:
            self._indented(f"[red]{escape(self.say(complaint))}[/red]")
        if not verdict.complaints:
            self._indented(escape(self.say(scenario.told)))

    def _indented(self, markup: str) -> None:
        self.console.print(Padding(markup, (0, 0, 0, 6), expand=False))

    # --- where it is, and what to try ---

    def places(self, stage: Stage) -> None:
        """Where a person or a program finds it."""
        console_url = f"{stage.url}/console"
        opens = f"{console_url}   {self.say(LOGIN, name=stage.login.name, password=stage.login.password)}"
        for name, where in (
            (Text("consola", "console"), opens if answers(console_url) else self.say(NO_CONSOLE)),
            (Text("receptor", "receiver"), f"{stage.url}/hooks/<source>"),
            (Text("CRM de juguete", "sandbox CRM"), f"{stage.dials.url}/control/records"),
            (Text("comandos", "commands"), f"{command()} --help"),
        ):
            self.console.print(f"{self.say(name):<15} {escape(where)}", soft_wrap=True)
        self.console.print()

    def once(self) -> None:
        """It ends now, and its addresses with it: none is told."""
        self.console.print(self.say(BEFORE))

    def try_next(self, stage: Stage, judgement: Judgement, environ: Mapping[str, str]) -> None:
        """Commands that can be pasted."""
        self.console.print(self.say(PLAY) + "\n")
        # What the environment says wins over what the home says.
        strangers = sorted(
            name for name in environ if name != "INTAKE_HOME" and (name in FOREIGN or name.startswith("INTAKE_"))
        )
        if strangers:
            self._command(f"unset {' '.join(strangers)}")
        self._command(f"export INTAKE_HOME={stage.supervisor.home}")
        for line, why in suggestions(stage, judgement, self.language):
            self.console.print(f"  [dim]# {escape(self.say(why))}[/dim]")
            self._command(line)
        self.console.print()

    def _command(self, line: str) -> None:
        # Never broken into lines: it is to be pasted.
        self.console.print(f"  {escape(line)}", soft_wrap=True)


COLUMNS = (
    Text("evento", "event"),
    Text("tipo", "kind"),
    Text("estado", "state"),
    Text("contacto", "contact"),
    Text("oportunidad", "opportunity"),
    Text("tarea o nota", "task or note"),
)


def cells(row: EventRow, *, whole: bool) -> tuple[str, ...]:
    """One event; (t) is a test.  A record that may stand in the CRM, and nobody knows under which id, is “?”."""
    kind = f"{row.kind} (t)" if row.mode == "test" else row.kind
    pairs = (
        (row.contact_ref, row.contact_id),
        (row.opportunity_ref, row.opportunity_id),
        (row.note_ref or row.task_ref, row.note_id or row.task_id),
    )
    ids = [crm_id or ("?" if reference and row.state == "uncertain" else "-") for reference, crm_id in pairs]
    return str(row.event_id) if whole else str(row.event_id)[:SHORT_ID], kind, row.state, *ids


def answers(url: str) -> bool:
    """Whether there is such a page."""
    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(url, timeout=20.0).ok
        except requests.RequestException:
            return False
