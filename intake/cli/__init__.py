"""The command line: every command in a module of its own, imported when it is called.

Exit status: 0 done, 1 a finding (a refusal, something wrong or away), 2 usage or configuration.
"""

from __future__ import annotations

from intake.cli.group import Command, LazyGroup

__all__ = ["COMMANDS", "Command", "LazyGroup"]

# In the order in which `intake --help` shows them; `workers.main` adds those that need workers or CRM clients.
COMMANDS = (Command("migrate", "intake.cli.administration:migrate", "Bring the database's schema up to date."),)
