"""Sources of visitors' browsers: origins in the place of secrets, and never a mixture."""

from __future__ import annotations

import pytest

from tests.unit.config.conftest import SOURCE, Complains, Loads

PAGE = '[[sources]]\nname = "page"\nkind = "form"\nprovider = "web_snippet"\n'


@pytest.mark.parametrize(
    ("written", "origin"),
    [
        ("https://www.example.com", "https://www.example.com"),
        ("HTTPS://WWW.Example.com/", "https://www.example.com"),
        ("https://www.example.com:443", "https://www.example.com"),
        ("https://www.example.com:8443", "https://www.example.com:8443"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
    ],
)
def test_an_origin_is_as_browsers_write_it(loads: Loads, written: str, origin: str) -> None:
    assert loads(f'{PAGE}allowed_origins = ["{written}"]\n').sources["page"].allowed_origins == (origin,)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("https://www.example.com/contacto", "must be one origin such as https://www.example.com, without a path"),
        ("https://*.example.com", "must be one origin such as https://www.example.com, without a path"),
        ("http://www.example.com", "must begin with https://, because a person's data comes from there"),
        ("*", "must be an address such as https://example.com, without user, query or fragment"),
        ("null", "must be an address such as https://example.com, without user, query or fragment"),
        ("https://[x", "must be an address such as https://example.com, without user, query or fragment"),
    ],
)
def test_what_is_no_origin_is_refused(complains: Complains, written: str, said: str) -> None:
    assert complains(f'{PAGE}allowed_origins = ["{written}"]\n') == [
        f"intake.toml:5: sources[0].allowed_origins[0]: {said}"
    ]


def test_a_page_without_origins_is_refused(complains: Complains) -> None:
    assert complains(PAGE) == ["intake.toml:1: sources[0].allowed_origins: is missing"]


def test_a_page_has_no_secrets(complains: Complains) -> None:
    text = f'{PAGE}allowed_origins = ["https://www.example.com"]\nsecrets = ["env:KEY"]\n'
    assert complains(text) == ["intake.toml:6: sources[0].secrets: does not go with allowed_origins"]


def test_no_other_provider_has_origins(complains: Complains) -> None:
    assert complains(f'{SOURCE}allowed_origins = ["https://www.example.com"]\n') == [
        "intake.toml:6: sources[0].allowed_origins: does not go with secrets"
    ]


def test_what_anybody_may_send_is_held_small(loads: Loads) -> None:
    source = loads(f'{PAGE}allowed_origins = ["https://www.example.com"]\n').sources["page"]
    assert (source.max_body_bytes, source.rate_per_minute, source.closed_because) == (65_536, 30, None)
