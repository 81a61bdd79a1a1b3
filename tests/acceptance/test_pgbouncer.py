"""Everything through PgBouncer, which lends each transaction whatever connection is free; only where it is installed.

PGBOUNCER=/path/to/pgbouncer names one that is not in PATH.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from intake.db import migrate
from tests.acceptance.test_chaos import assert_each_stands_once
from tests.commands import intake
from tests.plant import Plant, plant
from tests.ports import free_port
from workers.supervisor import Program

PGBOUNCER = os.environ.get("PGBOUNCER") or shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PGBOUNCER, reason="not run: there is no pgbouncer (PGBOUNCER=/path/to/it names one)"),
]

GUIDE = Path(__file__).parents[2] / "docs" / "scaling.md"
# More than PgBouncer may lend, so that transactions of one client go to several connections.
NAMES = ("web", "clock", "worker-1", "worker-2")


@dataclass(frozen=True, slots=True)
class Pooled:
    """`environ`: of processes whose way to the database goes through the pooler."""

    works: Plant
    environ: dict[str, str]

    def run(self, name: str) -> None:
        self.works.supervisor.run(Program(name, self.works.command(name), self.environ, 30.0))


@pytest.fixture(scope="module")
def pooled() -> Iterator[Pooled]:
    with plant() as works:
        home, port = Path(works.environ["INTAKE_HOME"]), free_port()
        file = home / "pgbouncer.ini"
        file.write_text(settings(works, port), "utf-8")
        file.chmod(0o644)
        made = Pooled(works, {**works.environ, "DATABASE_URL": address(port), "DATABASE_POOLER": "transaction"})
        child = subprocess.Popen(
            [PGBOUNCER or "", *(("-u", "nobody") if os.geteuid() == 0 else ()), str(file)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            works.until(lambda: connects(made.environ["DATABASE_URL"]), "the pooler answers")
            yield made
        finally:
            works.supervisor.kill()
            child.terminate()
            child.wait(30)


def settings(works: Plant, port: int) -> str:
    """The guide's own lines, with this server's addresses."""
    (told,) = re.findall(r"```ini\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    server = conninfo_to_dict(works.environ["DATABASE_URL"])
    where = f"host={server['host']} port={server['port']} dbname={server['dbname']} user={server['user']}"
    told = re.sub(
        r"^intake = .*$",
        f"intake = {where}\nspare = {where.replace('dbname=intake', 'dbname=spare')}",
        told,
        flags=re.MULTILINE,
    )
    told = re.sub(r"^listen_port = .*$", f"listen_port = {port}", told, flags=re.MULTILINE)
    told = re.sub(r"^auth_\w+ = .*$\n", "", told, flags=re.MULTILINE)
    told = re.sub(r"^default_pool_size = .*$", "default_pool_size = 4", told, flags=re.MULTILINE)
    return f"{told}auth_type = any\n"


def address(port: int, database: str = "intake") -> str:
    return f"postgresql://intake@127.0.0.1:{port}/{database}"


def connects(url: str) -> bool:
    with psycopg.connect(url, connect_timeout=3) as conn:
        return conn.execute("SELECT 1").fetchone() == (1,)


def test_leads_go_the_whole_way_through_a_pooler(pooled: Pooled) -> None:
    works = pooled.works
    for name in NAMES:
        pooled.run(name)
    works.until(works.answers, "the door answers")
    with works.stream("pooled", senders=6, pause=0.2) as sender:
        works.watch_for(4.0)
    assert_each_stands_once(works, sender, "pooled")
    for name in NAMES:
        assert "prepared statement" not in works.log(name), works.log(name)
        works.stop(name)


def test_commands_work_through_a_pooler(pooled: Pooled) -> None:
    events = intake(pooled.environ, "events", "--json")
    assert events.status == 0, events.err
    assert intake(pooled.environ, "reconcile", "--json").status == 0


def test_an_empty_database_is_migrated_through_a_pooler(pooled: Pooled) -> None:
    with psycopg.connect(pooled.works.environ["DATABASE_URL"], autocommit=True) as conn:
        conn.execute("CREATE DATABASE spare")
    url = pooled.environ["DATABASE_URL"].rpartition("/")[0] + "/spare"
    assert migrate(url)
    assert migrate(url) == ()
    with closing(psycopg.connect(url)) as conn:
        assert conn.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone() == (0,)
