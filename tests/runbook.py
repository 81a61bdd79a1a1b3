"""The runbook's commands, as they stand in the Markdown, by the section that tells to run them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
HEADING = re.compile(r"^## (.+)$")
# A line of its own: in an indented block, or between fences.
COMMAND = re.compile(r"^ *(intake .+?)(?:\s{2,}#.*)?$")
MENTION = re.compile(r"`intake ([^`]+)`")


@dataclass(frozen=True, slots=True)
class Section:
    """`number`: which section of its file it is, so that the two languages can be compared."""

    number: int
    title: str
    commands: tuple[str, ...]


def sections(file: str) -> list[Section]:
    """The sections of a runbook, in order."""
    return list(_sections((DOCS / file).read_text("utf-8")))


def mentions(file: str) -> set[str]:
    """The commands that stand in running text, without `intake`."""
    return set(MENTION.findall((DOCS / file).read_text("utf-8")))


def _sections(text: str) -> Iterator[Section]:
    title, commands, number = "", list[str](), 0
    for line in text.splitlines():
        heading, command = HEADING.match(line), COMMAND.match(line)
        if heading:
            if title:
                yield Section(number, title, tuple(commands))
                number += 1
            title, commands = heading[1], []
        elif command:
            commands.append(command[1])
    yield Section(number, title, tuple(commands))


def words(command: str, names: Mapping[str, str]) -> list[str]:
    """A command without `intake`, each name in it that stands for something replaced by that."""
    return [names.get(word, word) for word in shlex.split(command)[1:]]
