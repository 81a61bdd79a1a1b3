"""What `docs/reference/api.md` says of the door: its addresses, what it answers, and why it refuses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Final

from intake.door_texts import REFUSED
from tests.reference.answered import CHECKOUT, refusals
from tests.reference.markdown import code, table

# By method and rule, as Flask has them; a test compares.
ADDRESSES: Final[Mapping[str, str]] = {
    "POST /hooks/<source>": "A delivery of a source's sender.",
    "GET /hooks/<source>": (
        "A provider's handshake, for a source with `verify_token`; a delivery by GET, where the source has `allow_get`."
    ),
    "POST /test/hooks/<source>": "The same checks, in test mode: it never reaches a live CRM.",
    "GET /test/hooks/<source>": "The same by GET, in test mode.",
    "OPTIONS /hooks/<source>": "May this page send? Only for sources that browsers deliver to.",
    "OPTIONS /test/hooks/<source>": "The same, in test mode.",
    "GET /snippet/<source>.js": "The script for a page's own form, for sources that browsers deliver to.",
    "GET /test/snippet/<source>.js": "The same script: at this address it sends in test mode.",
    "GET /hooks/_installation": "Which installation listens here, so that `intake check` sees where senders get to.",
    "GET /healthz": "Whether the process answers.",
    "GET /readyz": "Whether a delivery can be accepted now; how the clock and the workers are stands beside it.",
}
# These are answered before Flask looks for a route (intake/browsers.py).
BEFORE_ROUTES: Final = frozenset({"OPTIONS /hooks/<source>", "OPTIONS /test/hooks/<source>"})

BESIDE: Final = """Beside it listen `/console` ([for people](../console.md)), `/metrics`
([for Prometheus](../monitoring.md)), `/api/v1` (below), and its description at `/api/`."""

ACCEPTED: Final = """An accepted delivery is answered with 200, or with the source's `accepted_status`.
Twilio reads an empty TwiML instead, with `events` in the header `Intake-Events`."""

# By field of an answer that accepts.
FIELDS: Final[Mapping[str, str]] = {
    "received": "`true`: it is kept, whatever becomes of it.",
    "events": "What can become work, one for each message, submission or version of a quote.",
    "events[].event_id": "The id of the event; a repeated delivery is answered with the first one's.",
    "events[].kind": "`form`, `whatsapp` or `quote`.",
    "events[].state": "Where its delivery stands: see [states](states.md).",
    "events[].duplicate": "It was here before, with the same content.",
    "events[].conflict": "It was here before, with other content: both are kept, and a person decides.",
    "updates": "How many changes of events that stand already: edits, revokes, later states of an order.",
    "conflicts": "How many conflicts.",
    "quarantined": "How many parts were authentic and could not be read; they are kept for a person.",
    "ignored": "How many parts are nothing to deliver: statuses, reactions, pings, a provider's own tests.",
}


def text() -> str:
    """The section."""
    return "\n\n".join((
        "## The door",
        "For senders: each request proves itself as its provider does it; see [sources](../sources.md).",
        table(("method", "address", "what it is"), _addresses()),
        BESIDE,
        ACCEPTED,
        table(("field", "what it is"), ((code(name), FIELDS[name]) for name in answered())),
        'A refusal is `{"error": code, "fields": {field: rule}}`; 503 and 429 have a `Retry-After`.',
        table(("code", "status", "what it says", "en español"), _refusals()),
    ))  # fmt: skip


def _addresses() -> Iterator[tuple[str, str, str]]:
    for address, said in ADDRESSES.items():
        method, _, rule = address.partition(" ")
        yield method, code(rule), said


def answered() -> list[str]:
    """The fields of an answer that accepts, as the code makes it."""
    module = ast.parse((CHECKOUT / "intake" / "receive.py").read_text("utf-8"))
    made = next(each for each in module.body if isinstance(each, ast.FunctionDef) and each.name == "_document")
    outer, inner = (each for each in ast.walk(made) if isinstance(each, ast.Dict))
    below = [f"events[].{name}" for name in _keys(inner)]
    return [name for key in _keys(outer) for name in (key, *(below if key == "events" else ()))]


def _keys(made: ast.Dict) -> list[str]:
    return [str(each.value) for each in made.keys if isinstance(each, ast.Constant)]


# What a program is told that can mend its request; from everybody else it is kept for a person.
MENDABLE: Final = (
    "It could not be read, and its sender's program can mend it.",
    "No se pudo leer, y el programa que lo envía puede corregirlo.",
)

# Those whose code is the status's own name (intake/app.py).
BY_NAME: Final = ("not_found",)


def codes_of_door() -> Mapping[str, frozenset[int]]:
    """Every code, with its statuses."""
    found = refusals("refused", "intake/app.py", "intake/receive.py", "intake/browsers.py")
    return {**found, **{name: frozenset({HTTPStatus[name.upper()].value}) for name in BY_NAME}}


def _refusals() -> Iterator[tuple[str, str, str, str]]:
    found = codes_of_door()
    for name, said in REFUSED.items():
        yield code(name), ", ".join(str(each) for each in sorted(found[name])), said.en, said.es
    yield "a word of [what could not be read](states.md#what-could-not-be-read)", "422", *MENDABLE
