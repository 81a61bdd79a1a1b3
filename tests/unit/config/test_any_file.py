"""Whatever stands in the file, it is loaded or refused; nothing else happens."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from intake.config import ConfigError, load

KEYS = [
    "name",
    "kind",
    "provider",
    "secrets",
    "fields",
    "owner",
    "task",
    "_schema",
    "region",
    "holidays",
    "hold",
    "dedupe",
]
VALUES = ["1", "-0.0", "nan", "true", '""', '"\\u0000"', '"form"', '"generic"', "[]", '["env:A"]', "[[1], {}]",
          "{}", "{a = {}}", "2026-12-25", "07:32:00", "9999-12-31T23:59:59Z",
          '"{contact}"', '"https://["', '"//:@"']  # fmt: skip
HEADERS = ["[intake]", "[[destinations]]", "[destinations.owner]", "[destinations.fields]", "[defaults]",
           "[[sources]]", "[sources]", "[sources.fields]", "[[intake]]", "[_schema]"]  # fmt: skip
LINES = st.one_of(
    st.sampled_from(HEADERS),
    st.builds("{} = {}".format, st.sampled_from(KEYS), st.sampled_from(VALUES)),
)


def loads_or_refuses(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "intake.toml"
        path.write_bytes(content)
        try:
            load(path, {})
        except ConfigError as refused:
            assert all(problem.rule for problem in refused.problems)  # noqa: PT017 - it need not be raised


@given(st.binary())
@example(b"\xef\xbb\xbf")
@example(b"a = 0001-01-01T00:00:00+23:59")
@example(b"a = 2026-02-30")
@example(b"a = '\r'")
def test_any_bytes(content: bytes) -> None:
    loads_or_refuses(content)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_any_lines_of_the_form(text: str) -> None:
    loads_or_refuses(text.encode())
