"""Which variables of the environment the product reads, and with what default: read from its code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tests.reference.answered import CHECKOUT

FOLDERS: Final = ("crm_clients", "intake", "workers")
# What a mapping of the environment is called; a WSGI request has one of that name, too.
ENVIRONMENTS: Final = frozenset({"environ", "environment", "os_environ"})
WSGI: Final = frozenset({"PATH_INFO", "REQUEST_METHOD", "werkzeug.socket"})
# The methods of the reader in intake/config/process.py.
READERS: Final = frozenset({"text", "number", "optional_number"})


@dataclass(frozen=True, slots=True)
class Read:
    """One place that reads `name`; `default` None: it has none, or none that is written there."""

    name: str
    default: str | None = None


@cache
def reads() -> Mapping[str, frozenset[str]]:
    """By name, the defaults that the code has for it."""
    modules = {file: ast.parse(file.read_text("utf-8")) for file in _files()}
    constants = {file.stem: _constants(module) for file, module in modules.items()}
    found: dict[str, frozenset[str]] = {}
    for file, module in modules.items():
        for read in _Module(file.stem, constants).reads(module):
            if read.name not in WSGI:
                found[read.name] = found.get(read.name, frozenset()) | ({read.default} if read.default else set())
    return found


def _files() -> list[Path]:
    return [file for folder in FOLDERS for file in sorted((CHECKOUT / folder).rglob("*.py"))]


def _constants(module: ast.Module) -> dict[str, str]:
    """The texts that stand under a name at the top of a module."""
    found = {}
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))):
                found[name] = text
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(text))):
                found[name] = text
    return found


@dataclass(frozen=True, slots=True)
class _Module:
    """`constants`: by module, its texts; a name that is not its own is looked for where it is imported from."""

    stem: str
    constants: Mapping[str, Mapping[str, str]]

    def reads(self, module: ast.Module) -> Iterator[Read]:
        for node in ast.walk(module):
            match node:
                case ast.BoolOp(op=ast.Or(), values=[first, ast.Constant(value=default), *_]):
                    yield from (Read(each.name, str(default)) for each in self._read(first))
                case ast.expr():
                    yield from self._read(node)
                case ast.keyword(arg="envvar", value=value):
                    yield from self._named(value)

    def _read(self, node: ast.expr) -> Iterator[Read]:
        match node:
            case ast.Call(func=ast.Attribute(value=of, attr="get"), args=[name, *default]) if _is_environment(of):
                yield from self._named(name, *default)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="read"), attr=method), args=[name, *rest]):
                if method in READERS:
                    yield from self._named(name, *(rest[:1] if method == "number" else ()))
            case ast.Subscript(value=of, slice=name, ctx=ast.Load()) if _is_environment(of):
                yield from self._named(name)
            case ast.Compare(left=name, ops=[ast.In() | ast.NotIn()], comparators=[of]) if _is_environment(of):
                yield from self._named(name)

    def _named(self, name: ast.expr, default: ast.expr | None = None) -> Iterator[Read]:
        """A name that is only known while the program runs is the configuration's (`env:NAME`), or a whole copy's."""
        text = self._text(name)
        if text is not None:
            yield Read(text, str(default.value) if isinstance(default, ast.Constant) else None)

    def _text(self, name: ast.expr) -> str | None:
        match name:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=word):
                own = self.constants[self.stem].get(word)
                return own or next((each[word] for each in self.constants.values() if word in each), None)
            case ast.Attribute(value=ast.Name(id=module), attr=word):
                return self.constants.get(module, {}).get(word)
        return None


def _is_environment(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in ENVIRONMENTS
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in ENVIRONMENTS
    return False
