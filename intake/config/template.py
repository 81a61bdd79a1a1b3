"""Titles and texts with placeholders, `{contact} · {channel} · {product}`.

Never `str.format`: its fields reach attributes and indexes of whatever is given.  Here a placeholder is one plain word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from intake.config.errors import unknown
from intake.config.known import PLACEHOLDERS

SEPARATOR: Final = " · "
PLACEHOLDER: Final = re.compile(r"\{([a-z][a-z0-9_]{0,63})\}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Template:
    """A checked text; every placeholder in it is known."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Template:
        """Raises ValueError with the rule in words."""
        if "{" in PLACEHOLDER.sub("", text) or "}" in PLACEHOLDER.sub("", text):
            raise ValueError("a brace may only stand around a placeholder, as in {contact}")
        for name in PLACEHOLDER.findall(text):
            if name not in PLACEHOLDERS:
                known = ", ".join(f"{{{one}}}" for one in sorted(PLACEHOLDERS))
                raise ValueError(
                    f"{unknown('placeholder', name, PLACEHOLDERS).partition('; known')[0]}; allowed are: {known}"
                )
        return cls(text)

    def render(self, values: Mapping[str, str]) -> str:
        """Put the values in; one that is missing counts as empty.

        A part between two " · ", or a line, whose placeholders are all empty is left out.
        """
        lines = (self._line(line, values) for line in self.text.split("\n"))
        return "\n".join(line for line in lines if line is not None)

    def _line(self, line: str, values: Mapping[str, str]) -> str | None:
        parts = [part for part in line.split(SEPARATOR) if not _is_hollow(part, values)]
        if not parts:
            return None
        return PLACEHOLDER.sub(lambda match: values.get(match[1], ""), SEPARATOR.join(parts))


def _is_hollow(part: str, values: Mapping[str, str]) -> bool:
    names = PLACEHOLDER.findall(part)
    return bool(names) and not any(values.get(name) for name in names)
