"""docs/own-sites.md: its examples run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.web_process import CHECKOUT, Answer, Web, web

PAGE = (CHECKOUT / "docs" / "own-sites.md").read_text("utf-8")
SECRET = "whsec_c2VjcmV0LW9mLXR3ZW50eS1mb3VyLWJ5dGVz"


def sources() -> dict[str, str]:
    """The two that the page describes, with the tests' own secret."""
    tables = re.findall(r"    \[\[sources\]\]\n    name = \"([a-z-]+)\"\n((?:    .+\n)+)", PAGE)
    return {name: re.sub(r"^    ", "", rest, flags=re.MULTILINE) for name, rest in tables}


def example(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def run_program(made: Web) -> str:
    environ = {**os.environ, "INTAKE_URL": f"http://127.0.0.1:{made.port}", "WEB_CONTACT_SECRET": SECRET}
    done = subprocess.run(
        [sys.executable, "-c", example("python")], cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_examples_work_as_they_stand(database_url: str, redis_url: str, tmp_path: Path) -> None:
    servers = {"database_url": database_url, "redis_url": redis_url}
    with web(tmp_path, **servers, sources=sources(), WEB_CONTACT_SECRET=SECRET) as made:
        first, second = run_program(made), run_program(made)
        sent = send_form(made)
    assert first.startswith("received: ")
    assert second == first
    assert sent.status == 200


def send_form(made: Web) -> Answer:
    """What the page's form sends without the script, to the address that it names."""
    (action,) = re.findall(r'action="https://intake.example.com([^"]+)"', example("html"))
    names = re.findall(r'name="([a-z_]+)"', example("html"))
    body = "&".join(f"{name}={'Ana' if name == 'nombre' else ''}" for name in names).encode()
    headers = {"Origin": "https://www.example.com", "Content-Type": "application/x-www-form-urlencoded"}
    return made.send("POST", action, body, headers)
