"""The public address, for the doctor: can senders use it, and does it lead to this installation?

It is asked as a sender would ask it, without a secret and without following anybody.  A host behind NAT often cannot
call its own public address, so that no answer is a warning, with what to ask from elsewhere.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import psycopg

from crm_clients.base import Account, Request, Response
from crm_clients.transport import Answered, NotSent, Transport, Unanswered
from crm_clients.watchdog import boot_clock
from intake import doorplate, installation
from intake.cli import place
from intake.cli.group import Misconfigured
from intake.config import Settings
from intake.config.words import LOOPBACK
from intake.doctor import Line, Verdict

PATIENCE: Final = 3.0
MOST_BODY_BYTES: Final = 64 * 1024  # of an answer; a plate has some dozen
# Of names that mean something in one network only (RFC 6761, 6762, 8375; ICANN on .internal, 2024).
OWN_NETWORK: Final = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".test", ".example", ".invalid")

FORM, REACHED = "public address", "public address reached"


def of_public_address(settings: Settings) -> Iterator[Line]:
    """Whether senders can use the address, and get here by it."""
    yield form_of(settings.public_base_url)
    with Transport(most_body_bytes=MOST_BODY_BYTES) as transport:
        yield reached(settings.public_base_url, transport, expected=_ours())


def _ours() -> str | None:
    """What this installation's plate says; None: its database cannot be asked, which another line tells."""
    try:
        with place.connection() as conn:
            return doorplate.words(installation.read(conn))
    except (psycopg.Error, Misconfigured, installation.Mismatch):
        return None


# --- what it looks like ---------------------------------------------------------------------------------------------


def form_of(address: str) -> Line:
    """Whether somebody elsewhere could use it, by what it looks like."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if _is_own(host):
        return Line("warn", FORM, f"{address} is this host's own",
                    "set intake.public_base_url to the https address that senders call")  # fmt: skip
    if not _is_public(host):
        return Line("warn", FORM, f"{address} means something in its own network only",
                    "set intake.public_base_url to an address that senders elsewhere can call")  # fmt: skip
    if parts.scheme != "https":
        return Line("warn", FORM, f"{address} is not encrypted, and leads are read on the way",
                    "let a proxy with a certificate stand before it, and set intake.public_base_url so")  # fmt: skip
    return Line("ok", FORM, address)


def _is_own(host: str) -> bool:
    return host in LOOPBACK or host.startswith("127.")


def _is_public(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host.strip(".") and not host.rstrip(".").endswith(OWN_NETWORK)


# --- where it leads -------------------------------------------------------------------------------------------------

PROXY: Final = "let the proxy there pass /hooks/ and /test/hooks/ to the receiver as they are"
# By the transport's words: what is wrong, and what to do.
NOT_SENT: Final[Mapping[str, tuple[str, str]]] = {
    "dns": ("its name is not known here", "check its DNS entry"),
    "refused": ("nobody listens there", "start the web process (`intake up`), or the proxy before it"),
    "tls": ("its certificate is not accepted", "renew it, or complete its chain: senders refuse it as well"),
}
SILENT: Final = ("no answer in time", PROXY)


def reached(address: str, transport: Transport, *, expected: str | None, patience: float = PATIENCE) -> Line:
    """Ask the plate there, for so many seconds.  `expected`: what ours says, None: nobody knows just now."""
    asked = Request("GET", doorplate.PATH)
    match transport.look(Account("public address", address), asked, deadline=boot_clock() + patience):
        case Answered(response):
            return _answered(address, response, expected)
        case NotSent(reason):
            return _warning(address, *NOT_SENT.get(reason, SILENT), expected)
        case Unanswered():
            return _warning(address, *SILENT, expected)


def _answered(address: str, response: Response, expected: str | None) -> Line:
    found = _plate(response)
    if found is None:
        return _warning(address, *_strange(response.status), expected)
    if expected is None:
        return Line("warn", REACHED, f"installation {found} answers; is it this one?", "mend the database first")
    if found != expected:
        # At an address of this host's own no sender from elsewhere is lost.
        verdict: Verdict = "warn" if _is_own(urlsplit(address).hostname or "") else "fail"
        return Line(verdict, REACHED, "another installation answers, and gets what is sent there",
                    "correct intake.public_base_url, or where its name and the proxy there lead")  # fmt: skip
    return Line("ok", REACHED, "this installation answers")


def _plate(response: Response) -> str | None:
    """What it says; None: it is no plate."""
    try:
        document = json.loads(response.body) if response.status == HTTPStatus.OK else None
    except (ValueError, RecursionError):
        return None
    said = document.get("installation") if isinstance(document, dict) else None
    return said if isinstance(said, str) and doorplate.WORDS.fullmatch(said) else None


def _strange(status: int) -> tuple[str, str]:
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return f"it redirects ({status}), and senders do not follow", "set the address to which it redirects"
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return f"it answers {status}", "start the web process behind it, and see whether that has its database"
    return f"it answers {status}, and not as this program does", PROXY


def _warning(address: str, why: str, remedy: str, expected: str | None) -> Line:
    if _is_own(urlsplit(address).hostname or ""):
        return Line("warn", REACHED, why, remedy)
    elsewhere = f"from elsewhere `curl {address}{doorplate.PATH}` must say {expected or 'which installation it is'}"
    return Line("warn", REACHED, why, f"{remedy}. A host behind NAT may be unable to call itself: {elsewhere}")
