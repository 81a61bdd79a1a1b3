"""What `intake check` says is found by `grep`, however narrow the terminal is."""

from __future__ import annotations

import pytest

from intake.cli.checking import show
from intake.doctor import Line


def test_a_long_line_stays_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show(Line("fail", "destination crm", "base_url " * 20, "write it " * 20))
    assert len(capsys.readouterr().out.splitlines()) == 2
