"""The console in a real Chromium: every page in light, dark and on a phone; by keyboard alone; without scripts.

SCREENSHOTS=FOLDER keeps a picture of each page.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from tests.browser.sites import serving
from tests.conftest import fresh_database
from tests.desk_lab import PASSWORD, DeskLab, desk_lab
from tests.desk_scenes import SCRIPT, Day, day
from tests.lab import Lab, lab
from tests.ports import free_port

pytestmark = pytest.mark.browser

DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 860}
PHONE: Final[ViewportSize] = {"width": 390, "height": 800}


@dataclass(frozen=True, slots=True)
class Site:
    """The console of a pipeline, at an address."""

    address: str
    lab: Lab
    desk: DeskLab
    day: Day
    browser: Browser

    def pages(self) -> dict[str, str]:
        """Every page by a name."""
        seen, waiting = f"/events/{self.day.confirmed}", f"/events/{self.day.uncertain}"
        return {
            "login": "/login", "decide": "/inbox/decide", "moving": "/inbox/moving", "today": "/inbox/today",
            "all": "/inbox/all", "refused": "/refused", "confirmed": seen, "uncertain": waiting,
            "review": f"/events/{self.day.review}", "conversation": f"/events/{self.day.talk}",
            "settle": f"{waiting}/settle-applied", "correct": f"/events/{self.day.review}/correct",
            "cancel": f"{waiting}/cancel", "conflict": f"/items/{self.day.conflict_item}",
            "quarantine": f"/items/{self.day.quarantine_item}", "sources": "/sources", "accounts": "/accounts",
            "many": "/many/new?action=revive&state=review", "runs": "/many", "run": f"/many/{self.day.run}",
            "health": "/health", "access": "/access", "account": "/account", "nothing": "/nothing",
        }  # fmt: skip

    def enter(self, context: BrowserContext) -> Page:
        """Sign in by the form."""
        page = context.new_page()
        page.goto(f"{self.address}/console")
        page.fill("#name", "admin")
        page.fill("#password", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/inbox/decide")
        return page


@pytest.fixture(scope="module")
def site(
    chromium: Browser, postgres_server: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    port = free_port()
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        lab(url, tmp_path_factory.mktemp("console")) as made,
    ):
        desk = desk_lab(made.pool, made.settings)
        happened = day(made)
        with serving(desk.app, port):
            yield Site(f"http://127.0.0.1:{port}", made, desk, happened, chromium)


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_every_page_fits_and_complains_of_nothing(site: Site, look: str) -> None:
    context = site.browser.new_context(
        viewport=PHONE if look == "phone" else DESKTOP,
        color_scheme="dark" if look == "dark" else "light",
        locale="es-PE",
    )
    complaints: list[str] = []
    with context:
        stranger = context.new_page()
        stranger.goto(f"{site.address}/console/login")
        keep(stranger, f"login-{look}")
        stranger.close()
        page = site.enter(context)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text))
        for name, path in site.pages().items():
            page.goto(f"{site.address}/console{path}")
            keep(page, f"{name}-{look}") if name != "login" else None
            overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            if overflow > 0:
                complaints.append(f"{name} is {overflow} pixels too wide")
    assert [each for each in complaints if "404" not in each] == []


def keep(page: Page, name: str) -> None:
    """A picture, where somebody wants one."""
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_a_decision_is_made_by_keyboard_alone(site: Site) -> None:
    with site.browser.new_context(locale="es-PE") as context:
        page = site.enter(context)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/events/**")
        page.get_by_role("link", name="Buscar en el CRM").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Por qué").focus()
        page.keyboard.type("llama el cliente")
        page.keyboard.press("Enter")
        page.wait_for_url("**done=look*")
        expect(page.get_by_role("status")).to_contain_text("Hecho: Buscar en el CRM")
        expect(page.get_by_text("admin decidió: Buscar en el CRM").first).to_be_visible()


def test_a_decision_is_made_without_scripts(site: Site) -> None:
    event_id = site.lab.form(email="sin-guiones@example.com", phone="")
    site.lab.work()
    with site.browser.new_context(java_script_enabled=False, locale="es-PE") as context:
        page = site.enter(context)
        page.goto(f"{site.address}/console/events/{event_id}")
        page.get_by_role("link", name="Duplicar a propósito").click()
        page.get_by_label("Por qué").fill("quiere otra")
        page.get_by_role("button", name="Duplicar a propósito").click()
        expect(page.get_by_role("status")).to_contain_text("Hecho: Duplicar a propósito")


def test_how_an_event_stands_in_the_crm_appears_by_itself(site: Site) -> None:
    event_id = site.lab.form(email="mirar@example.com", phone="")
    site.lab.work()
    with site.browser.new_context(java_script_enabled=False, locale="es-PE") as context:
        page = site.enter(context)
        page.goto(f"{site.address}/console/events/{event_id}")
        page.get_by_role("button", name="Mirar ahora en el CRM").click()
        expect(page.get_by_text("Leyendo en el CRM").first).to_be_visible()
        site.lab.work()
        expect(page.get_by_text("Ahora está en el CRM.")).to_have_count(3)


def test_markup_of_a_lead_does_not_run(site: Site) -> None:
    ran: list[str] = []
    with site.browser.new_context(locale="es-PE") as context:
        page = site.enter(context)
        page.on("dialog", lambda dialog: ran.append(dialog.message))
        page.goto(f"{site.address}/console/events/{site.day.script}")
        page.get_by_role("button", name="Mostrar datos").click()
        expect(page.get_by_text(SCRIPT)).to_be_visible()
        page.goto(f"{site.address}/console/inbox/all?q=%3Cscript%3Ealert(1)%3C/script%3E")
    assert ran == []


def test_an_operator_reads_english_after_choosing_it(site: Site) -> None:
    with site.browser.new_context(locale="es-PE") as context:
        page = site.enter(context)
        page.goto(f"{site.address}/console/account")
        page.get_by_role("button", name="English").click()
        expect(page.get_by_role("heading", name="My account")).to_be_visible()
        page.get_by_role("button", name="Español").click()
        expect(page.get_by_role("heading", name="Mi cuenta")).to_be_visible()
