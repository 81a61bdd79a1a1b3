"""A lab with a source of Meta Lead Ads, and the Graph API that it reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from intake.app import build
from intake.config import Source
from intake.config.secret import Secret
from intake.receive import Door
from tests.graph_server import TOKEN, Graph, graph_server
from tests.lab import META_SECRET, Lab, lab

if TYPE_CHECKING:
    from workers.desk import Desk

ANSWERS = {"full_name": "Ana Prueba", "email": "ana@example.com", "phone_number": "+51987654321"}


@dataclass(slots=True)
class Ads:
    """The pipeline, and Meta's side of it."""

    lab: Lab
    graph: Graph

    def lead(self, leadgen_id: str = "1001", **answers: str) -> UUID:
        """A lead at Meta, and its webhook; returns its event_id."""
        self.graph.add_lead(leadgen_id, **(answers or ANSWERS))
        return self.webhook(leadgen_id)

    def webhook(self, leadgen_id: str = "1001", *, mode: str = "live") -> UUID:
        return self.lab.only_event(self.lab.post("ads", webhook(leadgen_id), mode=mode))

    def use_token(self, token: str | None) -> None:
        """As after a restart with another token."""
        with_token = secret(token)
        source = replace(self.lab.settings.sources["ads"], page_token=with_token)
        self.lab.desk = with_source(self.lab.desk, source)

    def use_sources(self, sources: Mapping[str, Source]) -> None:
        """As after a restart with other sources in the configuration."""
        self.lab.desk = replace(self.lab.desk, settings=replace(self.lab.desk.settings, sources=sources))

    def lanes(self) -> list[str]:
        return [str(row["parked_reason"]) for row in self.lab.rows("SELECT parked_reason FROM fetch_lanes")]

    def revisions(self, event_id: UUID) -> int:
        found = self.lab.rows("SELECT revision FROM bodies WHERE event_id = %(id)s AND what = 'lead'", id=event_id)
        return len(found)


def webhook(leadgen_id: str, **more: object) -> bytes:
    """A delivery as Meta makes it."""
    value = {"leadgen_id": leadgen_id, "form_id": "500", "page_id": "300", "ad_id": "700", "created_time": 1772463600}
    change = {"field": "leadgen", "value": value | more}
    return json.dumps({"object": "page", "entry": [{"id": "300", "time": 1772463601, "changes": [change]}]}).encode()


def secret(value: str | None) -> Secret | None:
    return Secret("env:PAGE_TOKEN", value) if value else None


def with_source(desk: Desk, source: Source) -> Desk:
    """The same desk, with one more source in its settings."""
    sources = {**desk.settings.sources, source.name: source}
    return replace(desk, settings=replace(desk.settings, sources=sources))


@contextmanager
def ads(database_url: str, folder: Path, *, token: str | None = TOKEN, approval: str = "none") -> Iterator[Ads]:
    """`token` None: the source has none."""
    with graph_server("/v26.0") as graph, lab(database_url, folder) as made:
        source = Source(
            "ads", "form", "meta_lead_ads", (Secret("env:META_SECRET", META_SECRET),), "crm",
            test_destination="playground", page_token=secret(token), graph_url=graph.url,
            approval="required" if approval == "required" else "none",
        )  # fmt: skip
        made.desk = with_source(made.desk, source)
        made.settings = made.desk.settings
        door = Door(made.settings, made.pool, now=lambda: datetime.now(UTC), new_id=uuid4)
        made.door = build(door, hint=lambda: made.hints.append("hint")).test_client()
        yield Ads(made, graph)
