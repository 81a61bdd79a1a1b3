"""Secrets: a configuration holds where they are, never what they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

REFERENCE: Final = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,127}|file:[^\x00-\x1f\x7f]{1,1024}", re.ASCII)
REFERENCE_RULE: Final = "a secret must be env:NAME or file:PATH, never the value itself"
LARGEST_SECRET: Final = 64 * 1024  # bytes; a private key has about 3 KiB

ReadFile = Callable[[Path], bytes]


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret by its reference.  `value` None: it was not there at the start, and `problem` says why."""

    reference: str
    value: str | None = field(default=None, repr=False)
    problem: str | None = None


def read_file(path: Path) -> bytes:
    """At most one byte more than a secret may have.  Raises OSError."""
    with path.open("rb") as file:
        return file.read(LARGEST_SECRET + 1)


def resolve(reference: str, environ: Mapping[str, str], folder: Path, read: ReadFile) -> Secret:
    """Look a reference up, once.  A relative `file:` is looked for in `folder`, the one of the configuration."""
    kind, _, name = reference.partition(":")
    if kind == "env":
        value = environ.get(name, "")
        return Secret(reference, value or None, None if value else f"{reference} is not set")
    return _from_file(reference, folder / name, read)


def _from_file(reference: str, path: Path, read: ReadFile) -> Secret:
    try:
        raw = read(path)
        value = raw.decode().rstrip("\r\n")
    except OSError as error:
        return Secret(reference, problem=f"{reference} cannot be read ({error.strerror or 'no reason given'})")
    except UnicodeDecodeError:
        # Its text would quote the bytes.
        return Secret(reference, problem=f"{reference} is not UTF-8 text")
    if len(raw) > LARGEST_SECRET:
        return Secret(reference, problem=f"{reference} is larger than {LARGEST_SECRET} bytes")
    return Secret(reference, value or None, None if value else f"{reference} is empty")
