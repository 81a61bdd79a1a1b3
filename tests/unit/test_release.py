"""What the pages say of versions, licence and interpreters is what the package says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION = str(PROJECT["version"])
# https://semver.org/spec/v2.0.0.html, without build and pre-release parts, which no release of ours has had.
SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
PAGES = ("getting-started.md", "releasing.md", "upgrading.md")


def page(name: str) -> str:
    return (CHECKOUT / "docs" / name).read_text("utf-8")


def test_the_version_is_semantic() -> None:
    assert SEMVER.fullmatch(VERSION)


def test_the_newest_release_in_the_changelog_is_this_version() -> None:
    text = (CHECKOUT / "CHANGELOG.md").read_text("utf-8")
    first, *older = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    released = older if first == "Unreleased" else [first, *older]
    assert released[0] == VERSION
    assert released == sorted(released, key=lambda each: [int(part) for part in each.split(".")], reverse=True)


def test_the_pages_name_the_wheel_of_this_version() -> None:
    named = {wheel for name in PAGES for wheel in re.findall(r"lead_intake-[\w.-]+?\.whl", page(name))}
    assert named == {f"lead_intake-{VERSION}-py3-none-any.whl"}


def test_the_pages_name_the_interpreters_that_the_package_declares() -> None:
    declared = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={declared[0]}"
    for name in ("getting-started.md", "releasing.md"):
        assert f"{declared[0]} to {declared[-1]}" in page(name), name


def test_the_licence_is_the_one_in_the_file() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License" in (CHECKOUT / "LICENSE").read_text("utf-8")[:200]
    assert f"licence is {PROJECT['license']}" in page("releasing.md")
