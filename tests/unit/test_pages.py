"""Every page: its links lead somewhere, and the commands that it names exist with the options that it gives them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from workers.main import group

CHECKOUT = Path(__file__).parents[2]
PAGES = sorted([*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`\n]*`")
# In running text, and on lines of their own in blocks, where a comment may follow.
NAMED = re.compile(r"`(?:\.venv/bin/)?intake ([^`]+)`")
TYPED = re.compile(r"^(?: {4,}|sh> )?(?:\$ )?(?:\.venv/bin/)?intake ([a-z].*?)(?:\s{2,}#.*|\s+[|>].*)?$", re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(CHECKOUT))


def links() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        text = INLINE.sub("", FENCED.sub("", page.read_text("utf-8")))
        yield from ((name_of(page), target) for target in LINK.findall(text) if "://" not in target)


@pytest.mark.parametrize(("page", "target"), sorted(set(links())))
def test_a_link_leads_somewhere(page: str, target: str) -> None:
    path, _, anchor = target.partition("#")
    there = (CHECKOUT / page).parent / path if path else CHECKOUT / page
    assert there.exists()
    if anchor:
        assert anchor in anchors(there)


def anchors(page: Path) -> set[str]:
    """As GitHub names headings: small letters, no punctuation, dashes for spaces."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# --- commands -------------------------------------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        text = page.read_text("utf-8")
        for found in (*NAMED.findall(text), *TYPED.findall(text)):
            yield name_of(page), found.strip()


@pytest.mark.parametrize(("page", "words"), sorted(set(commands())))
def test_a_command_is_one_of_ours_and_takes_these_options(page: str, words: str) -> None:
    del page
    known = options_of(split(words))
    given = {word.partition("=")[0].rstrip(":.,") for word in split(words) if re.match(r"--?[a-z]", word)}
    assert given <= known


def split(words: str) -> list[str]:
    try:
        return shlex.split(words)
    except ValueError:  # an apostrophe of running text
        return words.split()


def options_of(words: list[str]) -> set[str]:
    """Of the command that these words begin with, and of the groups above it."""
    context, command = click.Context(group()), click.Command("none")
    here: click.Command = group()
    found = {"--help", "--version"}
    for word in words:
        if not isinstance(here, click.Group):
            break
        if word.startswith("-"):
            continue
        next_one = here.get_command(context, word)
        assert next_one is not None, f"intake {' '.join(words)}"
        here, command = next_one, next_one
        found |= {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
    return found
