"""`intake pull` says what it cannot do; what it does is tested in simulation."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

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
"""


def run(database_url: str, folder: Path, *words: str) -> tuple[int, str]:
    config = folder / "intake.toml"
    config.write_text(CONFIG)
    environ = {"DATABASE_URL": database_url, "INTAKE_CONFIG": str(config), "INTAKE_HOME": str(folder), "KEY": "sesame",
               "INTAKE_INSTALLATION": None, "INTAKE_EPOCH": None, "REDIS_URL": None}  # fmt: skip
    result = CliRunner().invoke(group(), ["pull", *words], env=environ)
    return result.exit_code, result.output


def test_a_sender_that_cannot_be_asked_is_told(database_url: str, tmp_path: Path) -> None:
    status, said = run(database_url, tmp_path, "web", "--since", "24h")
    assert (status, "cannot be pulled" in said) == (2, True)


def test_since_is_needed(database_url: str, tmp_path: Path) -> None:
    assert run(database_url, tmp_path, "ads")[0] == 2
