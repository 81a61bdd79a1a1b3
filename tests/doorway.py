"""The door alone, for tests: a real database, correctly signed deliveries, and no worker behind it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from flask.testing import FlaskClient
from psycopg.rows import dict_row
from werkzeug.test import TestResponse

from intake.app import build
from intake.config import Settings, load
from intake.db import Pool
from intake.sources import PROVIDERS, find
from tests import unhurried

STANDARD = "whsec_" + "c2VjcmV0LW9mLXR3ZW50eS1mb3VyLWJ5dGVz"
ENVIRON = {"STANDARD": STANDARD, "META": "meta-app-secret", "VERIFY": "verify-me", "TOKEN": "form-token"}
# Named in the configuration, and without a reader here.
NOT_BUILT_IN = "typeform"

CONFIG = """
[intake]
public_base_url = "http://127.0.0.1:8080"

[[destinations]]
name = "crm"
client = "sandbox"

[[destinations]]
name = "playground"
client = "sandbox"
mode = "test"

[defaults]
destination = "crm"
test_destination = "playground"
"""
FORM = 'kind = "form"\nprovider = "standard_webhooks"\nsecrets = ["env:STANDARD"]\n'
GENERIC = 'kind = "form"\nprovider = "generic"\nsecrets = ["env:TOKEN"]\n'
WHATSAPP = 'kind = "whatsapp"\nprovider = "whatsapp_cloud"\nsecrets = ["env:META"]\n'
PAGE_ORIGIN = "https://www.example.com"
PAGE = f'kind = "form"\nprovider = "web_snippet"\nallowed_origins = ["{PAGE_ORIGIN}"]\n'
QUOTE = 'kind = "quote"\nprovider = "quote"\nsecrets = ["env:STANDARD"]\n'
SOURCES: Mapping[str, str] = {
    "web": FORM,
    "generic": GENERIC,
    "wa": WHATSAPP + 'verify_token = "env:VERIFY"\n',
    "quotes": QUOTE,
    # --- refused ---
    "off": FORM + "enabled = false\n",
    "not-built-in": f'kind = "form"\nprovider = "{NOT_BUILT_IN}"\nsecrets = ["env:TOKEN"]\n',
    "no-secret": 'kind = "form"\nprovider = "generic"\nsecrets = ["env:NOT_SET"]\n',
    "wa-no-handshake": WHATSAPP,
    "wa-no-token": WHATSAPP + 'verify_token = "env:NOT_SET"\n',
    "small": FORM + "max_body_bytes = 1024\n",
    "basic": GENERIC + 'scheme = "basic"\n',
    "keyed": FORM + "idempotency_key = true\n",
    "keyed-gated": FORM + 'idempotency_key = true\napproval = "required"\n',
    "page": PAGE,
    "page-slow": PAGE + "rate_per_minute = 2\n",
    "page-off": PAGE + "enabled = false\n",
    "by-get": GENERIC + "allow_get = true\n",
    # --- settings ---
    "by-body": FORM + 'dedupe = "body"\n',
    "by-header": FORM + 'dedupe = "X-Request-Id"\n',
    "by-pointer": GENERIC + 'dedupe = "/data/order~1id"\n',
    "wa-by-header": WHATSAPP + 'dedupe = "X-Request-Id"\n',
    "wa-by-body": WHATSAPP + 'dedupe = "body"\n',
    "wa-per-message": WHATSAPP + 'opportunity_per = "message"\n',
    "gated": FORM + 'approval = "required"\n',
    "status-202": FORM + "accepted_status = 202\n",
    "renamed": FORM + 'renamed_from = "older"\n',
    "group-a": WHATSAPP + 'identity_group = "ventas"\n',
    "group-b": WHATSAPP + 'identity_group = "ventas"\n',
}
ANSWERS = {"name": "Ana Prueba", "email": "ana@example.com", "message": "Hola"}

Json = dict[str, object]
Message = dict[str, object]


def write_config(folder: Path, sources: Mapping[str, str] = SOURCES, *, intake: str = "") -> Path:
    """An intake.toml with these sources.  `intake`: what its table of this name says."""
    file = folder / "intake.toml"
    file.write_text("\n".join((CONFIG.replace("[intake]", f"[intake]\n{intake}"), tables(sources))), "utf-8")
    return file


def tables(sources: Mapping[str, str]) -> str:
    """Sources as a configuration has them."""
    return "\n".join(f'[[sources]]\nname = "{name}"\n{table}' for name, table in sources.items())


def read_config(file: Path) -> Settings:
    return load(file, ENVIRON, built_in=PROVIDERS.keys() - {NOT_BUILT_IN})


# --- bodies ----------------------------------------------------------------------------------------------------------


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def message(wamid: str, text: str = "Hola", *, sender: str = "51987650001", at: int = 1_790_000_000) -> Message:
    """One WhatsApp text message."""
    return {"from": sender, "id": wamid, "timestamp": str(at), "type": "text", "text": {"body": text}}


def whatsapp(*messages: object, **more: object) -> bytes:
    """A WhatsApp body with these messages; `more` stands beside them (statuses)."""
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "5115550000", "phone_number_id": "100"},
        "contacts": [{"profile": {"name": "Rosa Prueba"}, "wa_id": "51987650001"}],
        **({"messages": list(messages)} if messages else {}),
        **more,
    }
    change = {"field": "messages", "value": value}
    return as_json({"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [change]}]})


def quote(**changes: object) -> Json:
    """A quote that keeps every rule, but for `changes`."""
    return {
        "number": "COT-1",
        "version": 1,
        "issued_at": "2026-11-20T15:04:05-05:00",
        "currency": "PEN",
        "amount": "100.00",
        "items": [{"sku": "A", "name": "Silla", "quantity": 1, "unit_price": "100.00"}],
        "contact": {"name": "Lucía Prueba", "phone": "912345678", "email": "lucia@example.com"},
        "message": "Por favor",
    } | changes


# --- sending and reading ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Doorway:
    """The application in this process, and its database."""

    database_url: str
    settings: Settings
    pool: Pool
    client: FlaskClient
    hints: list[str] = field(default_factory=list)
    counter: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def signed(self, source: str, body: bytes, *, mode: str = "live", delivery_id: str | None = None) -> dict[str, str]:
        """The headers that make this delivery authentic."""
        return signed(self.settings, source, body, mode=mode, delivery_id=delivery_id or f"msg_{next(self.counter)}")

    def post(
        self,
        source: str,
        body: bytes,
        *,
        mode: str = "live",
        delivery_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> TestResponse:
        """An authentic delivery; `headers` stand over those of the signature."""
        given = self.signed(source, body, mode=mode, delivery_id=delivery_id) | dict(headers or {})
        return self.client.post(path_of(source, mode), data=body, headers=given)

    def form(self, source: str = "web", *, delivery_id: str | None = None, mode: str = "live", **answers: str) -> Json:
        """The document that one authentic form is answered with."""
        return accepted(self.post(source, as_json(ANSWERS | answers), delivery_id=delivery_id, mode=mode))

    def rows(self, query: str, **parameters: object) -> list[Json]:
        """What the database says."""
        return rows(self.database_url, query, **parameters)

    def count(self, table: str) -> int:
        (row,) = self.rows(f"SELECT count(*) AS n FROM {table}")  # noqa: S608  # our own names
        return int(str(row["n"]))

    def pass_time(self, span: timedelta) -> None:
        """The windows of identity are now this much older."""
        with psycopg.connect(self.database_url) as conn:
            conn.execute("UPDATE identity_windows SET last_seen_at = last_seen_at - %s", [span])


def path_of(source: str, mode: str = "live") -> str:
    return f"/hooks/{source}" if mode == "live" else f"/test/hooks/{source}"


def signed(settings: Settings, source: str, body: bytes, *, delivery_id: str, mode: str = "live") -> dict[str, str]:
    """The headers that make a delivery authentic now."""
    configured = settings.sources[source]
    url = settings.public_base_url + path_of(source, mode)
    provider, secret = find(configured.provider), configured.secret_values[0]
    return dict(provider.sign(body, secret=secret, url=url, now=datetime.now(UTC), delivery_id=delivery_id))


def rows(database_url: str, query: str, **parameters: object) -> list[Json]:
    """What a database says."""
    with psycopg.connect(database_url, row_factory=dict_row) as conn:
        return conn.execute(query, parameters).fetchall()


def accepted(answer: TestResponse, status: int = 200) -> Json:
    """The document of an acceptance."""
    assert answer.status_code == status, answer.get_data(as_text=True)
    document: Json = answer.get_json()
    assert document["received"] is True
    return document


def events(document: Json) -> list[Json]:
    """The events of an acceptance."""
    found = document["events"]
    assert isinstance(found, list)
    return found


def event(document: Json) -> Json:
    """The one event of an acceptance."""
    (found,) = events(document)
    return found


@contextmanager
def doorway(
    database_url: str,
    folder: Path,
    *,
    hint: Callable[[], object] | None = None,
    pool_of: Callable[[Pool], Pool] = lambda pool: pool,
    sources: Mapping[str, str] = SOURCES,
    patience: float = unhurried.STORE_LIMIT,
) -> Iterator[Doorway]:
    """A door with its database.  `pool_of` may put something between the door and its pool.

    `patience`: seconds until it says that it cannot keep a delivery, for tests in which it never can.
    """
    settings = read_config(write_config(folder, sources))
    pool = unhurried.door_pool(database_url, size=60, patience=patience)
    hints: list[str] = []
    try:
        door = unhurried.door(settings, pool_of(pool), patience=patience)
        app = build(door, hint=hint or (lambda: hints.append("hint")))
        yield Doorway(database_url, settings, pool, app.test_client(), hints)
    finally:
        pool.close()
