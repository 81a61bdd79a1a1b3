"""From the bytes of `intake.toml` to `Settings`, or to one error that names every problem."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from intake.config import build, crosschecks, document
from intake.config.document import Complaint
from intake.config.errors import ConfigError, Problem, dotted
from intake.config.known import KNOWN_PROVIDERS
from intake.config.positions import line_of, lines
from intake.config.secret import ReadFile, read_file, resolve
from intake.config.settings import Settings

LARGEST_FILE: Final = 1024 * 1024  # bytes; about five thousand sources
TOML_PLACE: Final = re.compile(r"(?P<rule>.*) \(at line (?P<line>\d+), (?P<column>column \d+)\)", re.DOTALL)
PORT: Final = re.compile(r"[0-9]{1,5}", re.ASCII)
NOT_UTF8: Final = "must be UTF-8 text"


def load(
    path: Path,
    environ: Mapping[str, str],
    *,
    built_in: Collection[str] = KNOWN_PROVIDERS,
    read_secret: ReadFile = read_file,
    may_be_sourceless: bool = False,
) -> Settings:
    """Read a configuration file.  `built_in` are the providers that this version has; secrets are looked up now.

    `may_be_sourceless`: for a command that looks at accounts only.

    Raises ConfigError for a file that cannot be read or that breaks a rule.  A secret that is missing is no error: it
    closes its source or destination, and stands in `Settings.notices`.
    """
    text = _text(path)
    read, complaints = document.read(_tables(path, text))
    complaints.extend(crosschecks.check(read))
    if may_be_sourceless:
        complaints = [each for each in complaints if each[1] != document.NO_SOURCES]
    if complaints:
        raise ConfigError(str(path), _problems(text, complaints))
    look_up = partial(resolve, environ=environ, folder=path.parent, read=read_secret)
    built = build.settings(read, look_up, built_in)
    return built if "public_base_url" in read.intake else replace(built, public_base_url=_local(environ))


def _local(environ: Mapping[str, str]) -> str:
    """Where the receiver of this host listens.  A PORT that is none is refused with the process's other settings."""
    port = environ.get("PORT") or ""
    return f"http://127.0.0.1:{port if PORT.fullmatch(port) else 8080}"


def _text(path: Path) -> str:
    """The file, without the mark that some editors put before UTF-8."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise ConfigError(str(path), [Problem(None, "", f"cannot be read ({reason})")]) from None
    if len(raw) > LARGEST_FILE:
        raise ConfigError(str(path), [Problem(None, "", f"must have at most {LARGEST_FILE} bytes")])
    try:
        return raw.decode().removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
    raise ConfigError(str(path), [Problem(line, "", NOT_UTF8)])


def _tables(path: Path, text: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        problem = Problem(1, "", "is nested too deeply")
    except ValueError as error:
        # Beside its own error tomllib lets through what int() says of a number of 5,000 digits.
        problem = _toml_problem(error, text)
    raise ConfigError(str(path), [problem])


def _toml_problem(error: ValueError, text: str) -> Problem:
    match = TOML_PLACE.fullmatch(str(error))
    if match:
        return Problem(int(match["line"]), match["column"], f"not valid TOML: {match['rule']}")
    if isinstance(error, tomllib.TOMLDecodeError):
        rule = str(error).removesuffix(" (at end of document)")
        return Problem(text.count("\n") + 1, "end of file", f"not valid TOML: {rule}")
    return Problem(1, "", "not valid TOML: a value is out of range")


def _problems(text: str, complaints: Iterable[Complaint]) -> list[Problem]:
    found = lines(text)
    return [Problem(line_of(place, found), dotted(place), rule) for place, rule in complaints]
