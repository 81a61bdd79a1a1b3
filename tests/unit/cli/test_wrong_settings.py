"""Whatever command is given: settings that cannot be read are exit status 2, and so is a word that is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.commands import DECIDED, intake

EVENT = "00000000"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("check",), ("check", "--json"), ("sources",), ("events",), ("show", EVENT), ("explain", EVENT), ("items",),
    ("item", "1"), ("crm", "check"), ("reconcile",), ("reconcile", "--verify"), ("recheck", "web"), ("reread",),
    ("pull", "web", "--since", "1h"), ("alerts",), ("alerts", "--test"), ("pause", "crm", *DECIDED),
    ("resume", "crm", *DECIDED), ("revive", EVENT, *DECIDED), ("approve", EVENT, *DECIDED),
    ("decline", EVENT, *DECIDED), ("look", EVENT, *DECIDED), ("settle", EVENT, "cancel", *DECIDED),
    ("correct", EVENT, "email=", *DECIDED), ("redeliver", EVENT, *DECIDED), ("reissue", EVENT, *DECIDED),
    ("spam", EVENT, *DECIDED), ("resolve", "1", "keep", *DECIDED), ("assign", "1", *DECIDED), ("bulk", "list"),
    ("bulk", "run", "revive", "--state", "review", "--yes", *DECIDED), ("bulk", "go", "1"), ("migrate",),
    ("worker",), ("clock",), ("up",),
)  # fmt: skip


@pytest.fixture
def environ(tmp_path: Path) -> Mapping[str, str]:
    """Settings that break a rule, and no server of any kind."""
    file = tmp_path / "intake.toml"
    file.write_text('[intake]\nlanguage = "fr"\n')
    return {"INTAKE_CONFIG": str(file), "INTAKE_HOME": str(tmp_path)}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_wrong_settings_are_status_two(environ: Mapping[str, str], words: tuple[str, ...]) -> None:
    assert intake(environ, *words).status == 2


@pytest.mark.parametrize("name", ["PORT", "INTAKE_WORKERS", "DATABASE_URL", "REDIS_URL"])
def test_a_wrong_variable_is_status_two(environ: Mapping[str, str], name: str) -> None:
    assert intake({**environ, name: "nonsense"}, "check").status == 2


def test_the_check_says_which_line_and_which_rule(environ: Mapping[str, str]) -> None:
    said = intake(environ, "check")
    assert ("intake.toml:2" in said.out.replace("\n", ""), "language" in said.out) == (True, True)
