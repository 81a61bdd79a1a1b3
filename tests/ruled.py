"""A lab whose sources have rules of their own: approvals, what a closed deal takes, what is held."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from intake.app import build
from intake.config import load
from intake.receive import Door
from intake.sources import PROVIDERS
from tests.lab import ENVIRON, Lab


def rule(lab: Lab, folder: Path, source: str, *lines: str) -> None:
    """Give a source more lines in the lab's configuration: for its door, its workers, and commands beside it."""
    file = folder / "intake.toml"
    name = f'name = "{source}"\n'
    file.write_text(file.read_text("utf-8").replace(name, name + "".join(f"{line}\n" for line in lines)), "utf-8")
    lab.settings = load(file, ENVIRON, built_in=PROVIDERS.keys())
    lab.desk = replace(lab.desk, settings=lab.settings)
    door = Door(lab.settings, lab.pool, now=lambda: datetime.now(UTC), new_id=uuid4)
    lab.door = build(door, hint=lambda: lab.hints.append("hint")).test_client()
