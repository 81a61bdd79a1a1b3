"""A real Chromium, a receiver with a database of its own, and two sites: one that may send, one that may not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from psycopg.types.json import Jsonb

from crm_clients.base import Kind
from intake import account_facts
from tests.browser.desk_site import Served, Site, alike
from tests.browser.sites import Network, serving, site
from tests.conftest import fresh_database
from tests.desk_lab import desk_lab
from tests.desk_scenes import day
from tests.doorway import PAGE_ORIGIN, SOURCES, Doorway, doorway
from tests.lab import lab
from tests.ports import free_port
from workers import facts

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip

# Milliseconds for anything to appear; the longest is what a 503 asks to wait, and the next try.
PATIENCE = 30_000


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, with a fresh profile."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("not run: no chromium is installed")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@dataclass(slots=True)
class Web:
    """`origin` may send, `stranger` may not.  `errors` is what the pages' consoles complained of."""

    browser: Browser
    door: Doorway
    network: Network
    origin: str
    stranger: str
    errors: list[str] = field(default_factory=list)
    _stack: ExitStack = field(default_factory=ExitStack)

    def page(self, address: str = "", *, script: bool = True, before: str = "") -> Page:
        """Go to a page of the site.  `before` is JavaScript that runs first."""

        def note(said: ConsoleMessage) -> None:
            if said.type in {"error", "warning"}:
                self.errors.append(said.text)

        context = self.browser.new_context(java_script_enabled=script, locale="es-PE")
        self._stack.callback(context.close)
        if before:
            context.add_init_script(before)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", note)
        page.goto(address or f"{self.origin}/")
        return page

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def web(chromium: Browser, database_url: str, tmp_path: Path) -> Iterator[Web]:
    """Everything that a visitor meets; at the end no console has complained of anything that was not expected."""
    receiver, own, strange = (free_port() for _ in range(3))
    origin, stranger = f"http://127.0.0.1:{own}", f"http://127.0.0.1:{strange}"
    sources = {"page": SOURCES["page"].replace(PAGE_ORIGIN, origin)}
    with doorway(database_url, tmp_path, sources=sources) as door:
        network = Network(door.client.application)
        pages = site(f"http://127.0.0.1:{receiver}")
        with serving(network, receiver), serving(pages, own), serving(pages, strange):
            made = Web(chromium, door, network, origin, stranger)
            try:
                yield made
            finally:
                network.open.set()
                made.close()
            assert made.errors == []


@pytest.fixture(scope="session")
def served(postgres_server: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A desk with a morning's events, made once; who changes an event makes one of their own."""
    port = free_port()
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        lab(url, tmp_path_factory.mktemp("console")) as made,
    ):
        desk = desk_lab(made.pool, made.settings)
        happened = day(made)
        alike(made)
        with made.pool.connection() as conn:
            for each in made.desk.wired.values():
                facts.note(conn, each)
            # The sandbox shows no records; other CRMs do.
            pages = {kind.value: f"https://crm.example.com/{kind}/{{id}}" for kind in Kind}
            conn.execute(account_facts.PAGES, {"destination": "crm", "pages": Jsonb(pages)})
        with serving(desk.app, port):
            yield Served(f"http://127.0.0.1:{port}", made, happened)


@pytest.fixture(scope="module")
def console(chromium: Browser, served: Served) -> Site:
    """It, and a browser."""
    return Site(served.address, served.lab, served.day, chromium)
