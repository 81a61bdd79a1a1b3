"""A lab whose WhatsApp source keeps files, and the Graph API that tells where they lie."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from intake import sealing
from intake.app import build
from intake.config.secret import Secret
from intake.sealing import Seal
from tests import unhurried
from tests.graph_server import TOKEN, Answer, Graph, graph_server
from tests.lab import Lab, lab

VOICE = b"OggS" + bytes(range(256)) * 8


@dataclass(slots=True)
class Talk:
    """The pipeline, Meta's side of it (`graph`), and the place where files lie (`store`)."""

    lab: Lab
    graph: Graph
    store: Graph
    seal: Seal
    seal_key: str

    def add_file(self, media_id: str, content: bytes = VOICE, *, at: str | None = None, **told: object) -> None:
        """A file at the sender's; `at`: the address that it tells, None: the right one."""
        url = at or f"{self.store.url}/whatsapp/{media_id}?ext=1&hash=a%2Fb"
        answer = {"id": media_id, "url": url, "mime_type": "audio/ogg; codecs=opus", "file_size": len(content)}
        self.graph.objects[f"/{media_id}"] = answer | told
        self.store.raw[f"/whatsapp/{media_id}"] = Answer(200, content, {"Content-Type": "audio/ogg"})

    def voice(self, media_id: str = "9001", wamid: str = "wamid.v1") -> UUID:
        """A voice note; returns its event_id."""
        audio = {"id": media_id, "mime_type": "audio/ogg; codecs=opus", "sha256": "x", "voice": True}
        message = {"from": "51987650001", "id": wamid, "timestamp": "1790000000", "type": "audio", "audio": audio}
        value = {
            "messaging_product": "whatsapp",
            "metadata": {"display_phone_number": "5115550000", "phone_number_id": "100"},
            "contacts": [{"profile": {"name": "Rosa Prueba"}, "wa_id": "51987650001"}], "messages": [message],
        }  # fmt: skip
        change = {"field": "messages", "value": value}
        body = {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [change]}]}
        return self.lab.only_event(self.lab.post("wa", json.dumps(body).encode()))

    def fetch(self) -> dict[str, object]:
        (row,) = self.lab.rows("SELECT reason, tries, mime_type, size, reference, ended_at FROM fetches")
        return row


@contextmanager
def talk(database_url: str, folder: Path, *, megabytes: int = 16) -> Iterator[Talk]:
    with graph_server("/v26.0") as graph, graph_server() as store, lab(database_url, folder) as made:
        source = replace(
            made.settings.sources["wa"], media_token=Secret("env:MEDIA", TOKEN), graph_url=graph.url,
            media_hosts=(store.url,), media_megabytes=megabytes,
        )  # fmt: skip
        settings = replace(made.settings, sources={**made.settings.sources, "wa": source})
        seal_key = sealing.new_key()
        seal = sealing.of_keys([seal_key])
        made.settings, made.desk = settings, replace(made.desk, settings=settings, seal=seal)
        door = unhurried.door(settings, made.pool)
        made.door = build(door, hint=lambda: made.hints.append("hint")).test_client()
        yield Talk(made, graph, store, seal, seal_key)
