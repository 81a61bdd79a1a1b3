"""What the code compares, decodes and connects to, read off its syntax."""

from __future__ import annotations

import ast
import re
from functools import cache

from tests.patterns import CHECKOUT, PACKAGES, module_of

SECRET = re.compile(r"secret|token|signature|digest|hmac|\bmac\b|password|csrf|credential|hash", re.IGNORECASE)
# Reviewed: named so, and nobody's secret.
NO_SECRET = {
    "len(problems) == len(secrets)",
    "stored.request_hash == digest",  # what an API call asked for, beside what its Idempotency-Key stood for before
    "stored.request_hash != digest",
    "tokens.base != host",
}
# Reviewed: they decode what this installation has written itself.
OUR_OWN = {
    "crm_clients.generic.templates",
    "intake.api.reading",
    "intake.browsers",
    "intake.forgetting.ledger",
    "intake.app",
    "intake.attempts",
    "intake.kept",
    "workers.desk_reads",
    "workers.look",
    "workers.up",
    "workers.update",
}
# They decode what they have started themselves, or a person at the keyboard.
PROGRAMS = ("workers.prove", "workers.demo", "workers.commands", "crm_clients.sandbox", "intake.cli")
# Reviewed: who may open a connection, and to what.
CONNECTING = {
    "crm_clients.connection",  # the transport's, to the hosts of accounts and no other
    "crm_clients.transport",
    "crm_clients.sandbox",  # to the sandbox's own dials
    "intake.client",  # a site's backend, to its intake
    "intake.cli.sending",  # `intake send`, to this installation
    "workers.demo",
    "workers.prove",
    "workers.messengers",  # to the operator's SMTP server
    "workers.up",  # to its own children
}
CONNECTS = re.compile(
    r"^\s*(?:import|from) (?:requests|urllib\.request|urllib3|http\.client|smtplib|ftplib|httpx|aiohttp)\b"
    r"|create_connection\(|\.connect\(\(",
    re.MULTILINE,
)


@cache
def texts() -> dict[str, str]:
    files = (file for package in PACKAGES for file in (CHECKOUT / package).rglob("*.py"))
    return {module_of(file): file.read_text("utf-8") for file in files}


def modules_with(words: str) -> dict[str, ast.Module]:
    """Those in which this stands, parsed."""
    wanted = re.compile(words, re.IGNORECASE)
    return {module: ast.parse(text) for module, text in texts().items() if wanted.search(text)}


# --- secrets ---------------------------------------------------------------------------------------------------------


def compared(node: ast.AST) -> str | None:
    """The comparison of two values of which one is named like a secret."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return None
    sides = [node.left, *node.comparators]
    if any(isinstance(side, ast.Constant | ast.Tuple | ast.Set) for side in sides):
        return None
    return ast.unparse(node) if any(SECRET.search(ast.unparse(side)) for side in sides) else None


def test_no_secret_is_compared_but_in_constant_time() -> None:
    trees = modules_with(rf"(?:{SECRET.pattern})[^\n]*[!=]=|[!=]=[^\n]*(?:{SECRET.pattern})")
    nodes = (node for tree in trees.values() for node in ast.walk(tree))
    assert {text for node in nodes if (text := compared(node))} == NO_SECRET


def test_only_bytes_are_compared_in_constant_time() -> None:
    """`compare_digest` raises for text that is not ASCII, and anybody may send that."""
    calls = [
        (ast.unparse(call), all(is_bytes(argument, function) for argument in call.args))
        for tree in modules_with("compare_digest").values()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("compare_digest")
    ]
    assert [call for call, is_sound in calls if not is_sound] == []
    assert len(calls) > 3


def is_bytes(argument: ast.expr, function: ast.FunctionDef) -> bool:
    """Whether it is encoded here, or a parameter or a variable that is."""
    match argument:
        case ast.Call(func=ast.Attribute(attr="encode" | "digest")):
            return True
        case ast.Name(id=name):
            declared = {each.arg: ast.unparse(each.annotation) for each in function.args.args if each.annotation}
            assigned = [
                is_bytes(node.value, function)
                for node in ast.walk(function)
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
            ]
            return declared.get(name) == "bytes" or (bool(assigned) and all(assigned))
        case _:
            return False


# --- JSON that is nested too deep -------------------------------------------------------------------------------------


def test_whoever_decodes_what_others_wrote_thinks_of_deep_nesting() -> None:
    careless = {
        module
        for module, tree in modules_with(r"json\.loads?\(|get_json\(").items()
        if sum(is_decoding(node) for node in ast.walk(tree)) > sum(map(careful, ast.walk(tree)))
    }
    assert {module for module in careless if not module.startswith(PROGRAMS)} == OUR_OWN


def is_decoding(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in {"json.loads", "json.load", "request.get_json"}


def careful(node: ast.AST) -> int:
    """How many decodings stand in this `try`, which catches what deep nesting raises."""
    if not isinstance(node, ast.Try) or not any("RecursionError" in ast.unparse(each) for each in node.handlers):
        return 0
    return sum(is_decoding(below) for statement in node.body for below in ast.walk(statement))


# --- connections ------------------------------------------------------------------------------------------------------


def test_nobody_else_opens_a_connection() -> None:
    """An address in a payload leads nowhere by another way than the transport, which knows the account's host."""
    found = {module for module, text in texts().items() if CONNECTS.search(text)}
    assert {module for module in found if not module.startswith(tuple(CONNECTING))} == set()
