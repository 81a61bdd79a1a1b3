"""An installation of its own in a temporary home: `intake up` as everybody runs it, with a line to the CRM to cut."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from crm_clients.sandbox.dials import Dials
from workers import up
from workers.demo.home import temporary_home
from workers.plan import SANDBOX_PORT, plan
from workers.prove.chaos.disk import Disk, NoDisk, small_disk
from workers.prove.chaos.faults import CLOCK_JUMP, FULL_DISK
from workers.prove.chaos.line import Line, line_to
from workers.prove.chaos.ports import free_port
from workers.prove.chaos.skewed import NoSkew, Skew, skew
from workers.prove.chaos.works import Works
from workers.prove.stage import ENVIRON
from workers.supervisor import Program, Say, Supervisor
from workers.wiring import SANDBOX_URL

# The sandbox executes what it got within this, in seconds, and says so.
LIMIT = 4
# Of this process's own environment, what programs need to run at all; nothing that names somebody's servers.
KEPT = frozenset({"PATH", "HOME", "LANG", "TMPDIR"})
# Its wall clock jumps, where the host allows it.
SKEWED = "worker-2"

CONFIG = """
[intake]
spool_dir = "{spool}"
spool_persistent = true

[[destinations]]
name = "crm"
client = "sandbox"
currency = "PEN"
[destinations.owner]
rule = "affinity, round_robin"
users = ["ana", "luis"]
[destinations.options]
profile = "stored"
limit_seconds = "{limit}"

[defaults]
destination = "crm"

[[sources]]
name = "web"
kind = "form"
provider = "standard_webhooks"
secrets = ["env:PROVE_SECRET"]

[[sources]]
name = "keyed"
kind = "form"
provider = "standard_webhooks"
secrets = ["env:PROVE_SECRET"]
idempotency_key = true

[[sources]]
name = "wa"
kind = "whatsapp"
provider = "whatsapp_cloud"
secrets = ["env:PROVE_META"]
verify_token = "env:PROVE_VERIFY"
debounce_seconds = 0

[[sources]]
name = "quotes"
kind = "quote"
provider = "quote"
secrets = ["env:PROVE_SECRET"]
"""

Change = Callable[[Program], Program]


@dataclass(frozen=True, slots=True)
class Home:
    """What was set up.  `ledger`: the CRM's own file.  `left_out`: faults that this host does not allow, and why."""

    works: Works
    line: Line
    ledger: Path
    disk: Disk | None
    skew: Skew | None
    left_out: Mapping[str, str]


@contextmanager
def home(say: Say, *, change: Change, mounts: bool) -> Iterator[Home]:
    """Everything runs in the block, and nothing of it remains.

    `change`: what each program is changed to.  `mounts`: False: this process is not one to mount anything.
    Raises CannotStart, EmbeddedError, psycopg.Error, OSError.
    """
    with temporary_home(say) as folder, up.only_one(folder), ExitStack() as stack:
        left_out: dict[str, str] = {}
        disk = _disk(stack, folder / "spool", left_out, mounts=mounts)
        skewed = _skew(folder / "faketime", left_out)
        supervisor = Supervisor(folder, lambda _said: None)
        stack.callback(_end, supervisor)
        planned = plan(_environ(folder), folder)
        line = stack.enter_context(line_to(int(planned.environ[SANDBOX_PORT])))
        by_line = _through(line, skewed, change)
        environ = up.start(planned, supervisor, by_line)
        dials = Dials(environ[SANDBOX_URL])
        works = Works(supervisor, {**environ, "PORT": str(planned.process.port)}, planned.settings, dials)
        works.until(works.answers, "the door answers")
        yield Home(works, line, folder / "sandbox.sqlite", disk, skewed, left_out)


def _disk(stack: ExitStack, folder: Path, left_out: dict[str, str], *, mounts: bool) -> Disk | None:
    if not mounts:
        left_out[FULL_DISK] = "not asked for"
        return None
    try:
        return stack.enter_context(small_disk(folder))
    except NoDisk as why:
        left_out[FULL_DISK] = str(why)
        return None


def _skew(file: Path, left_out: dict[str, str]) -> Skew | None:
    try:
        return skew(file)
    except NoSkew as why:
        left_out[CLOCK_JUMP] = str(why)
        return None


def _environ(folder: Path) -> dict[str, str]:
    config = folder / "intake.toml"
    config.write_text(CONFIG.format(spool=folder / "spool", limit=LIMIT), "utf-8")
    return {
        **{name: value for name, value in os.environ.items() if name in KEPT},
        **ENVIRON,
        "INTAKE_CONFIG": str(config),
        "INTAKE_WORKERS": "2",
        "INTAKE_THREADS": "4",
        "WEB_WORKERS": "2",
        "PORT": str(free_port()),
        SANDBOX_PORT: str(free_port()),
    }


def _through(line: Line, skewed: Skew | None, change: Change) -> Change:
    """Each program reaches the CRM by the line; one of them may have a clock that jumps."""

    def changed(program: Program) -> Program:
        made = change(replace(program, environ={**program.environ, SANDBOX_URL: line.url}))
        return skewed.of(made) if skewed is not None and program.name == SKEWED else made

    return changed


def _end(supervisor: Supervisor) -> None:
    """The door ends its own processes, if it is asked; the others are ended."""
    supervisor.stop([child.program.name for child in supervisor.children if child.program.name == "web"])
    supervisor.kill()
    supervisor.stop_servers()
