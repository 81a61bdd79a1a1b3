"""Each CRM's page: its example is an `intake.toml` that works, and no option is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crm_clients.registry import CLIENTS, BadSetting, build
from intake.config import load

FOLDER = Path(__file__).parents[3] / "docs" / "crm"
PAGES = [page for page in sorted(FOLDER.glob("*.md")) if page.stem in CLIENTS]
EXAMPLE = re.compile(r"^```toml\n(.*?)^```$", re.DOTALL | re.MULTILINE)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


@each_page
def test_the_example_of_a_page_builds_its_client(page: Path, tmp_path: Path) -> None:
    file = tmp_path / "intake.toml"
    file.write_text("\n".join(EXAMPLE.findall(page.read_text("utf-8"))), "utf-8")
    settings = load(file, {}, may_be_sourceless=True)
    named = [each for each in settings.destinations.values() if each.client == page.stem]
    assert named
    assert all(build(each.client, each.options).name == page.stem for each in named)


@each_page
def test_a_page_explains_every_option(page: Path) -> None:
    with pytest.raises(BadSetting) as refusal:
        build(page.stem, {"nothing_of_it": "x"})
    _, _, known = str(refusal.value).partition("there are: ")
    missing = [option for option in known.split(", ") if f"`{option}`" not in page.read_text("utf-8")]
    assert not missing
