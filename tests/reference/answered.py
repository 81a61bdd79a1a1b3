"""Which refusals the code makes: the status and the code of each, read from the calls that name both."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).parents[2]


def refusals(callee: str, *places: str) -> Mapping[str, frozenset[int]]:
    """By code, the statuses of `callee(HTTPStatus.X, "code")` in these files and folders."""
    found: dict[str, frozenset[int]] = {}
    for place in places:
        for file in _files(CHECKOUT / place):
            for code, status in _in(ast.parse(file.read_text("utf-8")), callee):
                found[code] = found.get(code, frozenset()) | {status}
    return found


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def _in(module: ast.AST, callee: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(module):
        match node:
            case ast.Call(
                func=ast.Name(id=name),
                args=[ast.Attribute(value=ast.Name(id="HTTPStatus"), attr=status), ast.Constant(value=str(code)), *_],
            ) if name == callee:
                yield code, HTTPStatus[status].value
