"""The oracle shares no code with what it judges."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import crm_clients.sandbox

FOLDER = Path(next(iter(crm_clients.sandbox.__path__)))
CLIENT_SIDE = {"client.py", "drafts.py", "sightings.py"}
SERVER_SIDE = sorted(path.name for path in FOLDER.glob("*.py") if path.name not in CLIENT_SIDE)


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module)):
                names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("name", SERVER_SIDE)
def test_the_server_imports_nothing_of_the_pipeline(name: str) -> None:
    ours = {one for one in imported(FOLDER / name) if one.split(".")[0] in {"intake", "workers", "crm_clients"}}
    foreign = {one for one in ours if one != "crm_clients.sandbox" and not one.startswith("crm_clients.sandbox.")}
    client = {one for one in ours if f"{one.rpartition('.')[2]}.py" in CLIENT_SIDE}
    assert foreign | client == set()
