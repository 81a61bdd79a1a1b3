"""The console in a real Chromium: every page in light, dark and on a phone; by keyboard alone; without scripts.

SCREENSHOTS=FOLDER keeps a picture of each page.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from intake.console.lists import LIVE_EVERY
from tests.browser.desk_site import Site, in_doubt
from tests.desk_scenes import SCRIPT

pytestmark = pytest.mark.browser

DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 860}
AXE: Final = Axe()
PHONE: Final[ViewportSize] = {"width": 390, "height": 800}


@dataclass(frozen=True, slots=True)
class Visit:
    """What was seen on the way through all pages: what the browser complained of, what was too wide, and axe's word."""

    complaints: list[str] = field(default_factory=list)
    too_wide: list[str] = field(default_factory=list)
    barriers: list[str] = field(default_factory=list)


@pytest.fixture(scope="module", params=["light", "dark", "phone"])
def visit(console: Site, request: pytest.FixtureRequest) -> Visit:
    """Every page once, in one look."""
    look = str(request.param)
    seen = Visit()
    with console.browser.new_context(
        viewport=PHONE if look == "phone" else DESKTOP,
        color_scheme="dark" if look == "dark" else "light",
        locale="es-PE",
    ) as context:
        stranger = context.new_page()
        stranger.goto(f"{console.address}/console/login")
        look_at(stranger, f"login-{look}", seen)
        stranger.close()
        page = console.enter(context)
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("console", lambda said: seen.complaints.append(said.text))
        for name, path in console.pages().items():
            page.goto(f"{console.address}{path}")
            look_at(page, f"{name}-{look}", seen)
        page.goto(f"{console.address}/console/events/{console.day.confirmed}")
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


def test_a_decision_is_made_by_keyboard_alone(console: Site) -> None:
    in_doubt(console.lab)
    with console.browser.new_context(locale="es-PE") as context:
        page = console.enter(context)
        page.goto(f"{console.address}/console/inbox/decide?state=uncertain")
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


def test_a_decision_is_made_without_scripts(console: Site) -> None:
    event_id = console.lab.form(email="sin-guiones@example.com", phone="")
    console.lab.work()
    with console.browser.new_context(java_script_enabled=False, locale="es-PE") as context:
        page = console.enter(context)
        page.goto(f"{console.address}/console/events/{event_id}")
        page.get_by_role("link", name="Duplicar a propósito").click()
        page.get_by_label("Por qué").fill("quiere otra")
        page.get_by_role("button", name="Duplicar a propósito").click()
        expect(page.get_by_role("status")).to_contain_text("Hecho: Duplicar a propósito")


def test_how_an_event_stands_in_the_crm_appears_by_itself(console: Site) -> None:
    event_id = console.lab.form(email="mirar@example.com", phone="")
    console.lab.work()
    with console.browser.new_context(java_script_enabled=False, locale="es-PE") as context:
        page = console.enter(context)
        page.goto(f"{console.address}/console/events/{event_id}")
        page.get_by_role("button", name="Mirar ahora en el CRM").click()
        expect(page.get_by_text("Leyendo en el CRM").first).to_be_visible()
        console.lab.work()
        expect(page.get_by_text("Ahora está en el CRM.")).to_have_count(3)


def test_markup_of_a_lead_does_not_run(console: Site) -> None:
    ran: list[str] = []
    with console.browser.new_context(locale="es-PE") as context:
        page = console.enter(context)
        page.on("dialog", lambda dialog: ran.append(dialog.message))
        page.goto(f"{console.address}/console/events/{console.day.script}")
        page.get_by_role("button", name="Mostrar datos").click()
        expect(page.get_by_text(SCRIPT)).to_be_visible()
        page.goto(f"{console.address}/console/inbox/all?q=%3Cscript%3Ealert(1)%3C/script%3E")
    assert ran == []


def test_an_operator_reads_english_after_choosing_it(console: Site) -> None:
    with console.browser.new_context(locale="es-PE") as context:
        page = console.enter(context)
        page.goto(f"{console.address}/console/account")
        page.get_by_role("button", name="English").click()
        expect(page.get_by_role("heading", name="My account")).to_be_visible()
        page.get_by_role("button", name="Español").click()
        expect(page.get_by_role("heading", name="Mi cuenta")).to_be_visible()


def test_a_list_stays_up_to_date_until_it_is_paused(console: Site) -> None:
    asked: list[str] = []
    console.lab.work()
    with console.browser.new_context(locale="es-PE") as context:
        page = console.enter(context)
        page.clock.install()
        page.goto(f"{console.address}/console/inbox/moving")
        page.on("request", lambda request: asked.append(request.url))
        first = console.lab.form(email="enseguida@example.com", phone="")
        page.clock.fast_forward(LIVE_EVERY * 1000)
        expect(page.locator(f'a[href="/console/events/{first}"]')).to_be_visible()
        page.get_by_role("button", name="En vivo").click()
        expect(page.get_by_role("button", name="En vivo")).to_have_attribute("aria-pressed", "false")
        asked.clear()
        page.clock.fast_forward(LIVE_EVERY * 3000)
        assert asked == []
