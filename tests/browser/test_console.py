"""The console in a real Chromium: every page in light, dark and on a phone; by keyboard alone; without scripts.

SCREENSHOTS=FOLDER keeps a picture of each page.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from tests.browser.sites import serving
from tests.conftest import fresh_database
from tests.desk_lab import PASSWORD, DeskLab, desk_lab
from tests.desk_scenes import SCRIPT, Day, day
from tests.lab import Lab, lab
from tests.ports import free_port

pytestmark = pytest.mark.browser

DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 860}
AXE: Final = Axe()
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
        """The path of every page by a name."""
        seen, waiting = f"/events/{self.day.confirmed}", f"/events/{self.day.uncertain}"
        console = {
            "decide": "/inbox/decide", "moving": "/inbox/moving", "today": "/inbox/today",
            "all": "/inbox/all", "refused": "/refused", "confirmed": seen, "uncertain": waiting,
            "review": f"/events/{self.day.review}", "conversation": f"/events/{self.day.talk}",
            "settle": f"{waiting}/settle-applied", "correct": f"/events/{self.day.review}/correct",
            "cancel": f"{waiting}/cancel", "conflict": f"/items/{self.day.conflict_item}",
            "quarantine": f"/items/{self.day.quarantine_item}", "sources": "/sources", "accounts": "/accounts",
            "many": "/many/new?action=revive&state=review", "runs": "/many", "run": f"/many/{self.day.run}",
            "health": "/health", "access": "/access", "account": "/account", "nothing": "/nothing",
        }  # fmt: skip
        return {name: f"/console{path}" for name, path in console.items()} | {"reference": "/api/"}

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
        alike(made)
        with serving(desk.app, port):
            yield Site(f"http://127.0.0.1:{port}", made, desk, happened, chromium)


def alike(made: Lab) -> None:
    """Two more that wait for the same reason."""
    made.dials.fault("422", match={"what": "create", "kind": "contact"}, times=2)
    for number in (21, 22):
        made.form(name="Ema Parecida", email=f"ema{number}@example.com", phone="")
    made.work()
    made.dials.no_faults()


@dataclass(frozen=True, slots=True)
class Visit:
    """What was seen on the way through all pages: what the browser complained of, what was too wide, and axe's word."""

    complaints: list[str] = field(default_factory=list)
    too_wide: list[str] = field(default_factory=list)
    barriers: list[str] = field(default_factory=list)


@pytest.fixture(scope="module", params=["light", "dark", "phone"])
def visit(site: Site, request: pytest.FixtureRequest) -> Visit:
    """Every page once, in one look."""
    look = str(request.param)
    seen = Visit()
    with site.browser.new_context(
        viewport=PHONE if look == "phone" else DESKTOP,
        color_scheme="dark" if look == "dark" else "light",
        locale="es-PE",
    ) as context:
        stranger = context.new_page()
        stranger.goto(f"{site.address}/console/login")
        look_at(stranger, f"login-{look}", seen)
        stranger.close()
        page = site.enter(context)
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("console", lambda said: seen.complaints.append(said.text))
        for name, path in site.pages().items():
            page.goto(f"{site.address}{path}")
            look_at(page, f"{name}-{look}", seen)
        page.goto(f"{site.address}/console/events/{site.day.confirmed}")
        page.get_by_role("button", name="Mostrar datos").click()
        look_at(page, f"data-{look}", seen)
    return seen


def look_at(page: Page, name: str, seen: Visit) -> None:
    """One page, with all that can be unfolded."""
    keep(page, name)
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if overflow > 0:
        seen.too_wide.append(f"{name} by {overflow} pixels")
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    seen.barriers.extend(f"{name}: {each}" for each in barriers(page))


def barriers(page: Page) -> list[str]:
    """What axe-core calls serious or critical, and where."""
    found = AXE.run(page).response["violations"]
    return [
        f"{each['id']} at {node['target']}: {node['failureSummary']}"
        for each in found
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]


def test_no_page_complains_of_anything(visit: Visit) -> None:
    assert [each for each in visit.complaints if "404" not in each] == []


def test_every_page_fits(visit: Visit) -> None:
    assert visit.too_wide == []


def test_no_page_has_a_serious_barrier(visit: Visit) -> None:
    assert visit.barriers == []


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
