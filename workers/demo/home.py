"""The folder that a demonstration has for its state: made for it, and gone afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from intake.embedded import find_valkey, postmaster
from intake.postgres_home import find_place, open_to_all, socket_folder
from intake.processes import User
from workers import up
from workers.plan import CannotStart
from workers.supervisor import Say, end_leftovers

PREFIX = "intake-demo-"
# A unix socket's path has 107 bytes: what stands below the home needs about fifty.
LONGEST_BASE = 40
# Seconds.  A home that is older and held by nobody belongs to a demonstration that was killed.
OLD = 60.0


@contextmanager
def temporary_home(say: Say) -> Iterator[Path]:
    """A folder that is gone afterwards, whatever happens; those of killed demonstrations go too."""
    base = _base()
    sweep(base, say, now=time.time())
    home = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    # Started by root, PostgreSQL runs as another user, who must pass through to its own folder below.
    home.chmod(0o711)
    try:
        yield home
    finally:
        try:
            _remove(home)
        except up.Hurry:  # A second signal, just now.
            _remove(home)


def _base() -> Path:
    """Where temporary files go, if that is short and any user may pass through."""
    usual = Path(tempfile.gettempdir())
    for base in (usual, Path("/tmp"), Path("/var/tmp")):  # noqa: S108  # mkdtemp makes it ours
        fits = base.is_dir() and os.access(base, os.W_OK | os.X_OK) and len(str(base)) < LONGEST_BASE
        if fits and (os.geteuid() != 0 or open_to_all(base)):
            return base
    return usual


def _remove(home: Path) -> None:
    shutil.rmtree(find_place(home), ignore_errors=True)  # Elsewhere, if root found no open folder.
    shutil.rmtree(home, ignore_errors=True)


# --- of those that were killed ----------------------------------------------------------------------------------------


def sweep(base: Path, say: Say, *, now: float) -> None:
    """End what killed demonstrations of this user left running, and remove their homes.  `now`: seconds since 1970."""
    for home in base.glob(f"{PREFIX}*"):
        found = home.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or now - found.st_mtime < OLD:
            continue
        try:
            with up.only_one(home):
                _end(home, say)
        except CannotStart:
            continue  # It runs.
        _remove(home)


def _end(home: Path, say: Say) -> None:
    end_leftovers(home, say)
    postgres = postmaster(find_place(home))
    if postgres is not None:
        postgres.end(signal.SIGINT)
    if (home / "valkey").is_dir():
        name = "valkey.sock"
        valkey = find_valkey(socket_folder(home / "valkey", name, User.me()) / name)
        if valkey is not None:
            valkey.process.end(signal.SIGTERM)
