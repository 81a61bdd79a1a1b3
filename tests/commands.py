"""The command line in this process, beside a lab or a database of the test's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from intake import installation
from tests.lab import ENVIRON, Lab
from workers.main import group

Json = dict[str, object]

DECIDED = ("--by", "rosa", "--reason", "seen in the CRM")


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Json:
        found: Json = json.loads(self.out)
        return found


def intake(environ: Mapping[str, str], *words: object) -> Said:
    """Run a command.  An unexpected exception is the test's failure."""
    nothing = dict.fromkeys(("DATABASE_URL", "REDIS_URL", "INTAKE_CONFIG", "INTAKE_HOME", "PORT"))
    done = CliRunner().invoke(group(), [str(word) for word in words], env={**nothing, **environ})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Said(done.exit_code, done.stdout, done.stderr)


def beside(lab: Lab, folder: Path) -> Mapping[str, str]:
    """The environment of commands on the host that delivers for a lab; `folder`: the one that the lab was made with."""
    home = folder / "home"
    installation.pin(lab.desk.installation, home / "installation", ours=True)
    return {
        **ENVIRON,
        "DATABASE_URL": lab.database_url,
        "INTAKE_CONFIG": str(folder / "intake.toml"),
        "INTAKE_HOME": str(home),
    }


def listed(document: Json, name: str) -> list[Json]:
    """The list of objects under a name."""
    found = document[name]
    assert isinstance(found, list)
    return [dict(each) for each in found]
