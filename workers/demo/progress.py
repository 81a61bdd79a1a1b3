"""One line that says what is going on; a terminal has it written over, anything else gets each step once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

CLEAR = "\r\x1b[K"
LONGEST = 72  # characters, so that it stays one line


@dataclass(slots=True)
class Progress:
    """Writes to standard error, so that standard output has the result alone."""

    out: TextIO
    _line: str = ""

    def step(self, text: str) -> None:
        """What is done now."""
        line = f"demo: {text}"
        if line == self._line:
            return
        self._line = line
        if self.out.isatty():
            shown = line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
            self.out.write(CLEAR + shown)
        else:
            self.out.write(line + "\n")
        self.out.flush()

    def note(self, text: str) -> None:
        """What should stay to be read."""
        self.done()
        self.out.write(f"demo: {text}\n")
        self.out.flush()

    def done(self) -> None:
        """Make room for the result."""
        if self._line and self.out.isatty():
            self.out.write(CLEAR)
            self.out.flush()
        self._line = ""
