"""`intake crm connect`: an account is connected by a person at a browser, by the app itself, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests

from tests.acceptance.troubles import OAUTH
from tests.commands import Said, beside, intake
from tests.lab import Lab, lab
from tests.oauth_server import Vendor, vendor
from tests.ports import free_port

CONNECT = ("crm", "connect", "--account", "crm")
BACK = "http://127.0.0.1:8765/callback?code=c0de"


@dataclass(frozen=True, slots=True)
class Unconnected:
    """A lab whose account names a vendor, and has no grant yet."""

    lab: Lab
    vendor: Vendor
    environ: Mapping[str, str]
    config: Path

    def add(self, lines: str) -> None:
        """More of `[destinations.oauth]`."""
        text = self.config.read_text("utf-8").replace("[destinations.oauth]\n", f"[destinations.oauth]\n{lines}\n")
        self.config.write_text(text, "utf-8")

    def connect(self, *words: str) -> Said:
        return intake(self.environ, *CONNECT, *words)

    def grants(self) -> int:
        return len(self.lab.rows("SELECT FROM crm_grants"))


@pytest.fixture
def here(database_url: str, tmp_path: Path) -> Iterator[Unconnected]:
    with lab(database_url, tmp_path) as made, vendor() as there:
        config = tmp_path / "intake.toml"
        tables = OAUTH.format(url=there.url) + "[destinations.owner]"
        config.write_text(config.read_text("utf-8").replace("[destinations.owner]", tables, 1), "utf-8")
        yield Unconnected(made, there, {**beside(made, tmp_path), "OAUTH_SECRET": "our-secret"}, config)


def test_a_person_at_a_browser_connects_the_account(here: Unconnected) -> None:
    port = free_port()
    here.add(f'redirect_uri = "http://127.0.0.1:{port}/callback"')
    command = [sys.executable, "-P", "-m", "workers.main", *CONNECT]
    environ = {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1", **here.environ}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        address = next(line for line in running.stdout if line.startswith("http"))
        assert "waiting at" in running.stderr.readline()
        asked = parse_qs(urlsplit(address.strip()).query)
        answer = urlencode({"code": "c0de", "state": asked["state"][0]})
        back = asked["redirect_uri"][0]
        told = _until_it_listens(f"{back}?{answer}")
        assert (running.wait(60), told.status_code) == (0, 200)
    assert (here.grants(), here.vendor.asked[0]["code"]) == (1, "c0de")


def _until_it_listens(url: str) -> requests.Response:
    for _ in range(600):
        try:
            return requests.get(url, timeout=60)
        except requests.ConnectionError:
            continue
    raise AssertionError("it never listened")


def test_an_address_that_was_copied_connects_it_too(here: Unconnected) -> None:
    said = here.connect("--address", BACK)
    assert (said.status, "is connected" in said.out, here.grants()) == (0, True, 1)


def test_an_app_of_its_own_needs_no_person(here: Unconnected) -> None:
    here.add('grant = "client_credentials"')
    assert (here.connect().status, here.vendor.asked[0]["grant_type"]) == (0, "client_credentials")


def test_what_a_vendor_refuses_is_told(here: Unconnected) -> None:
    said = here.connect("--address", "http://127.0.0.1:8765/callback?error=access_denied")
    assert (said.status, "access_denied" in said.err, here.grants()) == (1, True, 0)


def test_a_code_that_the_vendor_does_not_take_is_told(here: Unconnected) -> None:
    here.vendor.lost = True
    said = here.connect("--address", BACK)
    assert (said.status, "grant_lost" in said.err, here.grants()) == (1, True, 0)


def test_a_grant_for_another_host_is_not_kept(here: Unconnected) -> None:
    here.vendor.base = "https://other.example.com"
    said = here.connect("--address", BACK)
    assert (said.status, "other.example.com" in said.err, here.grants()) == (2, True, 0)


def test_a_token_that_the_crm_does_not_take_is_told(here: Unconnected) -> None:
    here.vendor.access = "of-another-account"
    said = here.connect("--address", BACK)
    assert (said.status, "bad_credential" in said.err) == (1, True)


def test_no_secret_is_said(here: Unconnected) -> None:
    said = here.connect("--address", BACK)
    assert [word for word in ("our-secret", "c0de", "refresh-1") if word in said.out + said.err] == []


def test_an_account_with_a_fixed_credential_cannot_be_connected(here: Unconnected) -> None:
    said = intake(here.environ, "crm", "connect", "--account", "playground")
    assert (said.status, "[destinations.oauth]" in said.err) == (2, True)
