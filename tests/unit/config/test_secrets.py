"""Secrets are referred to, found, or missed; they are never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from intake.config import Secret, load
from intake.config.secret import LARGEST_SECRET, read_file, resolve
from tests.unit.config.conftest import SOURCE, Complains, Loads

CANARY = "canary-4711"
HERE = Path("/etc/intake")


def from_env(reference: str, environ: dict[str, str]) -> Secret:
    return resolve(reference, environ, HERE, read_file)


def from_file(reference: str, content: bytes) -> Secret:
    return resolve(reference, {}, HERE, lambda _: content)


def test_variable_is_found() -> None:
    assert from_env("env:KEY", {"KEY": CANARY}).value == CANARY


@pytest.mark.parametrize("environ", [{}, {"KEY": ""}])
def test_variable_that_is_unset_or_empty_is_missing(environ: dict[str, str]) -> None:
    assert from_env("env:KEY", environ) == Secret("env:KEY", None, "env:KEY is not set")


def test_file_is_read_without_its_line_end() -> None:
    assert from_file("file:/run/key", b"canary-4711\r\n").value == CANARY


def test_file_is_looked_for_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(CANARY)
    path = tmp_path / "intake.toml"
    path.write_text(SOURCE.replace("env:KEY", "file:key"))
    assert load(path, {}).sources["web"].secret_values == (CANARY,)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\n", "file:key is empty"),
        (b"\xff", "file:key is not UTF-8 text"),
        (b"x" * (LARGEST_SECRET + 1), "file:key is larger than 65536 bytes"),
    ],
    ids=["empty", "binary", "large"],
)
def test_file_that_holds_no_secret(content: bytes, problem: str) -> None:
    assert from_file("file:key", content) == Secret("file:key", None, problem)


def test_file_that_is_not_there_is_missing(tmp_path: Path) -> None:
    found = resolve("file:key", {}, tmp_path, read_file)
    assert found == Secret("file:key", None, "file:key cannot be read (No such file or directory)")


def test_missing_secret_closes_its_source_only(loads: Loads) -> None:
    other = SOURCE.replace('"web"', '"other"').replace("env:KEY", "env:OTHER")
    settings = loads(SOURCE + other, {"KEY": CANARY})
    assert settings.sources["web"].closed_because is None
    assert settings.sources["other"].closed_because == "env:OTHER is not set"
    assert settings.notices == ('source "other" is closed: env:OTHER is not set',)


def test_rotation_goes_on_with_the_secret_that_is_there(loads: Loads) -> None:
    settings = loads(SOURCE.replace('["env:KEY"]', '["env:NEW", "env:OLD"]'), {"OLD": CANARY})
    assert settings.sources["web"].closed_because is None
    assert settings.sources["web"].secret_values == (CANARY,)
    assert settings.notices == ('source "web": env:NEW is not set',)


def test_missing_verify_token_leaves_the_source_open(loads: Loads) -> None:
    settings = loads(SOURCE + 'verify_token = "env:TOKEN"\n')
    assert settings.sources["web"].closed_because is None
    assert settings.notices == ('source "web" cannot answer a handshake: env:TOKEN is not set',)


def test_missing_credential_closes_its_destination_only(loads: Loads) -> None:
    crm = '[[destinations]]\nname = "crm"\nclient = "http"\nbase_url = "https://crm.example.com"\n'
    crm += 'credential = "env:TOKEN"\n'
    settings = loads(crm + SOURCE)
    assert settings.destinations["crm"].closed_because == "env:TOKEN is not set"
    assert settings.sources["web"].closed_because is None
    assert settings.notices == ('destination "crm" is closed: env:TOKEN is not set',)


def test_settings_do_not_show_what_they_hold(loads: Loads) -> None:
    crm = (
        '[[destinations]]\nname = "crm"\nclient = "bitrix24"\ncredential = "env:KEY"\n'
        f'base_url = "https://crm.example.com/rest/1/{CANARY}/"\n'
    )
    settings = loads(f'{crm}{SOURCE}verify_token = "env:KEY"\n', {"KEY": CANARY})
    assert settings.sources["web"].secret_values == (CANARY,)
    assert CANARY not in repr(settings)


@pytest.mark.parametrize(
    "written",
    [
        f'credential = "{CANARY}"',
        f'credential = "env:{CANARY}"',
        f'credential = "file:{CANARY}\\u0000"',
        f'credential = "ENV:{CANARY}"',
        f'credential = ["{CANARY}"]',
        f'base_url = "https://ana:{CANARY}@crm.example.com"',
        f'base_url = "http://crm.example.com/{CANARY}"',
        f'base_url = "https://crm.example.com/?key={CANARY}"',
        f'token = "{CANARY}"',
        f'credential = "{CANARY}',
        f"credential = {CANARY}",
        f'options.Key = "{CANARY}"',
        f'opportunity_title = "{{{CANARY}}}"',
    ],
)
def test_no_complaint_shows_a_value(complains: Complains, written: str) -> None:
    said = complains(f'[[destinations]]\nname = "crm"\nclient = "http"\n{written}\n{SOURCE}')
    assert CANARY not in "\n".join(said)
