"""What the running processes have is what counts; where the shell of a command has something else, that is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from intake import heartbeats, missing_secrets
from intake.heartbeats import ProcessKind
from tests.commands import Json, beside, intake, listed
from tests.lab import Lab, lab


@pytest.fixture
def stored(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as made:
        yield made


@pytest.fixture
def environ(stored: Lab, tmp_path: Path, redis_url: str) -> Mapping[str, str]:
    return {**beside(stored, tmp_path), "REDIS_URL": redis_url}


def beat(lab: Lab, process: ProcessKind, missing: Sequence[str] | None, *, name: str = "one") -> None:
    with lab.pool.connection() as conn:
        heartbeats.beat(conn, process=process, name=name, missing=missing)


def check(environ: Mapping[str, str], what: str) -> list[tuple[object, str]]:
    """Verdict and detail of the lines about something."""
    lines = listed(intake(environ, "check", "--json").document, "checks")
    return [(line["verdict"], str(line["detail"])) for line in lines if line["what"] == what]


def source(environ: Mapping[str, str], name: str = "web") -> Json:
    found = listed(intake(environ, "sources", "--json").document, "sources")
    return next(each for each in found if each["name"] == name)


def test_a_secret_that_only_this_shell_lacks_closes_nothing(stored: Lab, environ: Mapping[str, str]) -> None:
    beat(stored, "web", [])
    without = {**environ, "WEB_SECRET": ""}
    assert check(without, "notice") == []
    assert check(without, "source web") == [
        ("ok", "the running web processes have env:WEB_SECRET; this shell lacks it")
    ]
    assert (source(without)["status"], len(str(source(without)["differences"])) > 2) == ("open", True)


def test_a_secret_that_the_processes_lack_closes_the_source_though_this_shell_has_it(
    stored: Lab, environ: Mapping[str, str]
) -> None:
    beat(stored, "web", ["source web: env:WEB_SECRET"])
    assert check(environ, "source web") == [
        ("fail", "the running web processes lack env:WEB_SECRET; this shell has it")
    ]
    assert source(environ)["status"] == "closed"


def test_one_process_of_several_that_lacks_it_is_told(stored: Lab, environ: Mapping[str, str]) -> None:
    beat(stored, "web", [], name="one")
    beat(stored, "web", ["source web: env:WEB_SECRET"], name="two")
    assert [verdict for verdict, _ in check(environ, "source web")] == ["fail"]


def test_processes_that_do_not_say_leave_it_to_the_shell(stored: Lab, environ: Mapping[str, str]) -> None:
    beat(stored, "web", None)
    without = {**environ, "WEB_SECRET": ""}
    assert [verdict for verdict, _ in check(without, "notice")] == ["warn"]
    assert source(without)["status"] == "closed"


def test_a_process_that_died_says_nothing_any_more(stored: Lab, environ: Mapping[str, str]) -> None:
    beat(stored, "web", ["source web: env:WEB_SECRET"])
    with stored.pool.connection() as conn:
        conn.execute("UPDATE heartbeats SET at = at - interval '1 minute'")
    assert source(environ)["status"] == "open"


def test_an_explanation_judges_by_the_workers_and_tells_where_the_shell_differs(
    stored: Lab, environ: Mapping[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "intake.toml"
    file.write_text(file.read_text().replace('name = "crm"\n', 'name = "crm"\ncredential = "env:CRM_TOKEN"\n', 1))
    event = stored.form()
    beat(stored, "worker", [])
    said = intake(environ, "explain", event, "--json").document
    assert said["differences"] == [
        "Esta consola no tiene env:CRM_TOKEN, pero los workers que corren sí: cuentan los procesos."
    ]
    assert "«crm»" not in str(said["then"])
    beat(stored, "worker", ["destination crm: env:CRM_TOKEN"])
    said = intake({**environ, "CRM_TOKEN": "x"}, "explain", event, "--json").document
    assert "«crm»" in str(said["then"])


def test_a_heartbeat_tells_names_and_never_values(stored: Lab) -> None:
    assert missing_secrets.missing(stored.settings, "web") == []
    names = {use.name for use in missing_secrets.uses(stored.settings)}
    values = [use.secret.value for use in missing_secrets.uses(stored.settings)]
    assert not [value for value in values if value and any(value in name for name in names)]


def test_a_process_beats_until_it_stops(stored: Lab) -> None:
    stop = threading.Event()
    told = {"process": "web", "missing": ["source web: env:WEB_SECRET"], "stop": stop, "every": 0.01}
    thread = threading.Thread(target=heartbeats.keep_beating, args=(stored.pool,), kwargs=told)
    thread.start()
    with stored.pool.connection() as conn:
        for _ in range(1000):
            if "web" in heartbeats.lacking(conn) or stop.wait(0.02):
                break
        stop.set()
        thread.join(10)
        assert heartbeats.lacking(conn)["web"].names == ["source web: env:WEB_SECRET"]
