"""What processes take: CPU seconds of a whole family, and memory that is theirs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
MIB = 1024 * 1024


def family(pid: int) -> Iterator[int]:
    """A process and all that it started, as far as they live."""
    yield pid
    for task in _listed(Path(f"/proc/{pid}/task")):
        for child in _text(task / "children").split():
            yield from family(int(child))


def cpu_seconds(*pids: int) -> float:
    """User and system time of these families, with that of children that have ended and were waited for."""
    return sum(_ticks(each) for pid in pids for each in family(pid)) / TICKS


def _ticks(pid: int) -> int:
    # proc_pid_stat(5): utime, stime, cutime and cstime are fields 14 to 17; the name before may hold blanks.
    fields = _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


def own_mib(pid: int) -> float:
    """Memory of one process in MiB, what is shared divided among those that share it (PSS); 0: it has gone."""
    lines = _text(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
    sizes = [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
    return sum(sizes) * 1024 / MIB


def family_mib(*pids: int) -> float:
    """Memory of whole families in MiB."""
    return sum(own_mib(each) for pid in pids for each in family(pid))


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except OSError:
        return ""
