"""The deliberate bugs still have their places: a list that rots finds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutations import MUTATIONS, Mutation

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.name)
def test_a_deliberate_bug_has_one_place_and_tests_that_are_to_find_it(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text("utf-8")
    assert text.count(mutation.old) == 1
    compile(text.replace(mutation.old, mutation.new), mutation.file, "exec")
    assert all((ROOT / each).is_file() for each in mutation.tests)
    file, guard = mutation.without or (mutation.file, mutation.old)
    assert (ROOT / file).read_text("utf-8").count(guard) == 1


def test_their_names_are_their_own() -> None:
    assert len({each.name for each in MUTATIONS}) == len(MUTATIONS)
