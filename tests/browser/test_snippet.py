"""The snippet in a real browser: one message is one event, and the visitor is told what is true."""

from __future__ import annotations

import json

import psycopg
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Web

pytestmark = pytest.mark.browser

RECEIVED = "Recibimos su mensaje."
UNKNOWN = "No sabemos si su mensaje llegó. Si lo envía otra vez sin cambios, no se duplicará."
WAITING = "Sin respuesta aún. Seguimos intentando; no cierre la página."

# The database refuses every commit of an event, as a full disk would.
REFUSE = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse();
"""


def fill(page: Page, message: str = "¿Tienen sillas?") -> None:
    page.get_by_label("Nombre").fill("Ana Prueba")
    page.get_by_label("Correo").fill("ana@example.com")
    page.get_by_label("Mensaje").fill(message)


def press(page: Page) -> None:
    page.get_by_role("button").click()


def told(page: Page, text: str) -> None:
    expect(page.get_by_role("status")).to_have_text(text)


# --- one message is one event ----------------------------------------------------------------------------------------


def test_a_message_is_an_event_and_the_visitor_is_told(web: Web) -> None:
    page = web.page()
    fill(page)
    press(page)
    told(page, RECEIVED)
    (lead,) = web.door.rows("SELECT convert_from(content, 'UTF8')::jsonb AS lead FROM bodies WHERE what = 'lead'")
    assert "¿Tienen sillas?" in json.dumps(lead["lead"], ensure_ascii=False)


def test_a_double_click_is_one_event(web: Web) -> None:
    page = web.page()
    fill(page)
    page.get_by_role("button").dblclick()
    told(page, RECEIVED)
    assert (web.network.posts, web.door.count("events")) == (1, 1)


def test_the_same_message_pressed_again_is_one_event(web: Web) -> None:
    page = web.page()
    fill(page)
    for _ in range(3):
        press(page)
        expect(page.get_by_role("button")).to_be_enabled()
        told(page, RECEIVED)
    assert (web.network.posts, web.door.count("events")) == (3, 1)


def test_a_refresh_in_the_middle_and_the_message_again_is_one_event(web: Web) -> None:
    page = web.page()
    fill(page)
    web.network.open.clear()
    press(page)
    assert web.network.held.wait(30)
    page.reload()
    web.network.open.set()
    told(page, UNKNOWN)
    fill(page)
    press(page)
    told(page, RECEIVED)
    assert (web.network.posts, web.door.count("events")) == (2, 1)


def test_a_changed_message_is_another_event(web: Web) -> None:
    page = web.page()
    for message in ("¿Tienen sillas?", "¿Y mesas?"):
        fill(page, message)
        press(page)
        expect(page.get_by_role("button")).to_be_enabled()
        told(page, RECEIVED)
    assert web.door.count("events") == 2


def test_a_page_that_may_store_nothing_still_sends_once(web: Web) -> None:
    blocked = "Object.defineProperty(window, 'sessionStorage', {get() { throw new DOMException('blocked'); }})"
    page = web.page(before=blocked)
    fill(page)
    for _ in range(2):
        press(page)
        expect(page.get_by_role("button")).to_be_enabled()
        told(page, RECEIVED)
    assert (web.network.posts, web.door.count("events")) == (2, 1)


def test_nothing_of_the_person_is_stored_in_the_browser(web: Web) -> None:
    page = web.page()
    fill(page)
    press(page)
    told(page, RECEIVED)
    stored = page.evaluate("JSON.stringify([{...sessionStorage}, {...localStorage}, document.cookie])")
    assert "intake:page" in stored
    assert not [word for word in ("Ana", "ana@", "sillas") if word in stored]


# --- what goes wrong -------------------------------------------------------------------------------------------------


def test_a_receiver_that_cannot_keep_it_is_asked_until_it_can(web: Web) -> None:
    page = web.page()
    fill(page)
    with psycopg.connect(web.door.database_url) as conn:
        conn.execute(REFUSE)
    press(page)
    told(page, WAITING)
    with psycopg.connect(web.door.database_url) as conn:
        conn.execute("DROP TRIGGER refuse ON events")
    told(page, RECEIVED)
    assert web.door.count("events") == 1
    assert {error for error in web.errors if "503" not in error} == set()
    web.errors.clear()


def test_an_answer_that_never_comes_is_asked_for_again(web: Web) -> None:
    page = web.page()
    fill(page)
    page.clock.install()
    web.network.open.clear()
    press(page)
    assert web.network.held.wait(30)
    page.clock.run_for(15_000)
    told(page, WAITING)
    web.network.open.set()
    page.clock.run_for(5_000)
    told(page, RECEIVED)
    assert (web.network.posts, web.door.count("events")) == (2, 1)


def test_while_offline_it_waits_and_then_sends(web: Web) -> None:
    page = web.page()
    fill(page)
    page.context.set_offline(True)
    press(page)
    told(page, WAITING)
    assert web.network.posts == 0
    page.context.set_offline(False)
    told(page, RECEIVED)
    assert web.door.count("events") == 1


def test_another_site_may_not_send_and_its_visitor_is_not_deceived(web: Web) -> None:
    page = web.page(f"{web.stranger}/")
    fill(page)
    page.clock.install()
    press(page)
    status = page.get_by_role("status")
    for _ in range(60):
        page.clock.run_for(31_000)
        if status.text_content() == UNKNOWN:
            break
    told(page, UNKNOWN)
    assert (web.network.posts, web.door.count("receipts")) == (0, 0)
    assert [error for error in web.errors if "CORS" not in error and "ERR_FAILED" not in error] == []
    web.errors.clear()


def test_what_is_missing_is_asked_for_by_the_browser(web: Web) -> None:
    page = web.page()
    press(page)
    expect(page.get_by_label("Nombre")).to_be_focused()
    assert web.network.posts == 0


def test_a_blank_message_is_not_said_to_be_received(web: Web) -> None:
    page = web.page()
    page.get_by_label("Nombre").fill(" ")
    press(page)
    told(page, "Complete el formulario antes de enviarlo.")
    assert web.door.count("events") == 0


def test_a_robot_that_fills_in_every_field_is_held_for_a_person(web: Web) -> None:
    page = web.page()
    fill(page)
    page.evaluate("document.querySelector('[name=intake_homepage]').value = 'https://spam.example'")
    press(page)
    told(page, RECEIVED)
    assert web.door.rows("SELECT state FROM deliveries") == [{"state": "awaiting_approval"}]


# --- everybody -------------------------------------------------------------------------------------------------------


def test_it_works_by_keyboard_and_the_button_is_off_only_while_sending(web: Web) -> None:
    page = web.page()
    fill(page)
    button = page.get_by_role("button")
    page.get_by_label("Mensaje").press("Tab")
    expect(button).to_be_focused()  # The field for robots is not on the way.
    web.network.open.clear()
    page.keyboard.press("Enter")
    told(page, "Enviando…")
    expect(button).to_be_disabled()
    web.network.open.set()
    told(page, RECEIVED)
    expect(button).to_be_enabled()
    expect(button).to_be_focused()


def test_a_screen_reader_is_told(web: Web) -> None:
    status = web.page().get_by_role("status")
    expect(status).to_have_attribute("aria-live", "polite")
    expect(status).to_have_text("")


def test_an_english_page_speaks_english(web: Web) -> None:
    page = web.page(f"{web.origin}/?lang=en-GB")
    fill(page)
    press(page)
    told(page, "We received your message.")


def test_the_page_hears_of_it(web: Web) -> None:
    page = web.page()
    page.evaluate("document.addEventListener('intake', (e) => { window.heard = e.detail })")
    fill(page)
    press(page)
    told(page, RECEIVED)
    (row,) = web.door.rows("SELECT event_id::text FROM events")
    assert page.evaluate("window.heard") == {"result": "received", "events": [row["event_id"]]}


def test_campaign_parameters_go_along(web: Web) -> None:
    page = web.page(f"{web.origin}/?utm_source=instagram&secreto=1")
    fill(page)
    press(page)
    told(page, RECEIVED)
    (lead,) = web.door.rows("SELECT convert_from(content, 'UTF8') AS lead FROM bodies WHERE what = 'lead'")
    assert "instagram" in str(lead["lead"])
    assert "secreto" not in str(lead["lead"])


def test_without_javascript_the_form_is_sent_as_it_is(web: Web) -> None:
    page = web.page(script=False)
    fill(page)
    press(page)
    told(page, RECEIVED)
    assert page.url.endswith("/hooks/page")
    assert web.door.count("events") == 1


def test_a_form_with_a_file_is_left_alone(web: Web) -> None:
    page = web.page(f"{web.origin}/?file=1")
    expect(page.get_by_role("status")).to_have_count(0)
