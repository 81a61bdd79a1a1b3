"""Where the receiver listens, by its environment."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# The module reads the environment when it is imported, as gunicorn wants it.
BIND = "import intake.gunicorn_conf as conf; print(conf.bind)"


@pytest.mark.parametrize(
    ("given", "bind"),
    [
        ({}, "127.0.0.1:8080"),
        ({"PORT": "5000"}, "127.0.0.1:5000"),
        ({"PORT": "5000", "WEB_HOST": "0.0.0.0"}, "0.0.0.0:5000"),  # noqa: S104  # what a platform's router wants
        ({"PORT": "", "WEB_HOST": ""}, "127.0.0.1:8080"),
    ],
)
def test_it_listens_on_this_host_unless_it_is_told_otherwise(given: dict[str, str], bind: str) -> None:
    environ = {name: value for name, value in os.environ.items() if name not in {"PORT", "WEB_HOST"}}
    done = subprocess.run([sys.executable, "-c", BIND], env=environ | given, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == bind
