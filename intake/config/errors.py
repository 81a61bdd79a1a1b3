"""What a refused configuration says: every problem at once, with its line, its place and the rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

Path = tuple[str | int, ...]  # ("sources", 3, "provider")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One broken rule.  `line` counts from 1, None: not a file; `rule` never holds a secret's value."""

    line: int | None
    where: str
    rule: str


class ConfigError(Exception):
    """The configuration cannot be used; nothing has been started.  Its text names every problem, one a line."""

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        self.file = file
        self.problems = tuple(sorted(problems, key=lambda one: (one.line or 0, one.where, one.rule)))
        super().__init__("\n".join(_said(file, problem) for problem in self.problems))


def _said(file: str, problem: Problem) -> str:
    place = file if problem.line is None else f"{file}:{problem.line}"
    return ": ".join(part for part in (place, problem.where, problem.rule) if part)


def dotted(path: Path) -> str:
    """`sources[3].provider`, for people."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def unknown(noun: str, word: str, allowed: Iterable[str]) -> str:
    """The rule that a word of a closed list breaks, with the nearest word or all of a short list."""
    known = sorted(allowed)
    near = get_close_matches(word, known, n=1)
    said = f'unknown {noun} "{word[:64]}"'
    if near:
        return f'{said}; did you mean "{near[0]}"?'
    return f"{said}; known are: {', '.join(known)}"
