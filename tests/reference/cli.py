"""`docs/reference/cli.md`: every command of `intake`, as click knows it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass

import click

import intake.cli
from tests.reference.markdown import code, codes, page, sentence, table
from workers.main import group

REPEATED = re.compile("repeated|several times")


@dataclass(frozen=True, slots=True)
class Known:
    """A command where it is typed; `context` knows its whole name."""

    context: click.Context
    command: click.Command

    @property
    def name(self) -> str:
        return self.context.command_path

    @property
    def anchor(self) -> str:
        """As GitHub names the heading."""
        return self.name.replace(" ", "-")


def text() -> str:
    """The page."""
    top = group()
    commands = list(_below(Known(click.Context(top, info_name="intake"), top)))
    contents = table(
        ("command", "what it does"),
        ((f"[{each.name}](#{each.anchor})", sentence(each.command.help or "")) for each in commands),
    )
    return page("Commands", _paragraphs(top.help or ""), _status(), contents, *(_section(each) for each in commands))


def _below(known: Known) -> Iterator[Known]:
    """The commands of a group, and of the groups in it."""
    if isinstance(known.command, click.Group):
        for name in known.command.list_commands(known.context):
            found = known.command.get_command(known.context, name)
            if found is not None and not found.hidden:
                below = Known(click.Context(found, info_name=name, parent=known.context), found)
                yield below
                yield from _below(below)


def _status() -> str:
    """What the package says of exit statuses, for all commands."""
    said = next(each for each in (intake.cli.__doc__ or "").split("\n\n") if each.startswith("Exit status"))
    return (
        f"{sentence(said)}\n`-h` and `--help` say of a command what stands here; `intake --version` says which version."
    )


def _section(known: Known) -> str:
    options = [each for each in known.command.params if isinstance(each, click.Option) and not each.hidden]
    blocks = (
        f"## {known.name}",
        "" if isinstance(known.command, click.Group) else f"    {known.name} {_usage(known)}".rstrip(),
        _paragraphs(known.command.help or ""),
        table(("argument", "values"), _arguments(known)),
        table(("option", "what it is", "default"), (_option(each, known.context) for each in options)),
    )
    return "\n\n".join(block for block in blocks if block)


def _usage(known: Known) -> str:
    return " ".join(known.command.collect_usage_pieces(known.context))


def _paragraphs(text: str) -> str:
    """Help as it is written, each paragraph on one line."""
    return "\n\n".join(" ".join(each.split()) for each in inspect.cleandoc(text).split("\n\n"))


def _arguments(known: Known) -> Iterator[tuple[str, str]]:
    """Those of a closed list of words; the usage says the rest."""
    for each in known.command.params:
        if isinstance(each, click.Argument) and isinstance(each.type, click.Choice):
            yield code(each.human_readable_name), codes(each.type.choices)


def _option(option: click.Option, context: click.Context) -> tuple[str, str, str]:
    names = codes((*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {code(_value(option, context))}"
    return names + value, " ".join(_told(option)), "must be given" if option.required else _default(option)


def _value(option: click.Option, context: click.Context) -> str:
    return "NUMBER" if isinstance(option.type, click.IntRange | click.FloatRange) else option.make_metavar(context)


def _told(option: click.Option) -> Iterator[str]:
    """What an option is, in sentences."""
    if option.help:
        yield option.help if option.help.endswith(".") else f"{option.help}."
    if isinstance(option.type, click.IntRange | click.FloatRange):
        yield _range(option.type)
    if option.multiple and not REPEATED.search(option.help or ""):
        yield "May be repeated."
    if option.envvar:
        yield f"Without it: {code(option.envvar)}."


def _range(numbers: click.IntRange | click.FloatRange) -> str:
    least = f"{'More than' if numbers.min_open else 'At least'} {numbers.min:g}" if numbers.min is not None else ""
    most = f"{'less than' if numbers.max_open else 'at most'} {numbers.max:g}" if numbers.max is not None else ""
    told = ", ".join(each for each in (least, most) if each)
    return f"{told[0].upper()}{told[1:]}." if told else ""


def _default(option: click.Option) -> str:
    """What holds without it; "": nothing, or the sentence says it."""
    value = option.to_info_dict()["default"]
    if option.is_flag or value is None or callable(value):
        return ""
    return codes(value) if isinstance(value, list | tuple) else code(value)
