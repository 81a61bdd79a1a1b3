"""A small disk for the spool, that can be filled.

It is mounted where only this process and its children see it, so that the host's own mounts do not change, and nothing
of it remains however the proof ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SIZE = "2m"
CHUNK = 65_536  # bytes
CLONE_NEWNS = 0x0002_0000  # unshare(2); Python has its own call from 3.12 on


class NoDisk(RuntimeError):
    """The host does not allow it; the text says why."""


@dataclass(frozen=True, slots=True)
class Disk:
    """`folder`: where it is mounted."""

    folder: Path

    @contextmanager
    def full(self) -> Iterator[None]:
        """While there is no room on it."""
        filler = self.folder / "filler"
        try:
            _fill(filler)
            yield
        finally:
            filler.unlink(missing_ok=True)


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as out:
        for size in (CHUNK, 512):
            try:
                while True:
                    out.write(b"\0" * size)
            except OSError as full:
                if full.errno != errno.ENOSPC:
                    raise


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """One that is there for this process and those it starts from now on.  Raises NoDisk."""
    _separate()
    folder.mkdir()
    _run("mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "intake-prove", str(folder))
    try:
        yield Disk(folder)
    finally:
        with contextlib.suppress(NoDisk):
            _run("umount", "--lazy", str(folder))


def _separate() -> None:
    """From here on, what we mount is seen by us alone."""
    if os.geteuid() != 0:
        raise NoDisk("needs root")
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        raise NoDisk(f"this host allows no mounts ({os.strerror(ctypes.get_errno())})")
    _run("mount", "--make-rprivate", "/")


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except OSError as missing:
        raise NoDisk(f"{command[0]} is not here") from missing
    if done.returncode != 0:
        raise NoDisk(f"this host allows no mounts ({done.stderr.strip()})")
