"""A table of what came before goes through the same identity, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from intake.history import Untabular, rows_of
from tests.commands import Said, intake
from tests.doorway import ENVIRON, Doorway, doorway

CSV = """\
Entry Id;Fecha;Nombre;Correo;Mensaje
7;2026-03-01T10:00;Ana Prueba;ana@example.com;Hola
8;2026-03-02T11:30;Luis Ñandú;luis@example.com;"Una; otra
línea"
9;;;;
"""


@pytest.fixture
def door(database_url: str, tmp_path: Path) -> Iterator[Doorway]:
    with doorway(database_url, tmp_path) as made:
        yield made


@pytest.fixture
def environ(door: Doorway, tmp_path: Path) -> Mapping[str, str]:
    home = {"INTAKE_HOME": str(tmp_path / "home"), "INTAKE_CONFIG": str(tmp_path / "intake.toml")}
    return {**ENVIRON, **home, "DATABASE_URL": door.database_url}


def imported(environ: Mapping[str, str], folder: Path, *options: str, text: str = CSV, source: str = "web") -> Said:
    file = folder / "history.csv"
    file.write_bytes(text.encode("cp1252"))
    return intake(environ, "import", file, source, *options, "--json")


NAMED = ("--id", "Entry Id", "--time", "Fecha", "--column", "name=Nombre", "--column", "email=Correo")


def test_each_row_is_an_event_and_the_same_file_changes_nothing(
    door: Doorway, environ: Mapping[str, str], tmp_path: Path
) -> None:
    first = imported(environ, tmp_path, *NAMED)
    assert (first.status, first.document) == (0, {"rows": 3, "events": 2, "known": 0, "empty": 1, "failed": 0})
    assert imported(environ, tmp_path, *NAMED).document["known"] == 2
    rows = door.rows("SELECT request_id, occurred_at::date::text AS day FROM events ORDER BY request_id")
    assert [tuple(row.values()) for row in rows] == [("7", "2026-03-01"), ("8", "2026-03-02")]
    assert (door.count("deliveries"), door.count("items")) == (2, 0)


def test_what_was_delivered_under_its_id_is_known_and_no_conflict(
    door: Doorway, environ: Mapping[str, str], tmp_path: Path
) -> None:
    door.form(delivery_id="7")
    assert imported(environ, tmp_path, *NAMED).document["events"] == 1
    assert (door.count("events"), door.count("items")) == (2, 0)


def test_rows_without_an_id_are_known_by_their_answers(
    door: Doorway, environ: Mapping[str, str], tmp_path: Path
) -> None:
    columns = ("--column", "name=Nombre", "--column", "email=Correo")
    assert imported(environ, tmp_path, *columns).document["events"] == 2
    door.pass_time(timedelta(days=1))
    assert imported(environ, tmp_path, *columns).document["events"] == 0
    assert door.count("deliveries") == 2


def test_tests_go_where_tests_go(door: Doorway, environ: Mapping[str, str], tmp_path: Path) -> None:
    imported(environ, tmp_path, *NAMED, "--test")
    assert {row["destination"] for row in door.rows("SELECT destination FROM deliveries")} == {"playground"}


@pytest.mark.parametrize(
    ("options", "source", "status"),
    [
        (("--id", "Nope"), "web", 1),
        (("--column", "name"), "web", 2),
        (("--column", "nope=Nombre"), "web", 2),
        ((), "quotes", 2),
        ((), "nobody", 2),
    ],
)
def test_what_cannot_be_meant_is_told(
    environ: Mapping[str, str], tmp_path: Path, options: tuple[str, ...], source: str, status: int
) -> None:
    assert imported(environ, tmp_path, *options, source=source).status == status


@pytest.mark.parametrize("text", ["", "a,a\n1,2\n", "a,\n1,2\n", "a,b\n1,2,3\n", 'a,b\n"' + "x" * 200_000])
def test_a_file_that_is_no_table_is_told(text: str) -> None:
    with pytest.raises(Untabular):
        rows_of(text.encode())


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_usual_delimiter_is_read(delimiter: str) -> None:
    rows, names = rows_of(f"\ufeffa{delimiter}b\r\n1{delimiter}2\r\n".encode())
    assert (rows, names) == ([{"a": "1", "b": "2"}], ["a", "b"])
