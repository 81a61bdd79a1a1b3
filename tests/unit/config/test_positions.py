"""The walk finds the line of everything that a complaint can be about."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from intake.config.errors import Path, dotted
from intake.config.positions import line_of, lines

TEXT = '''# a comment with [brackets] and "quotes
a.b = 1            # the rest

"quoted.key" = "x # no comment" # = [
[table]
text = """
[not.a.table]
key = "no key"
"""
literal = \'\'\'
x = 1\'\'\'
list = [
  "one", # ]
  "two",
  { three = 3, four = [
    5 ] },
]
when = 1979-05-27T07:32:00.5
[[many]]
name = "first"
[many.below]
x = 1
[[many]]
[many.below]
x = 2
[[many.more]]
y = { z.w = 3 }
'''


def test_every_place_has_its_line() -> None:
    assert {dotted(path): line for path, line in lines(TEXT).items()} == {
        "a": 2,
        "a.b": 2,
        "quoted.key": 4,
        "table": 5,
        "table.text": 6,
        "table.literal": 10,
        "table.list": 12,
        "table.list[0]": 13,
        "table.list[1]": 14,
        "table.list[2]": 15,
        "table.list[2].three": 15,
        "table.list[2].four": 15,
        "table.list[2].four[0]": 16,
        "table.when": 18,
        "many": 19,
        "many[0]": 19,
        "many[0].name": 20,
        "many[0].below": 21,
        "many[0].below.x": 22,
        "many[1]": 23,
        "many[1].below": 24,
        "many[1].below.x": 25,
        "many[1].more": 26,
        "many[1].more[0]": 26,
        "many[1].more[0].y": 27,
        "many[1].more[0].y.z": 27,
        "many[1].more[0].y.z.w": 27,
    }


def test_nearest_place_around_serves_for_what_is_not_there() -> None:
    assert line_of(("many", 0, "missing", "deep"), lines(TEXT)) == 19


def test_whole_file_is_its_first_line() -> None:
    assert line_of((), lines(TEXT)) == 1


def test_deep_nesting_is_passed_over() -> None:
    text = "a = " + "[" * 60 + "]" * 60 + "\nb = 1\n"
    assert lines(text)["b",] == 2


def places(value: object, path: Path = ()) -> Iterator[Path]:
    """All paths that `tomllib` sees."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, below in value.items():
            yield from places(below, (*path, key))
    if isinstance(value, list):
        for index, below in enumerate(value):
            yield from places(below, (*path, index))


# Pieces that are mostly whole lines, so that many texts made of them are valid.
PIECES = st.sampled_from([
    "[t]\n", "[[s]]\n", "[s.t]\n", "[[s.u]]\n", "a = 1\n", 'b = "x]"\n', "c.d = [1, [2], {e = 3}]\n", "\n", "# [x]\n",
    'f = """\n"" [g]\n"""\n', "'h i' = '''\\'''\n", '"\\u006a" = {}\n', "k = [\n# ]\n1,\n]\n", 'l = """"""\n',
    'm = """x"""""\n', "n = -inf\n", "o = 1e+5\n", "p = 1979-05-27 07:32:00.25-05:00\n", "3.4 = true\n",
])  # fmt: skip


@given(st.lists(PIECES, max_size=12, unique=True).map("".join))
def test_walk_sees_the_places_that_the_parser_sees(text: str) -> None:
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(lines(text)) == set(places(parsed))
