"""The arrows of deliveries and records, read from the modules that take them: SQL under a heading, and a function.

A heading is a comment `# state | state -> state`; what stands under it sets the state, and whose function names it
takes the arrow.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final

from tests.reference.answered import CHECKOUT
from tests.reference.markdown import sentence

HEADING: Final = re.compile(r"# (?:-+ )?(?:[a-z ]+: )?(?P<left>[a-z_ |]+) -> (?P<right>[a-z_| ]*[a-z_])")
SECTION: Final = re.compile(r"# -{3,}")
RAISES: Final = re.compile(r" Raises [^.]*\.")
NAMED: Final = re.compile(r"(?<![\w.`])\w+\.\w+\b")
SETS_STATE: Final = re.compile(r"SET\s+state = ")


@dataclass(frozen=True, slots=True)
class Arrow:
    """`left`, `right`: states.  `by`: the function that takes it; `told`: what that says of itself."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    by: str
    told: str

    @property
    def moves(self) -> set[tuple[str, str]]:
        """From one state to another."""
        return {(one, other) for one, other in product(self.left, self.right) if one != other}


def arrows(file: str, states: Sequence[str], final: Sequence[str] = ()) -> list[Arrow]:
    """What this module takes, in its order.  "any open state but x" is every other one of `states` not in `final`."""
    lines = (CHECKOUT / file).read_text("utf-8").splitlines()
    headings, module = _headings(lines), ast.parse("\n".join(lines))
    functions = [each for each in module.body if isinstance(each, ast.FunctionDef)]
    found = []
    for name, line in _statements(module):
        if line in headings:
            left, right = (_states(side, states, final) for side in headings[line])
            users = [each for each in functions if name in _constants(each)]
            told = [(each.name, ast.get_docstring(each) or "") for each in users] or [(name, _comment(lines, line))]
            found += [Arrow(left, right, by, RAISES.sub("", sentence(said))) for by, said in told]
    return found


def _headings(lines: Sequence[str]) -> Mapping[int, tuple[str, str]]:
    """By line, the heading that it stands under; lines count from 1."""
    found: dict[int, tuple[str, str]] = {}
    last: tuple[str, str] | None = None
    for number, line in enumerate(lines, 1):
        heading = HEADING.match(line)
        if heading:
            last = heading["left"], heading["right"]
        elif SECTION.match(line):
            last = None
        if last is not None:
            found[number] = last
    return found


def _statements(module: ast.Module) -> Iterator[tuple[str, int]]:
    """The statements that set a state, and the line on which each begins."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))) if SETS_STATE.search(
                text
            ):
                yield name, node.lineno


def _constants(function: ast.FunctionDef) -> set[str]:
    return {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and each.id.isupper()}


def _comment(lines: Sequence[str], line: int) -> str:
    """What stands right above a line; a heading is none of it."""
    above = itertools.takewhile(lambda each: each.startswith("# "), reversed(lines[: line - 1]))
    return " ".join(each.removeprefix("# ") for each in reversed(list(above)) if not HEADING.match(each))


def _states(side: str, states: Sequence[str], final: Sequence[str]) -> tuple[str, ...]:
    if side.startswith("any open state but "):
        return tuple(each for each in states if each not in final and each != side.rpartition(" ")[2])
    words = (each.strip().replace(" ", "_") for each in side.split("|"))
    return tuple(each for each in words if each in states)


def callers(module: str, function: str) -> list[str]:
    """The files that name it, as `module.function`."""
    return [file for file, names in _named().items() if f"{module}.{function}" in names]


@cache
def _named() -> Mapping[str, frozenset[str]]:
    """By file, every `word.word` in it; each file is read once."""
    files = (file for folder in ("intake", "workers") for file in sorted((CHECKOUT / folder).rglob("*.py")))
    return {str(file.relative_to(CHECKOUT)): frozenset(NAMED.findall(file.read_text("utf-8"))) for file in files}


def allowed() -> list[tuple[str, str]]:
    """The arrows that the database lets anybody take, in its order."""
    schema = (CHECKOUT / "sql" / "schema.sql").read_text("utf-8")
    body = schema.partition("CREATE FUNCTION is_arrow")[2].partition("$$;")[0]
    return re.findall(r"\('(\w+)', '(\w+)'\)", body)
