"""What people do at the desk all day, in a real Chromium, until the lead stands in the CRM."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from intake import spam
from intake.decided import Author
from intake.desk.roles import Role
from tests.browser.desk_site import Site, in_doubt

pytestmark = pytest.mark.browser


@pytest.fixture
def page(console: Site, role: Role) -> Iterator[Page]:
    """Signed in."""
    console.lab.work()  # what other tests left
    with console.browser.new_context(locale="es-PE") as context:
        yield console.enter(context, role)


@pytest.fixture
def role() -> Role:
    """Who decides."""
    return "operator"


def decide(page: Page, deed: str, why: str) -> None:
    """The last step of each."""
    page.get_by_label("Por qué").fill(why)
    page.locator("form.fields").get_by_role("button", name=deed).click()


def crm_id(console: Site, event_id: UUID) -> str:
    """The CRM's id of the opportunity of an event, as a person would read it there."""
    (row,) = console.lab.rows(
        "SELECT reference FROM deliveries JOIN records ON record_id = opportunity_record WHERE event_id = %(id)s",
        id=event_id,
    )
    found = console.lab.in_crm("opportunity")
    return next(str(each["id"]) for each in found if each["reference"] == row["reference"])


def test_an_uncertain_lead_is_found_read_settled_and_confirmed(console: Site, page: Page) -> None:
    event_id = in_doubt(console.lab)
    page.goto(f"{console.address}/console/inbox/decide?state=uncertain")
    page.locator(f'a[href="/console/events/{event_id}"]').click()
    expect(page.get_by_text("puede haberlo ejecutado").first).to_be_visible()
    page.get_by_role("link", name="Sí está en el CRM").click()
    page.get_by_label("Identificador en el CRM").fill(crm_id(console, event_id))
    decide(page, "Sí está en el CRM", "lo veo en el CRM")
    expect(page.get_by_text("Se está leyendo en el CRM")).to_be_visible()
    console.lab.work()
    expect(page.get_by_role("status")).to_contain_text("Hecho: Sí está en el CRM")  # The page goes on by itself.
    console.lab.work()
    page.reload()
    expect(page.locator(".head-line .state")).to_have_text("Confirmado")


def test_a_refused_lead_is_corrected_and_confirmed(console: Site, page: Page) -> None:
    console.lab.dials.fault("422", match={"what": "create", "kind": "contact"}, times=1, fields={"email": "is wrong"})
    event_id = console.lab.form(name="Raúl Corregible", email=f"raul{next(console.lab.counter)}@example.com", phone="")
    console.lab.work()
    console.lab.dials.no_faults()
    page.goto(f"{console.address}/console/events/{event_id}")
    page.get_by_role("link", name="Corregir datos").click()
    page.get_by_label("Correo", exact=True).fill("no es un correo")
    decide(page, "Corregir datos", "lo dictó por teléfono")
    expect(page.get_by_label("Correo", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Correo", exact=True).fill(f"raul.bien{next(console.lab.counter)}@example.com")
    decide(page, "Corregir datos", "lo dictó por teléfono")
    expect(page.get_by_role("status")).to_contain_text("Hecho: Corregir datos")
    console.lab.work()
    page.reload()
    expect(page.locator(".head-line .state")).to_have_text("Confirmado")


@pytest.mark.parametrize("role", ["approver"])
def test_what_waits_is_read_and_approved(console: Site, page: Page) -> None:
    mail = f"paula{next(console.lab.counter)}@example.com"
    first = console.lab.form(name="Paula Retenida", email=mail, phone="")
    console.lab.work()
    with console.lab.pool.connection() as conn:
        spam.mark(conn, Author("approver", "parece spam"), first)
    event_id = console.lab.form(name="Paula Retenida", email=mail, phone="", message="De verdad quiero sillas")
    assert console.lab.state(event_id) == "awaiting_approval"
    page.goto(f"{console.address}/console/events/{event_id}")
    page.get_by_role("button", name="Mostrar datos").click()
    expect(page.get_by_text("De verdad quiero sillas")).to_be_visible()
    page.get_by_role("link", name="Aprobar").click()
    decide(page, "Aprobar", "es una clienta")
    expect(page.get_by_role("status")).to_contain_text("Hecho: Aprobar")
    console.lab.work()
    page.reload()
    expect(page.locator(".head-line .state")).to_have_text("Confirmado")


def test_a_conflict_is_compared_and_ended(console: Site, page: Page) -> None:
    number = next(console.lab.counter)
    answers = {"name": "Lidia Doble", "email": f"lidia{number}@example.com", "phone": ""}
    console.lab.form(delivery_id=f"msg_two{number}", message="Cinco mesas", **answers)
    console.lab.work()
    console.lab.form(delivery_id=f"msg_two{number}", message="Siete mesas", **answers)
    (row,) = console.lab.rows("SELECT max(item_id) AS item_id FROM items WHERE kind = 'conflict'")
    page.goto(f"{console.address}/console/items/{row['item_id']}")
    page.get_by_role("button", name="Mostrar datos").click()
    expect(page.locator("tr.differs")).to_contain_text("Cinco mesas")
    expect(page.locator("tr.differs")).to_contain_text("Siete mesas")
    decide(page, "Conservar lo primero", "llamé: son cinco")
    expect(page.get_by_role("status")).to_contain_text("Hecho: Conservar lo primero")


def test_what_shares_a_cause_is_decided_at_once(console: Site, page: Page) -> None:
    page.goto(f"{console.address}/console/inbox/decide")
    page.locator(".cause").get_by_role("link", name="Intentar de nuevo").first.click()
    expect(page.get_by_role("heading", name="Eventos:")).to_be_visible()
    decide(page, "Intentar de nuevo", "el CRM ya los acepta")
    page.wait_for_url("**/many/*")
    expect(page.get_by_text("Terminó.")).to_be_visible()
    assert page.locator(".rows tbody tr").count() >= 2
    expect(page.locator(".rows tbody tr").first).to_contain_text("hecho")


def test_a_list_is_taken_as_a_masked_file(page: Page, console: Site) -> None:
    page.goto(f"{console.address}/console/inbox/all?source=web")
    with page.expect_download() as taken:
        page.get_by_role("link", name="Bajar CSV").click()
    text = Path(taken.value.path()).read_text("utf-8-sig")
    header, *rows = csv.reader(io.StringIO(text))
    assert (header[1], {row[1] for row in rows}) == ("fuente", {"web"})
    assert "carmen@" not in text
