"""`docs/reference/` says what the code says."""

from __future__ import annotations

import pytest

from tests.reference.pages import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    file = FOLDER / name
    same = file.exists() and file.read_text("utf-8") == PAGES[name]()
    assert same, f"docs/reference/{name} is out of date: run bin/reference, and commit it"


def test_the_reference_has_no_other_pages() -> None:
    assert {each.name for each in FOLDER.iterdir()} == set(PAGES)
