"""The command line: every command in a module of its own, imported when it is called.

Exit status: 0 done, 1 a finding (a refusal, something wrong or away), 2 usage or configuration.
"""

from __future__ import annotations

from intake.cli.group import Command, LazyGroup

__all__ = ["COMMANDS", "Command", "LazyGroup"]

# In the order in which `intake --help` shows them; `workers.main` adds those that need workers or CRM clients.
COMMANDS = (
    Command("init", "intake.cli.beginning:init", "Write the first configuration, and make its secrets."),
    Command("migrate", "intake.cli.administration:migrate", "Bring the database's schema up to date."),
    Command("restored", "intake.cli.administration:restored", "Say that the database came back from a backup."),
    Command("sources", "intake.cli.entrances:sources", "The ways in, their addresses, and their last deliveries."),
    Command("send", "intake.cli.sending:send", "Send a correctly signed delivery."),
    Command("recheck", "intake.cli.recovering:recheck", "Verify again what a source's senders were refused."),
    Command("reread", "intake.cli.recovering:reread", "Read again what is in quarantine, after a parser fix."),
    Command("purge", "intake.cli.purging:purge", "Take away what is older than its source keeps it."),
    Command("reseal", "intake.cli.resealing:reseal", "Seal everything in the database with the first key."),
    Command("forget", "intake.cli.forgetting:forget", "Erase a person, and say what was erased."),
    Command("import", "intake.cli.importing:import_", "Take history from a CSV file."),
    Command("events", "intake.cli.reading:events", "What came in, the newest first."),
    Command("show", "intake.cli.reading:show", "One event: attempts, history, what may be done."),
    Command("media", "intake.cli.media:media", "The files that came with an event."),
    Command("explain", "intake.cli.reading:explain", "Why an event is where it is, and what is safe."),
    Command("items", "intake.cli.waiting:items", "What waits for a person."),
    Command("item", "intake.cli.waiting:item", "One item."),
    Command("correct", "intake.cli.deciding:correct", "Deliver an event with other values."),
    Command("revive", "intake.cli.deciding:revive", "Try an event in review again."),
    Command("look", "intake.cli.deciding:look", "Look in the CRM for what is in doubt."),
    Command("approve", "intake.cli.deciding:approve", "Let an event be delivered."),
    Command("reissue", "intake.cli.remaking:reissue", "Open a second opportunity on purpose."),
    Command("spam", "intake.cli.spamming:spam", "Cancel spam, and hold what its sender sends later."),
    Command("bulk", "intake.cli.bulking:bulk", "Decide about many events at once."),
    Command("decline", "intake.cli.deciding:decline", "Do not deliver an event that awaits approval."),
    Command("assign", "intake.cli.assigning:assign", "Give an item to a person, or take it over."),
    Command("resolve", "intake.cli.deciding:resolve", "Close a conflict, an incident or a quarantine."),
    Command("pause", "intake.cli.pausing:pause", "Deliver nothing to an account, or of a source."),
    Command("resume", "intake.cli.pausing:resume", "Deliver again."),
    Command("operators", "intake.cli.operating:operators", "Who may open the console and the API."),
)
