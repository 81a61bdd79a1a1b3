"""A lab with a WooCommerce source, and the shop's own REST API."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from intake.app import build
from intake.config import Source
from intake.config.secret import Secret
from tests import unhurried
from tests.graph_server import Asked, Graph, graph_server
from tests.lab import Lab, lab

KEY, SECRET = "ck_of_the_test", "cs_of_the_test"
PROOF = "Basic " + base64.b64encode(f"{KEY}:{SECRET}".encode()).decode()
ORDERS = "/wp-json/wc/v3/orders"
Json = dict[str, object]


def order(
    number: int, *, changed: str = "2026-11-20T10:00:00", status: str = "processing", total: str = "29.35"
) -> Json:
    """An order as the API and the webhook tell it."""
    return {
        "id": number, "number": str(number), "status": status, "currency": "PEN", "total": total,
        "date_created_gmt": "2026-11-20T10:00:00", "date_modified_gmt": changed,
        "billing": {"first_name": "Ana", "last_name": f"Prueba {number}", "email": f"ana{number}@example.com",
                    "phone": "987654321", "country": "PE"},
        "line_items": [{"name": "Silla", "sku": "A", "quantity": 1, "price": 29.35, "total": total}],
        "meta_data": [],
    }  # fmt: skip


@dataclass(slots=True)
class Shop:
    """The pipeline, and the shop's side of it.  `ignores`: an old shop that does not know `modified_after`."""

    lab: Lab
    api: Graph
    orders: list[Json] = field(default_factory=list)
    ignores: bool = False

    def answer(self, asked: Asked) -> list[Json]:
        """A page of those changed after a time, by id."""
        since = "" if self.ignores else asked.query["modified_after"][0]
        found = sorted((each for each in self.orders if str(each["date_modified_gmt"]) > since), key=_id)
        page, size = int(asked.query["page"][0]), int(asked.query["per_page"][0])
        return found[(page - 1) * size : page * size]

    def webhook(self, sold: Json) -> None:
        self.lab.only_event(self.lab.post("shop", json.dumps(sold).encode()))


def _id(sold: Json) -> int:
    return int(str(sold["id"]))


@contextmanager
def shop(database_url: str, folder: Path) -> Iterator[Shop]:
    with graph_server() as api, lab(database_url, folder) as made:
        api.tokens = {PROOF}
        source = Source(
            "shop", "quote", "woocommerce", (Secret("env:SHOP", "shop-secret"),), "crm",
            shop_url=api.url, pull_every=15,
            consumer_key=Secret("env:CK", KEY), consumer_secret=Secret("env:CS", SECRET),
        )  # fmt: skip
        settings = replace(made.settings, sources={**made.settings.sources, "shop": source})
        made.settings, made.desk = settings, replace(made.desk, settings=settings)
        door = unhurried.door(settings, made.pool)
        made.door = build(door, hint=lambda: made.hints.append("hint")).test_client()
        found = Shop(made, api)
        api.objects[ORDERS] = found.answer
        yield found
