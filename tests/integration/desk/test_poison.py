"""Markup and formulas in every field of every provider reach no page as markup, no spreadsheet as a formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Final
from uuid import UUID

import pytest
from werkzeug.test import TestResponse

from intake.desk import inbox
from intake.sources import PROVIDERS, find
from tests.acceptance.bent import BODIES
from tests.acceptance.fuzzed import EVERY_PROVIDER
from tests.conftest import fresh_database
from tests.desk_lab import DeskLab, Person, desk_lab
from tests.doorway import PAGE_ORIGIN, tables
from tests.lab import SOURCES, Lab, lab
from tests.poison import POISON, after, instead, poisoned

ALERT: Final = "alert(1)"
ADDRESS: Final = '\n[intake]\npublic_base_url = "http://127.0.0.1:8080"\n'  # Twilio signs it.


@dataclass(frozen=True, slots=True)
class Poisoned:
    """A desk whose every event is poisoned, by provider."""

    lab: Lab
    desk: DeskLab
    events: dict[str, list[UUID]]


@pytest.fixture(scope="module")
def bad(postgres_server: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Poisoned]:
    """What every provider's samples give, and one form that the CRM refuses in words as bad."""
    every = {name: table.replace("env:STANDARD", "env:WEB_SECRET") for name, table in EVERY_PROVIDER.items()}
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        lab(url, tmp_path_factory.mktemp("poison"), sources=SOURCES + tables(every) + ADDRESS) as made,
    ):
        made.dials.fault("422", match={"what": "create", "kind": "contact"}, times=1, fields={"email": POISON})
        refused = made.form(name=POISON, message=POISON)
        made.work()
        assert made.state(refused) == "review"
        delivered = {provider: deliver_all(made, provider) for provider in sorted(PROVIDERS)}
        made.post("web", f"[{POISON}".encode())
        yield Poisoned(made, desk_lab(made.pool, made.settings), {**delivered, "refused": [refused]})


def deliver_all(made: Lab, provider: str) -> list[UUID]:
    """Each sample twice: with poison in place of its texts, and behind them."""
    accepted: list[UUID] = []
    source = f"any-{provider.replace('_', '-')}"
    for body in BODIES[provider]:
        for poisoning in (instead(next(made.counter)), after(next(made.counter))):
            sent = poisoned(provider, body, signed(made, source, body), poisoning)
            if sent is not None:
                answer = made.door.post(f"/hooks/{source}", data=sent, headers=signed(made, source, sent))
                assert answer.status_code == 200, (provider, answer.get_data(as_text=True))
                assert "X-Evil" not in answer.headers
                accepted += told(answer)
    return accepted


def told(answer: TestResponse) -> list[UUID]:
    """Twilio is told in a header."""
    header = answer.headers.get("Intake-Events")
    events = json.loads(header) if header else answer.get_json()["events"]
    return [UUID(each["event_id"]) for each in events]


def signed(made: Lab, source: str, body: bytes) -> dict[str, str]:
    configured, url = made.settings.sources[source], f"{made.settings.public_base_url}/hooks/{source}"
    secret = configured.secret_values[0] if configured.secret_values else ""
    delivery_id = f"msg_{next(made.counter)}"
    proof = find(configured.provider).sign(body, secret=secret, url=url, now=datetime.now(UTC), delivery_id=delivery_id)
    return {**proof, "origin": PAGE_ORIGIN}


class Running(HTMLParser):
    """What of a page a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in {"img", "iframe", "object", "embed", "style"} or (tag == "script" and not given.get("src")):
            self.found.append(tag)
        for name, value in attrs:
            scheme = (value or "").strip().casefold()
            if name.startswith("on") or (
                name in {"href", "src", "action"} and scheme.startswith(("javascript", "data"))
            ):
                self.found.append(f"{tag} {name}")


def running(page: str) -> list[str]:
    read = Running()
    read.feed(page)
    return read.found


@pytest.mark.parametrize("provider", [*sorted(PROVIDERS), "refused"])
def test_no_page_of_an_event_runs_what_its_sender_wrote(bad: Poisoned, provider: str) -> None:
    admin = bad.desk.person("admin")
    shown = ""
    assert bad.events[provider], "no sample of it gives an event"
    for event_id in bad.events[provider]:
        answer = admin.post(f"/console/events/{event_id}/data")
        assert running(answer.get_data(as_text=True)) == []
        shown += answer.get_data(as_text=True)
    assert ALERT in shown  # It was there to be run.


def test_no_form_of_an_event_runs_what_its_sender_wrote(bad: Poisoned) -> None:
    admin = bad.desk.person("admin")
    for events in bad.events.values():
        for deed in ("correct", "cancel"):
            assert running(admin.page(f"/console/events/{events[0]}/{deed}")) == []
    assert ALERT in admin.page(f"/console/events/{bad.events['refused'][0]}/correct")


def test_no_list_and_no_item_runs_what_was_sent(bad: Poisoned) -> None:
    admin = bad.desk.person("admin")
    items = bad.lab.rows("SELECT item_id FROM items WHERE kind <> 'delivery' ORDER BY item_id")
    assert items
    pages = [*(f"items/{each['item_id']}" for each in items), "access", "sources", "accounts", "refused", "many",
             "health", "figures", "inbox/all?q=calc"]  # fmt: skip
    for page in pages:
        assert running(admin.page(f"/console/{page}")) == [], page
    for which in inbox.LISTS:
        address = f"/console/inbox/{which}"
        while address:
            page = admin.page(address)
            assert running(page) == []
            address = next_of(page)


def next_of(page: str) -> str:
    """The address of the page that follows; "": this is the last."""
    begin = page.find('rel="next" href="')
    return page[begin + 17 : page.index('"', begin + 17)].replace("&amp;", "&") if begin > 0 else ""


@pytest.mark.parametrize("which", inbox.LISTS)
def test_no_cell_of_a_file_is_a_formula(bad: Poisoned, which: str) -> None:
    text = bad.desk.person("admin").page(f"/console/inbox/{which}.csv")
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def test_a_search_shows_what_was_typed_as_text(bad: Poisoned) -> None:
    admin: Person = bad.desk.person("admin")
    answer = admin.client.get("/console/inbox/all", query_string={"q": POISON, "source": POISON})
    assert running(answer.get_data(as_text=True)) == []
    assert "X-Evil" not in answer.headers
