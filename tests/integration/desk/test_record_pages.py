"""Links to a record in the CRM's own interface: in the console, in the API, and by the command line's words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import UUID

import pytest

from intake import account_facts
from tests.integration.desk.conftest import Scene

KNOWN = "https://crm.example.com/{id}?tab=1"


@pytest.fixture
def paged(scene: Scene) -> Iterator[Scene]:
    """An account whose client knows a page of its opportunities alone."""
    with scene.lab.pool.connection() as conn:
        account_facts.note(conn, "crm", "sandbox", verified=True, limits=(), pages={"opportunity": KNOWN})
    yield scene
    with scene.lab.pool.connection() as conn:
        conn.execute("DELETE FROM record_pages")
        conn.execute("DELETE FROM account_facts")


def ids(scene: Scene, event_id: UUID) -> dict[str, str]:
    told = scene.desk.stranger().get(f"/api/v1/events/{event_id}", headers=scene.desk.token("viewer")).get_json()
    return {kind: told[f"{kind}_id"] for kind in ("contact", "opportunity")}


def links(page: str) -> list[str]:
    return re.findall(r'<a class="outside" href="([^"]+)" target="_blank" rel="noopener noreferrer">', page)


def test_an_opportunity_leads_to_its_page_in_the_crm(paged: Scene) -> None:
    page = paged.desk.person("viewer").page(f"/console/events/{paged.day.confirmed}")
    assert links(page) == [KNOWN.replace("{id}", ids(paged, paged.day.confirmed)["opportunity"])]
    assert "en otra pestaña" in page


def test_there_is_no_link_where_nobody_knows_a_page(scene: Scene) -> None:
    assert links(scene.desk.person("viewer").page(f"/console/events/{scene.day.confirmed}")) == []


def test_the_api_says_where_the_records_of_an_event_are_seen(paged: Scene) -> None:
    event_id = paged.day.confirmed
    get = paged.desk.stranger().get
    told = get(f"/api/v1/events/{event_id}", headers=paged.desk.token("viewer")).get_json()
    assert told["pages"] == {"opportunity": KNOWN.replace("{id}", told["opportunity_id"])}
    standing = get(f"/api/v1/events/{event_id}/crm", headers=paged.desk.token("viewer")).get_json()["records"]
    assert {each["record"]: each["page"] for each in standing}["contact"] is None
    assert {each["record"]: each["page"] for each in standing}["opportunity"] == told["pages"]["opportunity"]


def test_an_item_of_the_api_leads_to_the_records_of_its_event(paged: Scene) -> None:
    get = paged.desk.stranger().get
    items = get("/api/v1/items?limit=200", headers=paged.desk.token("viewer")).get_json()["items"]
    assert all(set(each["pages"]) <= {"opportunity"} for each in items)
    conflict = next(each for each in items if each["kind"] == "conflict")
    alone = get(f"/api/v1/items/{conflict['item_id']}", headers=paged.desk.token("viewer")).get_json()
    assert alone["pages"] == conflict["pages"] != {}
