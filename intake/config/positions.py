"""On which line of a TOML file each key stands.

`tomllib` tells no positions and neither does tomlkit.  This walk may be short because it is only taken over text that
`tomllib` has accepted: it need not find errors, only places.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from intake.config.errors import Path

TOKEN: Final = re.compile(
    r"""
    (?P<space>[ \t\r]+|\#[^\n]*)
    | (?P<newline>\n)
    | (?P<mark>[\[\]{}=,.])
    | (?P<text>\"{3}(?:\\.|[^\\])*?\"{3,5} | '{3}.*?'{3,5} | "(?:\\.|[^"\\])*" | '[^']*' | [^\s\[\]{}=,.\#"']+)
    """,
    re.VERBOSE | re.DOTALL,
)
DEEPEST: Final = 16  # Our form nests three deep; what lies deeper has the line of what holds it.


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


def lines(text: str) -> Mapping[Path, int]:
    """The line, from 1, of each table, key and list element of valid TOML."""
    walk = _Walk(_tokens(text))
    walk.document()
    return walk.found


def line_of(path: Path, found: Mapping[Path, int]) -> int:
    """The line of a path, or of the nearest thing around it that stands in the file; 1 for the whole file."""
    while path and path not in found:
        path = path[:-1]
    return found.get(path, 1)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    line = 1
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind != "space":
            tokens.append(_Token(kind, match[0], line))
        line += match[0].count("\n")
    return [*tokens, _Token("newline", "\n", line)]


class _Walk:
    """A walk over the tokens, noting where things begin."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.found: dict[Path, int] = {}
        self.array_sizes: dict[Path, int] = {}

    def document(self) -> None:
        table: Path = ()
        while self.at < len(self.tokens):
            if self._skip("\n"):
                continue
            if self._peek() == "[":
                table = self._header()
            else:
                self._pair(table, depth=1)

    def _header(self) -> Path:
        """`[a.b]` or `[[a.b]]`; a part that names an array of tables means its last element."""
        line = self._next().line
        is_array = self._skip("[")
        keys = self._keys("]")
        self._skip("]")
        path: Path = ()
        for number, key in enumerate(keys, start=1):
            path = (*path, key)
            if is_array and number == len(keys):
                self.array_sizes[path] = self.array_sizes.get(path, 0) + 1
            if path in self.array_sizes:
                self.found.setdefault(path, line)
                path = (*path, self.array_sizes[path] - 1)
            self.found.setdefault(path, line)
        return path

    def _pair(self, table: Path, depth: int) -> None:
        """`key = value`, where the key may be dotted."""
        line = self.tokens[self.at].line
        path = table
        for key in self._keys("="):
            path = (*path, key)
            self.found.setdefault(path, line)
        self._value(path, depth)

    def _keys(self, end: str) -> list[str]:
        """The parts of a dotted key, up to and with the mark that ends it."""
        keys: list[str] = []
        while not self._skip(end):
            token = self._next()
            if token.kind == "text":
                keys.append(_key(token.text))
        return keys

    def _value(self, path: Path, depth: int) -> None:
        self.found.setdefault(path, self.tokens[self.at].line)
        if depth > DEEPEST or self._peek() not in {"[", "{"}:
            self._pass_over()
        elif self._next().text == "[":
            self._array(path, depth)
        else:
            self._inline_table(path, depth)

    def _array(self, path: Path, depth: int) -> None:
        index = 0
        while not self._skip("]"):
            if not self._skip("\n") and not self._skip(","):
                self._value((*path, index), depth + 1)
                index += 1

    def _inline_table(self, path: Path, depth: int) -> None:
        while not self._skip("}"):
            if not self._skip("\n") and not self._skip(","):
                self._pair(path, depth + 1)

    def _pass_over(self) -> None:
        """Stop before the mark that ends this value, whatever is nested in it."""
        open_marks = 0
        while open_marks or self._peek() not in {",", "]", "}", "\n"}:
            text = self._next().text
            open_marks += (text in {"[", "{"}) - (text in {"]", "}"})

    def _peek(self) -> str:
        return self.tokens[self.at].text

    def _next(self) -> _Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def _skip(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self.at += 1
        return True


def _key(text: str) -> str:
    return str(tomllib.loads(f"{text} = 0").popitem()[0]) if text[0] in "\"'" else text
