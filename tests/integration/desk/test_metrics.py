"""What a scraper is told of this host's spool, with the database and without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from intake.db import Pool
from intake.desk.serving import create
from intake.desk.tools import Tools
from intake.spool import SUFFIX
from tests.desk_lab import QUICK
from tests.integration.desk.conftest import Scene
from tests.unhurried import door_pool


@pytest.fixture
def spool_dir(tmp_path: Path) -> Path:
    """A spool in which something has been waiting for long."""
    (tmp_path / f"1790000000000000000-1{SUFFIX}").write_bytes(b"x" * 1000)
    return tmp_path


@pytest.fixture
def no_database() -> Iterator[Pool]:
    pool = door_pool("postgresql://nobody@127.0.0.1:1/none", size=1, patience=0.1)
    try:
        yield pool
    finally:
        pool.close()


def scraper(scene: Scene, spool_dir: Path, pool: Pool) -> FlaskClient:
    settings = replace(scene.lab.settings, spool_dir=spool_dir)
    return create(Tools(settings, pool, hint=lambda: None, passwords=QUICK)).test_client()


def test_what_waits_on_this_hosts_disk_is_told(scene: Scene, spool_dir: Path) -> None:
    told = scraper(scene, spool_dir, scene.lab.pool).get("/metrics").get_data(as_text=True)
    assert "intake_spool_bytes 1000.0" in told
    assert "intake_open_events" in told


def test_it_is_told_while_the_database_is_away(scene: Scene, spool_dir: Path, no_database: Pool) -> None:
    answer = scraper(scene, spool_dir, no_database).get("/metrics")
    assert (answer.status_code, b"intake_spool_bytes 1000.0" in answer.data) == (200, True)


def test_nobody_elsewhere_is_told_of_it_without_a_token(scene: Scene, spool_dir: Path, no_database: Pool) -> None:
    answer = scraper(scene, spool_dir, no_database).get("/metrics", headers={"X-Forwarded-For": "203.0.113.7"})
    assert (answer.status_code >= 400, b"intake_spool" in answer.data) == (True, False)


def test_a_host_without_a_spool_tells_of_none(scene: Scene) -> None:
    assert b"intake_spool" not in scene.desk.stranger().get("/metrics").data
