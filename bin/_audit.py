"""Ask whether a known hole is in what requirements.lock names; bin/check calls this.

Exit 1 where one is, 77 where it cannot be told: the database (PyPI's advisories) is out of reach or does not know all
of the packages, as behind a company's own index.  Nothing but names and versions is sent.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
NOT_DONE = 77
# Seconds for one answer of the database, and for all of them: a check without a network ends soon, too.
ANSWER_LIMIT = 5
LIMIT = 40.0
# Reviewed: holes that do not reach us, by id (PYSEC-..., GHSA-..., CVE-...), each with a comment that says why.
HARMLESS: tuple[str, ...] = ()


class Verdict(NamedTuple):
    """What the database says: packages with their holes, and how many packages it said nothing about."""

    holes: list[str]
    asked: int
    unknown: int


def main() -> int:
    """Audit, and say what came of it.  Returns the exit status."""
    return tell(answer_of(command(HARMLESS), limit=LIMIT))


def command(harmless: Iterable[str]) -> list[str]:
    """How pip-audit is asked."""
    asked = [sys.executable, "-m", "pip_audit", "--requirement", "requirements.lock", "--require-hashes"]
    asked += ["--disable-pip", "--format", "json", "--progress-spinner", "off", "--timeout", str(ANSWER_LIMIT)]
    return asked + [word for name in harmless for word in ("--ignore-vuln", name)]


def answer_of(asked: Sequence[str], *, limit: float) -> str:
    """What this command prints within `limit` seconds; nothing where it takes longer."""
    try:
        return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=limit, check=False).stdout
    except subprocess.TimeoutExpired:
        return ""


def tell(said: str) -> int:
    """Print what pip-audit's JSON means.  Returns the exit status."""
    verdict = judge(said)
    if verdict is None or verdict.unknown == verdict.asked:
        print("not done: the database of known holes is out of reach, or knows none of the packages")
        return NOT_DONE
    for hole in verdict.holes:
        print(hole)
    if verdict.unknown:
        print(f"not done for {verdict.unknown} of {verdict.asked} packages: the database in reach does not know them")
    if verdict.holes:
        return 1
    return NOT_DONE if verdict.unknown else 0


def judge(said: str) -> Verdict | None:
    """Read pip-audit's JSON; None where it is none, because it stopped at an error."""
    try:
        packages = json.loads(said)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return None
    holes = [line for package in packages for line in _holes(package)]
    return Verdict(holes, len(packages), sum("skip_reason" in package for package in packages))


def _holes(package: dict[str, object]) -> Iterable[str]:
    found = package.get("vulns")
    for hole in found if isinstance(found, list) else []:
        mended = ", ".join(hole["fix_versions"]) or "no version yet"
        yield f"{package['name']} {package['version']}: {hole['id']}, mended in {mended}"


if __name__ == "__main__":
    sys.exit(main())
