"""Nobody writes a line of their own into a log, whatever they send."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

FORGED = '{"event": "forged"}'
NASTY = {
    "a new line": f"x\n{FORGED}",
    "a carriage return": f"x\r{FORGED}\r\n",
    "other ends of lines": f"x\x0b{FORGED}\x0c\x1c\x1d\x1e\x85{FORGED}\u2028{FORGED}\u2029{FORGED}",
    "a terminal's commands": f"x\x1b[2K\x1b[1A{FORGED}\x9b1A\x07",
    "the end of the object": '"}\n{"event": "forged',
    "NUL, and half a character": f"\x00\udcff\n{FORGED}",
}
# As each process does it, as gunicorn's master does it, and each with an error whose text somebody sent.
PROGRAM = """
import ast, logging, sys
from gunicorn.config import Config
import structlog
from intake import gunicorn_log, logs
nasty = ast.literal_eval(sys.argv[1])
logs.configure()
log = structlog.get_logger()
log.warning(nasty, source=nasty, error=nasty)
logging.getLogger("library").warning("said %s", nasty)
config = Config()
config.set("loglevel", "warning")
gunicorns = gunicorn_log.Logger(config)
gunicorns.warning("said %s", nasty)
try:
    raise ValueError(nasty)
except ValueError:
    logging.getLogger("library").exception("failed")
    gunicorns.exception("failed")
"""


@pytest.mark.parametrize("nasty", NASTY.values(), ids=NASTY)
def test_nobody_begins_a_line_in_a_log(nasty: str) -> None:
    said = subprocess.run([sys.executable, "-c", PROGRAM, repr(nasty)], capture_output=True, check=True).stderr
    lines = said.decode("ascii").splitlines()
    assert [set(json.loads(line)) >= {"event", "level", "timestamp"} for line in lines] == [True] * 5
    assert "forged" not in [json.loads(line)["event"] for line in lines]
    assert all(char.isprintable() for line in lines for char in line)
