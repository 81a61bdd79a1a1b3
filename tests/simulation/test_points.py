"""The list of boundaries is what the code names: none is forgotten, and none is made up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

from crm_clients.base import Kind
from tests.lab import Lab
from tests.simulation.talk import talk
from workers import fetch
from workers.prove import place
from workers.prove.commits import BEFORE
from workers.prove.matrix import ENDS_ONLY, Run
from workers.prove.named_commits import COMMITS, Unnamed
from workers.prove.play import Theatre
from workers.prove.points import ELSEWHERE, LOOK, POINTS, TRANSPORT, UPDATES, WRITES, Trail

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"""\.(?:at|reach)\(\s*f?"((?!spool\.)[^"]+)"\s*\)""")
VARIABLES = {"{record.kind}": tuple(Kind), "{writing.boundary}": (*Kind, *UPDATES)}


def named() -> Iterator[str]:
    """The boundaries that the code names, each with what its variables may be."""
    for folder in ("workers", "crm_clients", "intake"):
        for file in (ROOT / folder).rglob("*.py"):
            for name in NAMED.findall(file.read_text("utf-8")):
                variable = next((each for each in VARIABLES if each in name), None)
                yield from (name.replace(variable, value) for value in VARIABLES[variable]) if variable else (name,)


def test_every_boundary_that_the_code_names_is_listed_and_no_other() -> None:
    found = set(named())
    of_requests = {f"{stem}.{name}" for stem in (*WRITES, LOOK) for name in found & set(TRANSPORT)}
    assert found >= set(TRANSPORT)
    assert (found - set(TRANSPORT)) | of_requests == POINTS.keys() - ENDS_ONLY


def defined(function: str) -> bool:
    """Whether there is a function of this name: a module's last part, and its name there."""
    module, _, name = function.partition(".")
    return any(
        name.rpartition(".")[2]
        in {node.name for node in ast.walk(ast.parse(file.read_text("utf-8"))) if is_function(node)}
        for folder in ("workers", "intake")
        for file in (ROOT / folder).rglob(f"{module}.py")
    )


def is_function(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef)


def committing(tree: ast.AST, within: str) -> Iterator[str]:
    """The functions in which a transaction is opened, by their names in a module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from committing(node, f"{within}{node.name}.")
        elif is_function(node) and "transaction(" in ast.unparse(node):
            yield f"{within}{node.name}"


def test_every_function_that_opens_a_transaction_is_listed() -> None:
    found = {
        name
        for folder in ("workers", "intake")
        for file in (ROOT / folder).rglob("*.py")
        if "prove" not in file.parts and file.name != "db.py"
        for name in committing(ast.parse(file.read_text("utf-8")), f"{file.stem}.")
    }
    assert found - COMMITS.keys() == set()


@pytest.mark.parametrize("function", sorted(COMMITS.keys() - {"spool.append", "spool.retire"}))
def test_every_commit_that_is_listed_is_a_function_s(function: str) -> None:
    assert defined(function)


def test_a_commit_without_a_name_is_noticed() -> None:
    with pytest.raises(Unnamed):
        Trail().add(f"deliveries.invented.{BEFORE}")


# A note, an update, and a doubt about each kind of record, so that each kind is looked at.
OBSERVED = (
    Run("whatsapp", ("note.committed",), ("no_effect_no_answer",), "stored"),
    Run("whatsapp", ("contact.committed",), ("no_effect_no_answer",), "stored"),
    Run("quote", ("opportunity.update.committed",), ("no_effect_no_answer",), "stored"),
    Run("form", ("task.committed",), ("no_effect_no_answer",), "stored"),
    Run("moved", ("contact.update.committed",), ("no_effect_no_answer",), "stored"),
    Run("quote", ("opportunity.update.committed",), ("error_with_effect",), "weak"),
    Run("spooled", (), (), "stored"),
    Run("settled", (), (), "stored"),
    Run("settled", ("opportunity.committed",), ("no_effect_no_answer",), "weak"),
)


@pytest.fixture
def theatre(empty_database_url: str) -> Theatre:
    place.prepare(empty_database_url)
    return Theatre(empty_database_url, seed=1)


def test_every_listed_boundary_is_passed_by_some_work(theatre: Theatre) -> None:
    passed = {point for played in theatre.play(OBSERVED) for point in played.trail}
    assert passed == POINTS.keys() - ELSEWHERE


def test_a_form_passes_no_boundary_of_notes_or_versions(theatre: Theatre) -> None:
    (trail,) = theatre.trails(["form"], ["stored"]).values()
    assert all({"opener", "any"} & set(POINTS[point].passed_by) for point in trail)


def test_a_fetch_passes_its_own_boundary(database_url: str, tmp_path: Path) -> None:
    passed: list[str] = []
    with talk(database_url, tmp_path) as made:
        made.add_file("9001")
        made.voice()
        lab: Lab = made.lab
        while fetch.fetch_due(lab.other_desk(at=passed.append)):
            pass
    assert set(passed) == {"fetch.read"}
