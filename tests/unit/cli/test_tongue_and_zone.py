"""Commands answer in the language that is asked for, with times where the company is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from intake.cli import output, place
from intake.cli.arguments import Moment, speaking
from tests.doorway import CONFIG, ENVIRON, FORM
from workers.main import group

NOON = datetime(2025, 11, 30, 17, 0, tzinfo=UTC)


@click.command()
@click.option("--since", type=Moment(), default=None)
@speaking
def probe(*, since: datetime | None) -> None:
    click.echo(f"{place.language()} {output.moment(NOON)} {since.isoformat() if since else ''}".strip())


@pytest.fixture(params=["Pacific/Auckland", "UTC"])
def environ(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """A host in one zone, a company in another."""
    file = tmp_path / "intake.toml"
    intake = '[intake]\ntimezone = "America/Lima"\nlanguage = "es"'
    file.write_text(CONFIG.replace("[intake]", intake) + f'[[sources]]\nname = "web"\n{FORM}', "utf-8")
    return {**ENVIRON, "INTAKE_CONFIG": str(file), "INTAKE_HOME": str(tmp_path), "TZ": str(request.param)}


def said(environ: dict[str, str], *words: str) -> str:
    done = CliRunner().invoke(probe, words, env=environ)
    assert done.exception is None
    return done.stdout.strip()


def test_a_time_is_told_where_the_company_is(environ: dict[str, str]) -> None:
    assert said(environ) == "es 2025-11-30 12:00"


def test_a_time_without_a_zone_is_where_the_company_is(environ: dict[str, str]) -> None:
    assert said(environ, "--since", "2025-11-30T12:00").endswith("2025-11-30T17:00:00+00:00")


def test_a_command_answers_in_the_language_that_is_asked_for(environ: dict[str, str]) -> None:
    assert said(environ, "--lang", "en").startswith("en ")


def commands(of: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command below a group, by its words."""
    if not isinstance(of, click.Group):
        yield " ".join(words), of
        return
    context = click.Context(of)
    for name in of.list_commands(context):
        found = of.get_command(context, name)
        if found is not None:
            yield from commands(found, (*words, name))


def test_every_decision_can_be_told_in_either_language() -> None:
    options = {words: {option for each in found.params for option in each.opts} for words, found in commands(group())}
    deciding = {words for words, names in options.items() if {"--by", "--reason"} <= names}
    assert len(deciding) > 12
    assert {words for words in deciding if "--lang" not in options[words]} == set()
