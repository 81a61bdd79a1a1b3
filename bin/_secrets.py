"""Look for secrets in the files that git tracks; bin/check calls this.  Exit 1 on a finding, 77 where there is no git.

What is looked for are credentials that can be told by their shape: those of well-known services, as detect-secrets
knows them, and those of the servers that this project speaks to.  Nothing is sent anywhere to try whether it is valid.
A secret without a shape of its own (a password, a hexadecimal key) is not seen.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

ROOT = Path(__file__).resolve().parent.parent
NOT_DONE = 77


class OurServersDetector(RegexBasedDetector):
    """Credentials of the CRMs and senders that this project knows and detect-secrets does not."""

    secret_type = "Credential of a CRM or a sender"  # noqa: S105
    denylist = (
        # HubSpot: the token of a private app.
        re.compile(r"\bpat-[a-z]{2,4}[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE),
        # Meta: an access token (WhatsApp, lead ads).
        re.compile(r"\bEAA[A-Za-z0-9]{60,}"),
        # Zoho: access, refresh and grant tokens.
        re.compile(r"\b1000\.[0-9a-f]{32}\.[0-9a-f]{32}\b"),
        # Salesforce: an access token begins with the organization's id.
        re.compile(r"\b00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,}"),
        # Bitrix24: the address of an inbound webhook holds its secret.
        re.compile(r"\bbitrix24\.[a-z.]{2,10}/rest/[0-9]+/[a-z0-9]{16}\b"),
        # Pipedrive: a key is known only by what stands before it.
        re.compile(r"(?:api_token|x-api-token)[\"'=: ]{1,5}([0-9a-f]{40})\b", re.IGNORECASE),
        # Google: an API key.
        re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b"),
        # Standard Webhooks: the secret of an endpoint.
        re.compile(r"\bwhsec_[A-Za-z0-9+/]{32,}={0,2}"),
    )


DETECTORS: tuple[RegexBasedDetector, ...] = (
    AWSKeyDetector(),
    AzureStorageKeyDetector(),
    BasicAuthDetector(),
    DiscordBotTokenDetector(),
    GitHubTokenDetector(),
    JwtTokenDetector(),
    MailchimpDetector(),
    NpmDetector(),
    OurServersDetector(),
    PrivateKeyDetector(),
    SendGridDetector(),
    SlackDetector(),
    StripeDetector(),
    TwilioKeyDetector(),
)

# Reviewed, each once, wherever it stands: what has the shape of a secret and is none.
INVENTED = frozenset(
    {
        # Passwords in addresses of the docs and of tests.
        "...",
        "canary",
        "password",
        "secret",
        "sesame",
        "{CANARY}",
        # What the Standard Webhooks specification signs its example with.
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        # "some-secret-of-this-source", "secret-of-twenty-four-bytes", "new-secret-not-yet-in-use", "forged-forged-...".
        "whsec_c29tZS1zZWNyZXQtb2YtdGhpcy1zb3VyY2U",
        "whsec_c2VjcmV0LW9mLXR3ZW50eS1mb3VyLWJ5dGVz",
        "whsec_bmV3LXNlY3JldC1ub3QteWV0LWluLXVzZQ",
        "whsec_Zm9yZ2VkLWZvcmdlZC1mb3JnZWQtZm9y",
    }
)


class Finding(NamedTuple):
    """Where something stands that looks like a secret.  It is not shown: the output is kept by whoever runs this."""

    path: str
    line: int
    kind: str


def main() -> int:
    """Look at all tracked files.  Returns the exit status."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    if listed.returncode:
        print("not done: this is no checkout of git, so nobody knows which files are its own")
        return NOT_DONE
    found = list(findings(ROOT, filter(None, listed.stdout.split("\0"))))
    for finding in found:
        print(f"{finding.path}:{finding.line}: {finding.kind}")
    if found:
        print(f"{len(found)} found. Revoke what is real; name what is invented in bin/_secrets.py, with a reason.")
    return 1 if found else 0


def findings(root: Path, paths: Iterable[str]) -> Iterator[Finding]:
    """What these files hold, by their paths below `root`.  Files that are gone and links are passed over."""
    for path in paths:
        file = root / path
        if file.is_file() and not file.is_symlink():
            text = file.read_bytes().decode(errors="replace")
            yield from (Finding(path, line, kind) for line, kind in secrets_in(text))


def secrets_in(text: str) -> Iterator[tuple[int, str]]:
    """Lines, from 1, and what stands there."""
    for detector in DETECTORS:
        for secret in detector.analyze_string(text):
            if secret.rstrip("=") not in INVENTED:
                yield text.count("\n", 0, text.find(secret)) + 1, detector.secret_type


if __name__ == "__main__":
    sys.exit(main())
