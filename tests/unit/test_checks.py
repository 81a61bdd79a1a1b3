"""What bin/check sees and does not see: planted secrets, known holes."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

CHECKOUT = Path(__file__).parents[2]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"check{name}", CHECKOUT / "bin" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


secrets = load("_secrets")
audit = load("_audit")

HEX, LETTERS = "0123456789abcdef", "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
# Made of two parts each, so that this file holds none.
PLANTED = {
    "an AWS key": "AKIA" + "QWERTYUIOPASDFGH",
    "a private key": "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAnot0a0real0key00\n",
    "a private key in JSON": '"-----BEGIN ' + 'PRIVATE KEY-----\\nMIIEpAIBAAKCAQEAnot0a0real0key00\\n"',
    "a Slack token": "xoxb-" + "123456789012-123456789012-abcdefghij",
    "a Slack webhook": "https://hooks.slack.com/" + "services/T0000AAAA/B0000AAAA/abcdefghij",
    "a HubSpot token": "pat-na1-" + "01234567-89ab-cdef-0123-456789abcdef",
    "a Meta token": "EAA" + LETTERS * 3,
    "a Zoho token": "1000." + HEX * 2 + "." + HEX * 2,
    "a Salesforce token": "00D" + "A00000000000Aaa!" + LETTERS * 3,
    "a Bitrix24 webhook": "https://example.bitrix24.es/" + "rest/1/abcdefghij012345/",
    "a Pipedrive key": "?api_token=" + HEX * 2 + "01234567",
    "a Google key": "AIza" + LETTERS[:35],
    "a secret of a webhook": "whsec_" + "cGxhbnRlZC1wbGFudGVkLXBsYW50ZWQtcGxhbnQ=",
    "a GitHub token": "ghp_" + LETTERS,
    "a password in an address": "postgresql://intake:" + "tr0ub4dor@127.0.0.1/intake",
}


@pytest.mark.parametrize("secret", PLANTED.values(), ids=PLANTED)
def test_a_planted_secret_is_found_where_it_stands(tmp_path: Path, secret: str) -> None:
    (tmp_path / "planted.txt").write_text(f"first line\nkey = {secret}\n")
    [found, *_] = secrets.findings(tmp_path, ["planted.txt"])
    assert (found.path, found.line) in {("planted.txt", 2), ("planted.txt", 3)}


def test_what_is_no_text_is_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "planted.bin").write_bytes(b"\x00\xff\xfe" + PLANTED["an AWS key"].encode() + b"\x00")
    assert len(list(secrets.findings(tmp_path, ["planted.bin"]))) == 1


def test_what_is_invented_is_no_finding() -> None:
    assert list(secrets.secrets_in("smtps://user:password@host:465")) == []


def test_a_file_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    assert list(secrets.findings(tmp_path, ["gone.txt"])) == []


def test_a_finding_is_told_without_its_secret(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)  # noqa: S607
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "_secrets.py").write_bytes((CHECKOUT / "bin" / "_secrets.py").read_bytes())
    (tmp_path / "planted.txt").write_text(PLANTED["a HubSpot token"])
    subprocess.run(["git", "-C", str(tmp_path), "add", "planted.txt"], check=True)  # noqa: S607
    ran = subprocess.run(
        [sys.executable, tmp_path / "bin" / "_secrets.py"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.splitlines()[0]) == (1, "planted.txt:1: Credential of a CRM or a sender")
    assert PLANTED["a HubSpot token"] not in ran.stdout + ran.stderr


SOUND = {"name": "flask", "version": "3.1.0", "vulns": []}
HOLED = {"name": "left", "version": "1.0", "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["1.1"]}]}
UNMENDED = {"name": "left", "version": "1.0", "vulns": [{"id": "PYSEC-2026-2", "fix_versions": []}]}
UNKNOWN = {"name": "ours", "skip_reason": "Dependency not found on PyPI"}


def test_a_known_hole_is_named_with_what_mends_it() -> None:
    verdict = audit.judge(json.dumps({"dependencies": [SOUND, HOLED, UNMENDED, UNKNOWN]}))
    assert verdict.holes == [
        "left 1.0: PYSEC-2026-1, mended in 1.1",
        "left 1.0: PYSEC-2026-2, mended in no version yet",
    ]
    assert (verdict.asked, verdict.unknown) == (4, 1)


@pytest.mark.parametrize(
    ("packages", "status"),
    [
        ([SOUND], 0),
        ([SOUND, HOLED], 1),
        ([HOLED, UNKNOWN], 1),
        ([SOUND, UNKNOWN], audit.NOT_DONE),
        ([UNKNOWN], audit.NOT_DONE),
    ],
)
def test_what_could_not_be_told_is_no_all_clear(packages: list[dict[str, object]], status: int) -> None:
    assert audit.tell(json.dumps({"dependencies": packages})) == status


@pytest.mark.parametrize("said", ["", "Traceback (most recent call last)", "[]", "{}"])
def test_without_its_database_the_audit_says_that_it_was_not_done(
    said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.tell(said) == audit.NOT_DONE
    assert capsys.readouterr().out.startswith("not done: ")


def test_a_database_that_does_not_answer_ends_the_audit() -> None:
    assert audit.answer_of([sys.executable, "-c", "import time; time.sleep(600)"], limit=0.5) == ""
