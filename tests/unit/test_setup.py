"""The parts of bin/_setup.py that decide something; the whole is tried by every run of bin/test."""

import importlib.util
import os
from http import HTTPStatus
from pathlib import Path
from types import ModuleType
from urllib.error import HTTPError, URLError

import pytest

CHECKOUT = Path(__file__).parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("setup_script", CHECKOUT / "bin" / "_setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


setup = load()


def test_the_variable_is_stronger_than_the_file(tmp_path: Path) -> None:
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nindex-url = https://file.example/simple\n")
    env = {"PIP_INDEX_URL": "https://variable.example/simple"}
    assert setup.index_url(env, [config]) == "https://variable.example/simple"
    assert setup.index_url({}, [config]) == "https://file.example/simple"


def test_without_any_setting_the_public_index_serves(tmp_path: Path) -> None:
    assert setup.index_url({}, [tmp_path / "missing"]) == "https://pypi.org/simple"


def test_no_home_is_no_obstacle() -> None:
    assert Path("/etc/pip.conf") in setup.config_files({})


def test_the_null_device_stands_for_no_file_at_all() -> None:
    assert setup.config_files({"PIP_CONFIG_FILE": os.devnull}) == []


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("https://files.example/ab/{}#sha256=12", "https://files.example/ab/{}"),
        ("../../packages/{}", "https://index.example/packages/{}"),
        ("{}", "https://index.example/simple/pip/{}"),
        ("/p/{}?a=1&amp;b=2", None),
    ],
)
def test_the_wheel_is_found_where_the_page_says(href: str, url: str | None) -> None:
    page = f'<a href="pip-1.0-py3-none-any.whl">old</a><a href="{href.format(setup.PIP_WHEEL)}">new</a>'
    if url is None:
        with pytest.raises(setup.SetupError, match="does not list"):
            setup.wheel_url(page, "https://index.example/simple/pip/")
    else:
        expected = url.format(setup.PIP_WHEEL)
        assert setup.wheel_url(page, "https://index.example/simple/pip/") == expected


def test_a_password_is_never_printed() -> None:
    url = "https://user:secret@index.example/simple/"
    assert setup.without_password(url) == "https://index.example/simple/"
    with pytest.raises(setup.SetupError) as refused:
        setup.fetch(url)
    assert "secret" not in str(refused.value)


def http_error(status: int) -> HTTPError:
    return HTTPError("https://index.example", status, "", None, None)  # type: ignore[arg-type]  # headers


@pytest.mark.parametrize("status", [HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED])
def test_a_refusal_is_not_asked_for_again(status: int) -> None:
    with http_error(status) as error:
        assert setup.is_final(error)


@pytest.mark.parametrize("status", [HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY])
def test_a_passing_fault_is_asked_for_again(status: int) -> None:
    with http_error(status) as error:
        assert not setup.is_final(error)


def test_a_network_that_fails_is_asked_again() -> None:
    assert not setup.is_final(URLError("no route"))


def test_another_lock_needs_another_setup(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("requirements.lock", "pyproject.toml", "bin/_setup.py"):
        (tmp_path / name).write_text("old")
    before = setup.fingerprint(tmp_path)
    assert setup.fingerprint(tmp_path) == before
    (tmp_path / "requirements.lock").write_text("new")
    assert setup.fingerprint(tmp_path) != before


def test_the_lock_pins_every_package_and_names_no_place() -> None:
    lines = (CHECKOUT / "requirements.lock").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith(("#", " "))]
    assert all("==" in line for line in pins)
    assert not any("://" in line or line.startswith("-") for line in lines)
