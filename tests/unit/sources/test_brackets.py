"""PHP's bracketed names become what they say, and nothing is dropped on the way."""

from __future__ import annotations

import pytest

from intake.sources.brackets import nested
from intake.sources.decoding import Json


@pytest.mark.parametrize(
    ("flat", "said"),
    [
        ({"a": "1"}, {"a": "1"}),
        ({"names[first_name]": "Ana"}, {"names": {"first_name": "Ana"}}),
        ({"s[0]": "x", "s[1]": "y"}, {"s": ["x", "y"]}),
        ({"s[]": ["x", "y"]}, {"s": ["x", "y"]}),
        ({"s[]": "x"}, {"s": ["x"]}),
        ({"f[a][title]": "t", "f[a][value]": "v"}, {"f": {"a": {"title": "t", "value": "v"}}}),
    ],
)
def test_brackets_nest(flat: dict[str, Json], said: dict[str, Json]) -> None:
    assert nested(flat) == said


@pytest.mark.parametrize("name", ["a[", "a]", "[a]", "a[b]c", "a" + "[b]" * 9])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert nested({name: "1"}) == {name: "1"}


def test_names_at_odds_stay_flat() -> None:
    assert nested({"a": "1", "a[b]": "2"}) == {"a": "1", "a[b]": "2"}
