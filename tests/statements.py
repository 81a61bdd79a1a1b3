"""The SQL that stands in constants of the code, so that a later schema can be tried with an earlier version's.

python -m tests.statements [CHECKOUT]  > tests/integration/statements-0.1.0.json
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("intake", "workers")
# The proofs and the demo have databases of their own.
APART = ("workers/prove", "workers/demo")
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|LOCK)\s", re.IGNORECASE)


def of(checkout: Path) -> dict[str, str]:
    """Each whole statement, by "file:NAME"; what is put together when it is run is left out."""
    files = (file for package in PACKAGES for file in sorted((checkout / package).rglob("*.py")))
    return dict(found for file in files for found in _constants(file.relative_to(checkout), file.read_text("utf-8")))


def _constants(name: Path, text: str) -> Iterator[tuple[str, str]]:
    if str(name).startswith(APART):
        return
    for node in ast.parse(text).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=constant)], value=ast.Constant(value=str(sql))):
                pass
            case ast.AnnAssign(target=ast.Name(id=constant), value=ast.Constant(value=str(sql))):
                pass
            case _:
                continue
        if constant.isupper() and STATEMENT.match(sql) and "{" not in sql:
            yield f"{name}:{constant}", sql


if __name__ == "__main__":
    json.dump(of(Path(*sys.argv[1:2])), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
