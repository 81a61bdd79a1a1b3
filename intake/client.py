"""For a company's own programs: hand a lead to the receiver once, whatever happens on the way.

    intake = Intake("https://intake.example.com", "web-contact", secret)
    match intake.send({"name": "Ana", "phone": "987654321"}, key="request-1234"):
        case Received(event_ids): ...   # it is stored
        case Refused(status, error): ...  # it is not, and the same again will not be
        case Unknown(reason): ...       # perhaps: send it again later, with the same key

It needs `requests` and nothing else of this package, so it may be copied.  The signature is Standard Webhooks'
(standard-webhooks/standard-webhooks, spec/standard-webhooks.md @b2fa7b8).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import queue
import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from itertools import islice
from typing import TypeAlias
from urllib.parse import urlsplit

import requests

# --- what becomes of a delivery -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Received:
    """It is stored, under these ids; none where it could not be read and a person of theirs looks at it.

    `duplicate`: it was stored before this answer, by an earlier call or by an earlier try of this one.  `conflict`: the
    key was used before, for other content; both are kept, and a person decides.
    """

    event_ids: tuple[str, ...]
    duplicate: bool = False
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """It is not stored, and the same again would be refused again.  `fields`: field -> the rule that it breaks."""

    status: int
    error: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may be stored, or not: send it again with the same key, which is safe for as long as you like."""

    reason: str


Outcome: TypeAlias = Received | Refused | Unknown

# --- one request ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """One try.  `within` seconds it must be over."""

    url: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    within: float


@dataclass(frozen=True, slots=True)
class Answer:
    """Header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Nobody knows whether the request arrived."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Again:
    """Not settled by this try.  `after`: not before so many seconds."""

    reason: str
    after: float = 0.0


Post: TypeAlias = Callable[[Request], Answer | NoAnswer]

# Bytes, in so many pieces at most; the answer to one lead has about 200.
LONGEST_ANSWER, MOST_PIECES = 64 * 1024, 100


def post(request: Request) -> Answer | NoAnswer:
    """Send it.  Raises nothing for anything that a network or a server does.

    `requests` has no limit for a whole exchange; so it runs in a thread, which is left to itself when time is over.
    """
    box: queue.SimpleQueue[Answer | NoAnswer] = queue.SimpleQueue()
    threading.Thread(target=lambda: box.put(_exchange(request)), daemon=True).start()
    try:
        return box.get(timeout=max(0.0, request.within))
    except queue.Empty:
        return NoAnswer("timeout")


def _exchange(request: Request) -> Answer | NoAnswer:
    try:
        with requests.post(
            request.url,
            data=request.body,
            headers=dict(request.headers),
            timeout=max(0.001, request.within),
            allow_redirects=False,  # A redirected POST loses its body.
            stream=True,
            auth=lambda same: same,  # Else it looks into ~/.netrc, and sends what it finds along.
        ) as answer:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            return Answer(answer.status_code, headers, _whole(answer))
    except (requests.RequestException, OSError, ValueError) as error:
        return NoAnswer(type(error).__name__)


def _whole(answer: requests.Response) -> bytes:
    """A chunked body comes in pieces of any size; most of ours is one."""
    return b"".join(islice(answer.iter_content(LONGEST_ANSWER), MOST_PIECES))


# --- sending --------------------------------------------------------------------------------------------------------

KEY = re.compile(r"[A-Za-z0-9._:/+=@-]{1,200}", re.ASCII)
SOURCE = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# Seconds.  The pause after try n is a random part of FIRST_PAUSE * 2^n, so that many programs do not come back at once.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 20.0

# Refusals that pass by themselves, as any 5xx does.
PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True)
class Intake:
    """One source of one receiver.  May be used by several threads.

    `within`: seconds for a whole `send`, all tries and pauses together.  `tries`: how often at most.  `test`: as tests,
    which never reach a live CRM.  `clock` counts seconds, `now` is Unix time, `random` gives 0 to 1, `sleep` waits.
    Raises ValueError for settings that cannot work.
    """

    base_url: str
    source: str
    secret: str = field(repr=False)
    test: bool = field(default=False, kw_only=True)
    within: float = field(default=20.0, kw_only=True)
    tries: int = field(default=5, kw_only=True)
    post: Post = field(default=post, kw_only=True)
    clock: Callable[[], float] = field(default=time.monotonic, kw_only=True)
    now: Callable[[], float] = field(default=time.time, kw_only=True)
    sleep: Callable[[float], object] = field(default=time.sleep, kw_only=True)
    random: Callable[[], float] = field(default=random.random, kw_only=True)

    def __post_init__(self) -> None:
        address = urlsplit(self.base_url)
        if address.scheme != "https" and not (address.scheme == "http" and address.hostname in LOOPBACK):
            raise ValueError("base_url must begin with https://, because a person's data is sent there")
        if not SOURCE.fullmatch(self.source):
            raise ValueError("source must be 1 to 64 small letters, digits or dashes")
        if not _signing_key(self.secret):
            raise ValueError("secret must be the source's secret, as whsec_ and base64")

    @property
    def url(self) -> str:
        return f"{self.base_url.rstrip('/')}{'/test' if self.test else ''}/hooks/{self.source}"

    def send(self, content: Mapping[str, object], *, key: str) -> Outcome:
        """Deliver `content`; equal keys are one event, so take the id that your own database has for it.

        Raises ValueError or TypeError for a key or content that can never be sent; nothing for what happens on the way.
        """
        if not KEY.fullmatch(key):
            raise ValueError("key must be 1 to 200 letters, digits or . _ : / + = @ -")
        body = json.dumps(content, allow_nan=False).encode()
        until = self.clock() + self.within
        last = Unknown("no_time")
        for number in range(self.tries):
            if (left := until - self.clock()) <= 0:
                break
            match self._try(body, key, left):
                case _Again(reason, after):
                    last = Unknown(reason)
                    if not self._wait(number, after, until):
                        break
                case outcome:
                    return outcome
        return last

    def _try(self, body: bytes, key: str, within: float) -> Received | Refused | _Again:
        match self.post(Request(self.url, body, self._headers(body, key), within)):
            case NoAnswer(reason):
                return _Again(reason)
            case answer:
                return _judged(answer, self.now())

    def _headers(self, body: bytes, key: str) -> dict[str, str]:
        """Signed anew for each try, since a signature is good for five minutes; the id and the key stay."""
        stamp = str(int(self.now()))
        mac = hmac.new(_signing_key(self.secret), f"{key}.{stamp}.".encode() + body, hashlib.sha256).digest()
        return {
            "content-type": "application/json",
            "idempotency-key": key,
            "webhook-id": key,
            "webhook-timestamp": stamp,
            "webhook-signature": f"v1,{base64.b64encode(mac).decode()}",
        }

    def _wait(self, number: int, after: float, until: float) -> bool:
        """Pause before the next try; False: there is to be none."""
        pause = after + self.random() * min(LONGEST_PAUSE, FIRST_PAUSE * 2**number)
        if number + 1 >= self.tries or self.clock() + pause >= until:
            return False
        self.sleep(pause)
        return True


def _signing_key(secret: str) -> bytes:
    """As the reference libraries read it: base64, after `whsec_` or bare; what is neither is the key as it stands."""
    raw = secret.encode("utf-8", "backslashreplace")
    try:
        return base64.b64decode(raw.removeprefix(b"whsec_"), validate=True)
    except binascii.Error:
        return b"" if raw.startswith(b"whsec_") else raw


# --- reading the answer ---------------------------------------------------------------------------------------------


def _judged(answer: Answer, now: float) -> Received | Refused | _Again:
    document = _document(answer.body)
    if HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        return _received(answer, document)
    error = document.get("error")
    word = error if isinstance(error, str) else f"status {answer.status}"
    if answer.status in PASSING or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _Again(word, _retry_after(answer.headers.get("retry-after", ""), now))
    rules = document.get("fields")
    fields = {str(name): str(rule) for name, rule in rules.items()} if isinstance(rules, dict) else {}
    return Refused(answer.status, word, fields)


def _received(answer: Answer, document: Mapping[str, object]) -> Received | Refused | _Again:
    """What a success says.  One that is not the receiver's own (a proxy's page) leaves everything open."""
    listed = document.get("events")
    if document.get("received") is not True or not isinstance(listed, list):
        return _Again("unreadable_answer")
    events = [each for each in listed if isinstance(each, dict)]
    if not events and not document.get("quarantined"):
        return Refused(answer.status, "empty")  # Nothing that anybody could act on was in it.
    repeated = "idempotent-replayed" in answer.headers or all(each.get("duplicate") is True for each in events)
    return Received(
        event_ids=tuple(str(each.get("event_id")) for each in events),
        duplicate=bool(events) and repeated,
        conflict=any(each.get("conflict") is True for each in events),
    )


def _document(body: bytes) -> Mapping[str, object]:
    try:
        read: object = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _retry_after(value: str, now: float) -> float:
    """Seconds, from seconds or from a date (RFC 9110, 10.2.3); 0 for what is neither."""
    if re.fullmatch(r"[0-9]{1,9}", value.strip(), re.ASCII):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0
