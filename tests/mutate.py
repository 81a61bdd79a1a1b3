"""Put each deliberate bug into a copy of this checkout, and see that the suite finds it.

bin/mutate              all of them; exit status 1 if one was not found
bin/mutate lease doubt  those whose names hold one of these words
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutations import MUTATIONS, Mutation

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "var")
FOUND = 1  # pytest's exit status where tests failed; any other says that they did not run


def main(words: Sequence[str]) -> int:
    """The exit status: 1 where a bug was not found, or its tests could not be run."""
    chosen = [each for each in MUTATIONS if not words or any(word in each.name for word in words)]
    missed = 0
    for mutation in chosen:
        began = time.monotonic()
        by = found_by(mutation)
        missed += by is None
        told = f"found by {by}" if by else "NOT FOUND"
        print(f"{mutation.name}: {told} ({time.monotonic() - began:.0f} s)", flush=True)  # noqa: T201  # what it is for
    print(f"{len(chosen) - missed} of {len(chosen)} deliberate bugs were found")  # noqa: T201
    return 1 if missed or not chosen else 0


def found_by(mutation: Mutation) -> str | None:
    """The first test that fails because of it; None: none does."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        put(mutation, copy)
        # The copy's own code, also for the commands that tests start.
        environ = {**os.environ, "PYTHONPATH": str(copy)}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *mutation.tests]
        done = subprocess.run(command, cwd=copy, env=environ, capture_output=True, text=True, check=False)
        return next(failed(done.stdout), None) if done.returncode == FOUND else None


def put(mutation: Mutation, checkout: Path) -> None:
    """Raises ValueError where its place is not there, or there twice."""
    _replace(checkout / mutation.file, mutation.old, mutation.new)
    if mutation.without is not None:
        file, guard = mutation.without
        _replace(checkout / file, guard, "")


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{file.name} has {text.count(old)} places for what is to be broken")
    file.write_text(text.replace(old, new), "utf-8")


def failed(said: str) -> Iterator[str]:
    """The tests that failed, as pytest's summary names them."""
    for line in said.splitlines():
        word, _, rest = line.partition(" ")
        if word in {"FAILED", "ERROR"}:
            yield rest.partition(" - ")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
