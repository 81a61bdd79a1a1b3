"""The one entry above all: `intake`, with the commands that need workers or CRM clients beside those that do not."""

from __future__ import annotations

from collections.abc import Callable

from intake.cli import COMMANDS, Command, LazyGroup

HELP = """Takes leads from webhooks into a CRM: every one once, and what is in doubt in front of a person.

Begin with `intake up`.  Every reading command has --json.
"""

RUNNING = (
    Command("up", "workers.commands.running:up", "Run everything: servers, receiver, workers, clock, sandbox CRM."),
    Command("worker", "workers.commands.running:worker", "Run one worker process."),
    Command("clock", "workers.commands.running:clock", "Run the clock."),
    Command("check", "workers.commands.checking:check", "Look at everything, and say what to do."),
    Command("crm", "workers.commands.checking:crm", "crm check: the CRM accounts and their sentinels."),
    Command("reconcile", "workers.commands.reconciling:reconcile", "Prove that nothing is missing or double."),
    Command("prove", "workers.commands.proving:prove", "Stop everything everywhere, and count in the CRM's ledger."),
    Command("pull", "workers.commands.pulling:pull", "Ask a sender for what its webhooks lost."),
    Command("alerts", "workers.commands.alerting:alerts", "What somebody should know now, and what was said."),
)
DECIDING = (
    Command("settle", "workers.commands.settling:settle", "Say what became of a write in doubt, or cancel."),
    Command("redeliver", "workers.commands.redelivering:redeliver", "Make anew what the CRM lost."),
)


def group(prepare: Callable[[], None] = lambda: None) -> LazyGroup:
    """All commands, none of them imported."""
    return LazyGroup((*RUNNING, *COMMANDS, *DECIDING), HELP, prepare)


def main() -> None:
    """The console script."""
    group(_logs)(prog_name="intake")


def _logs() -> None:
    """Logs go to stderr, so that they spoil no JSON."""
    from intake import logs  # noqa: PLC0415  # only now, so that `intake --help` needs none of it

    logs.configure()


if __name__ == "__main__":
    main()
