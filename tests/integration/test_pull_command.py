"""`intake pull` says what it cannot do; what it does is tested in simulation."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import psycopg
from click.testing import CliRunner

from intake import installation
from intake.config import Process
from tests.graph_server import graph_server
from tests.simulation.shop import KEY, ORDERS, PROOF, SECRET, order
from workers.main import group

CONFIG = """
[[destinations]]
name = "crm"
client = "sandbox"

[[sources]]
name = "web"
kind = "form"
provider = "generic"
secrets = ["env:KEY"]

[[sources]]
name = "ads"
kind = "form"
provider = "meta_lead_ads"
secrets = ["env:KEY"]

[[sources]]
name = "shop"
kind = "quote"
provider = "woocommerce"
secrets = ["env:KEY"]
shop_url = "{shop}"
consumer_key = "env:CK"
consumer_secret = "env:CS"
"""


def run(database_url: str, folder: Path, *words: str, shop: str = "http://127.0.0.1:9") -> tuple[int, str]:
    config = folder / "intake.toml"
    config.write_text(CONFIG.replace("{shop}", shop))
    environ = {"DATABASE_URL": database_url, "INTAKE_CONFIG": str(config), "INTAKE_HOME": str(folder), "KEY": "sesame",
               "CK": KEY, "CS": SECRET,
               "INTAKE_INSTALLATION": None, "INTAKE_EPOCH": None, "REDIS_URL": None}  # fmt: skip
    result = CliRunner().invoke(group(), ["pull", *words], env=environ)
    return result.exit_code, result.output


def test_a_sender_that_cannot_be_asked_is_told(database_url: str, tmp_path: Path) -> None:
    status, said = run(database_url, tmp_path, "web", "--since", "24h")
    assert (status, "cannot be pulled" in said) == (2, True)


def test_since_is_needed(database_url: str, tmp_path: Path) -> None:
    assert run(database_url, tmp_path, "ads")[0] == 2


def pin(database_url: str, folder: Path) -> None:
    """This host delivers for this database."""
    process = Process.from_environ({"DATABASE_URL": database_url, "INTAKE_HOME": str(folder)})
    with psycopg.connect(database_url, autocommit=True) as conn:
        installation.overwrite(installation.read(conn), installation.mark_file(process))


def test_orders_are_pulled_and_counted_and_again_they_are_duplicates(database_url: str, tmp_path: Path) -> None:
    pin(database_url, tmp_path)
    with graph_server() as api:
        api.tokens = {PROOF}
        api.objects[ORDERS] = lambda asked: [order(1), order(2)] if asked.query["page"] == ["1"] else []
        words = ("shop", "--since", "2026-11-19", "--json")
        first = run(database_url, tmp_path, *words, shop=api.url)
        second = run(database_url, tmp_path, *words, shop=api.url)
    assert (first[0], json.loads(first[1])["new"], json.loads(second[1])["duplicate"]) == (0, 2, 2)


def test_a_shop_that_is_away_is_told(database_url: str, tmp_path: Path) -> None:
    pin(database_url, tmp_path)
    status, said = run(database_url, tmp_path, "shop", "--since", "24h")
    assert (status, "not all could be read (refused)" in " ".join(said.split())) == (1, True)


def test_a_signal_ends_it_after_the_page_and_says_how_to_go_on(database_url: str, tmp_path: Path) -> None:
    pin(database_url, tmp_path)
    before = signal.getsignal(signal.SIGTERM)

    def orders(_asked: object) -> object:
        os.kill(os.getpid(), signal.SIGTERM)
        return [order(1), order(2)]

    with graph_server() as api:
        api.tokens = {PROOF}
        api.objects[ORDERS] = orders
        status, said = run(database_url, tmp_path, "shop", "--since", "2026-11-19T08:00-05:00", shop=api.url)
    assert (status, len(api.asked)) == (1, 1)
    assert "intake pull shop --since 2026-11-19T08:00:00-05:00" in said
    assert signal.getsignal(signal.SIGTERM) is before
