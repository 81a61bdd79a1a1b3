"""A worker whose wall clock jumps, where libfaketime is installed (Debian: apt install faketime).

https://github.com/wolfcw/libfaketime (README, 2026-11-29): FAKETIME_TIMESTAMP_FILE is read again, so that the time
changes while the process runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from workers.supervisor import Program

# Where Debian, others, and its own `make install` put the one for programs with threads.
PLACES = ("usr/lib/*/faketime", "usr/lib*/faketime", "usr/local/lib/faketime")
NAME = "libfaketimeMT.so.1"
AHEAD = "+3600"  # seconds


class NoSkew(RuntimeError):
    """The library is not here."""


@dataclass(frozen=True, slots=True)
class Skew:
    """`file` says by how much the clock of those who read it is wrong."""

    library: Path
    file: Path

    def of(self, program: Program) -> Program:
        """The same program, by that clock; monotonic time stays what it is, as when somebody sets a host's clock."""
        return replace(program, environ={
            **program.environ, "LD_PRELOAD": str(self.library), "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_CACHE_DURATION": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        })  # fmt: skip

    @contextmanager
    def ahead(self) -> Iterator[None]:
        """While it is an hour ahead."""
        self.file.write_text(AHEAD, "ascii")
        try:
            yield
        finally:
            self.file.write_text("+0", "ascii")


def skew(file: Path, root: Path = Path("/")) -> Skew:
    """A clock that is right at first.  Raises NoSkew."""
    for place in PLACES:
        for found in sorted(root.glob(f"{place}/{NAME}")):
            file.write_text("+0", "ascii")
            file.chmod(0o644)
            return Skew(found, file)
    raise NoSkew("libfaketime is not here")
