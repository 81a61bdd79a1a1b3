"""No token, name, phone or text in any log of the web process, whichever way a delivery takes."""

from __future__ import annotations

import itertools
from pathlib import Path

import psycopg

from tests.doorway import ENVIRON, as_json, message, quote, whatsapp
from tests.web_process import Web, web

# A word that stands in everything that is sent.
CANARY = "canario7f3a"
HEAD = b"POST /hooks/generic?token=canario7f3a HTTP/1.1\r\nHost: canario7f3a\r\n"

NO_HTTP = (
    b"canario7f3a\r\n\r\n",
    b"canario7f3a /hooks/canario7f3a\r\n\r\n",
    b"CANARIO7F3A /canario7f3a HTTP/9\r\n\r\n",
    HEAD + b"canario7f3a\r\n\r\n",
    HEAD + b"X-canario7f3a\x00: canario7f3a\r\n\r\n",
    HEAD + b"X-Intake-Token: canario7f3a\x01\r\n\r\n",
    HEAD + b"Expect: canario7f3a\r\n\r\n",
    HEAD + b"Content-Length: canario7f3a\r\n\r\n",
    HEAD + b"Transfer-Encoding: canario7f3a\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\ncanario7f3a\r\n",
    HEAD + b"X-Long: " + b"canario7f3a" * 1000 + b"\r\n\r\n",
    HEAD + b"Content-Length: 100\r\n\r\ncanario7f3a",
)

BODIES = (
    as_json({"name": CANARY, "email": f"{CANARY}@example.com", "phone": CANARY, CANARY: CANARY}),
    b'{"' + CANARY.encode(),
    CANARY.encode() + b"=" + CANARY.encode(),
    as_json({"name": CANARY, "message": CANARY * 1000}),
    whatsapp(message(f"wamid.{CANARY}", CANARY, sender=CANARY), {CANARY: CANARY}, CANARY),
    as_json(quote(number=CANARY, message=CANARY)),
    as_json(quote(number=[CANARY], currency=CANARY, contact={"name": CANARY, CANARY: 1})),
)
SOURCES = ("web", "generic", "wa", "quotes", "small", "keyed", "gated", "no-secret", "off", CANARY)


def send_everything(made: Web) -> None:
    """Each body to each source, signed and not, in each way that the door refuses or accepts."""
    counter = itertools.count()
    for source, body in itertools.product(SOURCES, BODIES):
        if source in made.settings.sources and made.settings.sources[source].secret_values:
            for delivery_id in (CANARY, f"{CANARY}-{next(counter)}"):
                made.post(source, body, delivery_id=delivery_id)
        made.send("POST", f"/hooks/{source}?token={CANARY}", body, {"X-Intake-Token": CANARY, "Cookie": CANARY})
    for method, path in itertools.product(("GET", "PUT", CANARY), ("/hooks/wa", f"/{CANARY}", "/readyz")):
        made.send(method, f"{path}?hub.verify_token={CANARY}&hub.challenge={CANARY}", headers={"Referer": CANARY})
    for request in NO_HTTP:
        made.say(request)


def test_no_log_of_the_web_process_names_a_person_or_a_secret(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    with web(tmp_path, database_url=database_url, redis_url=redis_url) as made:
        send_everything(made)
        with psycopg.connect(database_url) as conn:
            # From here on the database refuses in the middle, and its own words would quote the row.
            conn.execute(f"ALTER TABLE events ADD CHECK (request_id = '{CANARY}') NOT VALID")
        send_everything(made)
    said = made.log.read_text()
    assert "delivery refused" in said  # It is the log, and something was said.
    assert CANARY not in said.lower()
    assert not [secret for secret in ENVIRON.values() if secret in said]
