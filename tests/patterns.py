"""Every regular expression of the product, and by which methods of `re` it is used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGES = ("intake", "workers", "crm_clients")
METHODS = frozenset({"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
# Where a pattern is handed to somebody else, both kinds of use are thought of.
ANY_USE = frozenset({"search", "fullmatch"})
ASSIGNED = (ast.Assign, ast.AnnAssign)


@dataclass(frozen=True, slots=True, order=True)
class Use:
    """One way in which a pattern is used."""

    module: str
    # The constant's name, or the source of the first argument.
    name: str
    method: str
    # None: it is put together while the program runs.
    pattern: str | None
    flags: int


@cache
def every_use() -> tuple[Use, ...]:
    """All of the product's."""
    texts = {file: file.read_text("utf-8") for name in PACKAGES for file in (CHECKOUT / name).rglob("*.py")}
    found: set[Use] = set()
    for file, text in texts.items():
        if "\nimport re\n" in text or ".Regexp(" in text:
            tree = ast.parse(text)
            nodes = list(ast.walk(tree))
            found |= {*constants(file, nodes, texts), *calls(module_of(file), tree, nodes)}
    return tuple(sorted(found, key=str))


def module_of(file: Path) -> str:
    parts = file.relative_to(CHECKOUT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# --- constants --------------------------------------------------------------------------------------------------------


def constants(file: Path, nodes: list[ast.AST], texts: Mapping[Path, str]) -> Iterator[Use]:
    """Patterns that are compiled when their module is imported."""
    module = module_of(file)
    for name, value in vars(import_module(module)).items():
        if isinstance(value, re.Pattern) and re.search(rf"^{name}\b[^=\n]*= re\.compile", texts[file], re.MULTILINE):
            text, flags = text_of(value)
            methods = methods_in(nodes, name) | (ANY_USE if is_known(name, file, texts) else set())
            yield from (Use(module, name, method, text, flags) for method in methods or ANY_USE)


def text_of(value: re.Pattern[str] | re.Pattern[bytes]) -> tuple[str, int]:
    if isinstance(value.pattern, str):
        return value.pattern, value.flags
    return value.pattern.decode("latin-1"), value.flags | re.ASCII


def is_known(name: str, file: Path, texts: Mapping[Path, str]) -> bool:
    """Whether another module may use it, too."""
    words = re.compile(rf"\b{file.stem}\.{name}\b|\b{file.stem} import [^\n]*\b{name}\b")
    return any(words.search(text) for other, text in texts.items() if other != file and name in text)


def methods_in(nodes: list[ast.AST], name: str) -> set[str]:
    """The methods that are called of it; where it is handed on, any."""
    owners = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            method = owners.get(id(node), "")
            found |= {method} if method in METHODS else set() if method == "pattern" else ANY_USE
    return found


# --- calls ------------------------------------------------------------------------------------------------------------


def calls(module: str, tree: ast.Module, nodes: list[ast.AST]) -> Iterator[Use]:
    """Patterns that stand where they are used.  What is compiled at the import is among the constants."""
    at_import = {id(node) for statement in tree.body if isinstance(statement, ASSIGNED) for node in ast.walk(statement)}
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="compile"), args=[first, *_]):
                methods = frozenset() if id(node) in at_import else ANY_USE
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method), args=[first, *_]):
                methods = METHODS & {method}
            case ast.Call(func=ast.Attribute(attr="Regexp"), args=[first, *_]):
                methods = frozenset({"match"})
            case _:
                continue
        yield from (Use(module, ast.unparse(first), method, *written(first, node)) for method in methods)


def written(first: ast.expr, node: ast.Call) -> tuple[str | None, int]:
    """The pattern as it stands there, with its flags."""
    flags = 0
    for below in ast.walk(node):
        if isinstance(below, ast.Attribute) and below.attr in re.RegexFlag.__members__:
            flags |= re.RegexFlag[below.attr]
    match first:
        case ast.Constant(value=str(text)):
            return text, flags
        case ast.Constant(value=bytes(raw)):
            return raw.decode("latin-1"), flags | re.ASCII
        case _:
            return None, flags
