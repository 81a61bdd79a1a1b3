"""The guide's first lines, as they stand there, on an empty machine: a wheel, an empty venv, an empty home.

TUTORIAL_FROM_INDEX=1: `pip install` as written, from the machine's package index.  Without it the new venv borrows the
libraries of this one, and only the wheel itself is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.running import clean_up, until

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
GUIDE = CHECKOUT / "docs" / "getting-started.md"
FIRST_LEAD_WITHIN = 300.0  # seconds, from the empty folder on
FROM_INDEX = bool(os.environ.get("TUTORIAL_FROM_INDEX"))

# In place of the lines that make a venv and fill it from an index.
BORROWED = """{python} -m venv --without-pip leads
. leads/bin/activate
{python} {pip}/pip --python leads/bin/python install -q --no-deps --no-index "{wheel}"
echo {libraries} > "$(leads/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/borrowed.pth"
"""


@dataclass(slots=True)
class Machine:
    """An empty folder and home, and what its two shells have said."""

    folder: Path
    port: int
    up: subprocess.Popen[bytes] | None = None

    @property
    def environ(self) -> dict[str, str]:
        """Of somebody who has just logged in, on a machine whose 8080 may be taken."""
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        index = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "UV_"))}
        return {"PATH": path, "HOME": str(self.folder / "home"), "LANG": "C.UTF-8", "PORT": str(self.port), **index}

    def first_shell(self, script: str) -> None:
        """Type these lines; the last one stays."""
        with self.log.open("wb") as out:
            self.up = subprocess.Popen(
                ["/bin/sh", "-e", "-c", script.replace("\nintake up", "\nexec intake up")],
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        until(lambda: b"\nready " in self.log.read_bytes() or self.ended(), FIRST_LEAD_WITHIN)
        assert not self.ended(), self.log.read_text()

    def second_shell(self, script: str) -> str:
        """Type these lines; what they said."""
        done = subprocess.run(
            ["/bin/sh", "-e", "-c", script],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ended(self) -> bool:
        return self.up is not None and self.up.poll() is not None

    @property
    def log(self) -> Path:
        return self.folder / "up.log"


@pytest.fixture
def machine() -> Iterator[Machine]:
    # A short path that an unprivileged user may pass through, as PostgreSQL needs it when root starts it.
    folder = Path(tempfile.mkdtemp(prefix="lead-intake-tutorial-"))
    folder.chmod(0o711)
    for name in ("home", "bin"):
        (folder / name).mkdir()
    (folder / "bin" / "python3").symlink_to(sys.executable)
    made = Machine(folder, free_port())
    try:
        yield made
    finally:
        if made.up is not None and made.up.poll() is None:
            made.up.send_signal(signal.SIGTERM)
            made.up.wait(120)
        clean_up(folder)
        shutil.rmtree(folder)


def blocks() -> list[str]:
    """What stands between fences on the guide's page, in order."""
    return re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def built(folder: Path) -> Path:
    """The wheel, as a clone of what git does not ignore here makes it, in this folder."""
    git = [shutil.which("git") or "", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, cwd=CHECKOUT, check=True, capture_output=True).stdout
    clone = folder / "clone"
    for name in filter(None, listed.decode().split("\0")):
        if (CHECKOUT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, clone / name)
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=clone, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    shutil.rmtree(clone)
    return wheel


def installing(script: str, wheel: Path) -> str:
    """The first shell's lines; without an index its first three are others that come to the same."""
    assert wheel.name in script, "the guide names another version"
    if FROM_INDEX:
        return script
    _, _, rest = script.partition(f'"{wheel.name}[embedded]"\n')
    (pip,) = (CHECKOUT / ".venv").glob("pip-*.whl")
    libraries = sysconfig.get_path("purelib")
    return BORROWED.format(python=sys.executable, pip=pip, wheel=wheel.name, libraries=libraries) + rest


def test_the_guides_lines_bring_a_first_lead_into_the_sandbox(machine: Machine) -> None:
    begun = time.monotonic()
    wheel = built(machine.folder)
    first, second, *_ = blocks()
    machine.first_shell(installing(first, wheel))
    said = machine.second_shell(second)
    assert "web-contact" in said
    again = "\n".join(second.splitlines()[:2] + second.splitlines()[-1:])
    assert until(lambda: "confirmado" in machine.second_shell(again)), machine.second_shell(again)
    assert "says `confirmado`" in GUIDE.read_text("utf-8")
    took = time.monotonic() - begun
    print(f"from the empty folder to the confirmed lead: {took:.0f} s")  # noqa: T201  # for whoever measures
    assert took < FIRST_LEAD_WITHIN
    installed = machine.folder / "leads" / "lib"
    assert any(installed.rglob("site-packages/intake/sql/schema.sql")), "it ran from somewhere else"
