"""A click group whose commands are imported when they are called, and whose errors say what to do."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version

import click


@dataclass(frozen=True, slots=True)
class Command:
    """`target` is module:attribute."""

    name: str
    target: str
    help: str


class Finding(click.ClickException):
    """What was asked for is not so, or not possible now: exit status 1."""

    exit_code = 1


class Misconfigured(click.ClickException):
    """Nothing can be done before the configuration is mended: exit status 2."""

    exit_code = 2


class LazyGroup(click.Group):
    """Knows its commands by name, and imports one only to run it.  `prepare` is called before a command runs."""

    commands_by_name: dict[str, Command]

    def __init__(self, commands: Iterable[Command], help_text: str, prepare: Callable[[], None] = lambda: None) -> None:
        super().__init__(name="intake", help=help_text, context_settings={"help_option_names": ["-h", "--help"]})
        self.prepare = prepare
        self.commands_by_name = {each.name: each for each in commands}
        self.params.append(
            click.Option(
                ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Which version."
            )
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the table's order."""
        del ctx
        return list(self.commands_by_name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import it."""
        del ctx
        known = self.commands_by_name.get(cmd_name)
        if known is None:
            return None
        module, _, attribute = known.target.partition(":")
        found = getattr(importlib.import_module(module), attribute)
        if not isinstance(found, click.Command):
            raise TypeError(f"{known.target} is no command")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(each.name, each.help) for each in self.commands_by_name.values()])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; expected errors become a sentence and a status."""
        self.prepare()
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            sys.stderr.close()  # Whoever read our output went away: nothing to say, and nobody to say it to.
            raise click.exceptions.Exit(1) from None
        except Exception as error:
            told = _told(error)
            if told is None:
                raise
            raise told from error


def _version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:  # click calls it so
    del param
    if wanted and not ctx.resilient_parsing:
        click.echo(f"lead-intake {version('lead-intake')}")
        ctx.exit()


def _told(error: Exception) -> click.ClickException | None:  # noqa: PLR0911  # one a kind
    """The sentence for an expected error; None: it is a bug.  Texts that might hold a value are not repeated."""
    # Only now, so that `intake --help` needs none of it.
    import psycopg_pool  # noqa: PLC0415
    import redis  # noqa: PLC0415
    from psycopg import Error as DatabaseError  # noqa: PLC0415

    from intake.config import ConfigError  # noqa: PLC0415
    from intake.db import OlderCode  # noqa: PLC0415
    from intake.installation import Mismatch  # noqa: PLC0415
    from intake.lead_schema import NotALead  # noqa: PLC0415

    match error:
        case NotALead():
            return Finding("a content in the database is no lead: it was changed there; restore it from a backup")
        case ConfigError():
            return Misconfigured(str(error))
        case DatabaseError() | psycopg_pool.PoolTimeout():
            return Finding(_of_database(error))
        case redis.RedisError():
            return Finding("Redis cannot be reached: is it running, and REDIS_URL right? `intake check` tells")
        case Mismatch() | OlderCode():
            return Finding(str(error))
        case OSError():
            return Finding(f"{error.filename or 'the system'}: {error.strerror or type(error).__name__}")
        case _:
            return None


def _of_database(error: Exception) -> str:
    from psycopg import OperationalError, errors  # noqa: PLC0415

    from intake.at_rest import Damaged, Unopenable  # noqa: PLC0415

    match error:
        case Unopenable():
            return f"{error}: set it here as where the processes are started; `intake check` tells"
        case Damaged():
            return f"a content in the database is {error}: it was changed there; restore it from a backup"
        case errors.UndefinedTable() | errors.UndefinedColumn() | errors.UndefinedFunction():
            return "the database lacks something that this version needs: run `intake migrate`"
        case errors.QueryCanceled() | errors.LockNotAvailable():
            return "the database was too busy, and a statement took longer than it may: run the command again later"
        case OperationalError():
            return "the database cannot be reached: is PostgreSQL running, and DATABASE_URL right? `intake check` tells"
        case _:
            return f"the database refused ({type(error).__name__}): `intake check` may tell why"
