"""What the pages show, and what they must not: masked people, inert markup, whole sentences, small and labelled."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Final
from urllib.parse import quote

import pytest

from intake.console.lists import harmless
from intake.console.wording import STATIC
from intake.desk import inbox
from intake.desk.inbox import Filter
from tests.desk_lab import Person
from tests.desk_scenes import CONFIRMED, FORMULA, SCRIPT
from tests.integration.desk.conftest import Scene

MOST_BYTES: Final = 100 * 1024


def pages(scene: Scene) -> list[str]:
    """The address of every page."""
    day = scene.day
    events = [f"/console/events/{each}" for each in (day.confirmed, day.review, day.uncertain, day.script, day.talk)]
    deeds = [f"{events[2]}/settle-applied", f"{events[1]}/correct", f"{events[1]}/cancel", f"{events[0]}/reissue"]
    rest = ["refused", "sources", "accounts", "health", "figures", "access", "account",
            "many", "many/new", f"many/{day.run}", "many/new?action=revive&state=review",
            "inbox/decide?reason=contact_several",
            f"items/{day.conflict_item}", f"items/{day.quarantine_item}"]  # fmt: skip
    return [f"/console/inbox/{each}" for each in inbox.LISTS] + events + deeds + [f"/console/{each}" for each in rest]


# --- people -----------------------------------------------------------------------------------------------------------


def test_no_page_shows_a_person_before_it_is_asked_to(scene: Scene) -> None:
    admin = scene.desk.person("admin")
    shown = [page for page in pages(scene) if "/correct" not in page]
    told = "".join(admin.page(page) for page in shown)
    secrets = [part for person in CONFIRMED for part in (*person[0].split(), *person[1:])]
    assert [each for each in (*secrets, "rita@example.com", "951000011") if each in told] == []


def test_what_an_event_says_is_shown_on_demand_and_noted(scene: Scene) -> None:
    answer = scene.desk.person("operator").post(f"/console/events/{scene.day.confirmed}/data")
    assert "carmen@example.com" in answer.get_data(as_text=True)
    seen = scene.lab.rows("SELECT operator, via, what FROM access_log WHERE event_id = %(id)s", id=scene.day.confirmed)
    assert {"operator": "operator", "via": "console", "what": "content"} in seen


def test_both_sides_of_a_conflict_are_shown_masked(scene: Scene) -> None:
    page = scene.desk.person("viewer").page(f"/console/items/{scene.day.conflict_item}")
    assert 'class="differs"' in page
    assert "sillas" not in page


def test_what_was_on_a_screen_is_noted_by_its_reader(scene: Scene) -> None:
    scene.desk.person("viewer").page(f"/console/events/{scene.day.talk}")
    seen = scene.lab.rows("SELECT operator FROM shown WHERE event_id = %(id)s", id=scene.day.talk)
    assert {"operator": "viewer"} in seen


def test_both_sides_of_a_conflict_are_shown_on_demand_and_noted(scene: Scene) -> None:
    page = scene.desk.person("operator").post(f"/console/items/{scene.day.conflict_item}/data").get_data(as_text=True)
    assert "Diez sillas" in page
    assert "Doce sillas, y dos mesas" in page
    assert scene.lab.rows("SELECT 1 AS n FROM access_log WHERE what = 'conflict' AND operator = 'operator'")


def test_the_form_of_a_correction_shows_what_it_corrects_and_is_noted(scene: Scene) -> None:
    page = scene.desk.person("approver").page(f"/console/events/{scene.day.review}/correct")
    assert 'value="rita@example.com"' in page
    assert scene.lab.rows("SELECT 1 AS n FROM access_log WHERE what = 'content' AND operator = 'approver'")


def test_a_refused_field_is_named_and_its_correction_comes_first(scene: Scene) -> None:
    operator = scene.desk.person("operator")
    page = operator.page(f"/console/events/{scene.day.review}")
    assert "<strong>Correo.</strong>" in page
    first = page[page.index('<ul class="actions">') :].partition("</li>")[0]
    assert "Corregir datos" in first
    assert "button main" in first
    assert "is not valid" not in page
    assert "Rechazado: is not valid" in operator.page(f"/console/events/{scene.day.review}/correct")


# --- markup and formulas ----------------------------------------------------------------------------------------------


def test_a_lead_that_is_markup_is_shown_as_text(scene: Scene) -> None:
    operator = scene.desk.person("operator")
    shown = operator.post(f"/console/events/{scene.day.script}/data").get_data(as_text=True)
    assert SCRIPT not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown


@pytest.mark.parametrize("field", ["q", "source", "state", "assignee", "cursor", "mode", "item", "kind"])
def test_an_address_that_is_markup_is_shown_as_text(scene: Scene, field: str) -> None:
    page = scene.desk.person("admin").get(f"/console/inbox/all?{field}={quote(SCRIPT)}").get_data(as_text=True)
    assert SCRIPT not in page


def test_no_page_runs_or_styles_anything_inline(scene: Scene) -> None:
    admin = scene.desk.person("admin")
    inline = re.compile(r"<script(?![^>]*\ssrc=)|\sstyle=|\son[a-z]+=|javascript:|<style", re.IGNORECASE)
    assert [page for page in pages(scene) if inline.search(admin.page(page))] == []


def test_every_answer_forbids_what_no_page_needs(scene: Scene) -> None:
    for address in (
        *pages(scene),
        "/console/nothing",
        "/console/static/desk.css",
        "/api/openapi.json",
        "/api/v1/events",
    ):
        with scene.desk.person("admin").get(address) as answer:
            headers = answer.headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy, address
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        if "static" not in address:
            assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("cell", [FORMULA, "+51951000001", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=1"])
def test_no_cell_of_a_csv_is_a_formula(cell: str) -> None:
    assert harmless(cell) == f"'{cell}"


def test_a_csv_is_masked_and_noted(scene: Scene) -> None:
    answer = scene.desk.person("operator").get("/console/inbox/all.csv")
    text = answer.get_data(as_text=True)
    header, *rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    assert header[0] == "hora"
    assert len(rows) >= len(CONFIRMED)
    assert "carmen@" not in text
    assert "951000001" not in text
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert scene.lab.rows("SELECT 1 AS n FROM access_log WHERE what = 'export' AND operator = 'operator'")


# --- lists ------------------------------------------------------------------------------------------------------------


def test_each_list_counts_and_shows_its_own(scene: Scene) -> None:
    admin = scene.desk.person("admin")
    assert "Conflicto" in admin.page("/console/inbox/decide")
    assert "Recibido" in admin.page("/console/inbox/moving")
    assert "Recibido" not in admin.page("/console/inbox/today")
    assert "La firma o el token no corresponde" in admin.page("/console/refused")


def test_a_refusal_is_told_by_its_hour_and_no_finer(scene: Scene) -> None:
    (row,) = scene.lab.rows("SELECT max(hour) AS hour FROM refusals")
    assert isinstance(row["hour"], datetime)
    begin = row["hour"].astimezone(scene.lab.settings.timezone)
    told = f"{begin:%H:%M}\u2013{begin + timedelta(hours=1):%H:%M}</time>"
    assert told in scene.desk.person("viewer").page("/console/refused")


@pytest.mark.parametrize("which", inbox.LISTS)
def test_pages_of_a_list_follow_each_other_without_a_gap(scene: Scene, which: inbox.List) -> None:
    midnight = datetime.now(UTC) - timedelta(days=1)
    found: list[inbox.Row] = []
    with scene.lab.pool.connection() as conn:
        whole = inbox.page(conn, which, Filter(limit=1000), midnight=midnight).rows
        page = inbox.page(conn, which, Filter(limit=2), midnight=midnight)
        found += page.rows
        while page.next_cursor is not None:
            page = inbox.page(conn, which, Filter(cursor=page.next_cursor, limit=2), midnight=midnight)
            found += page.rows
    assert tuple(found) == whole


@pytest.mark.parametrize("which", ["decide", "moving", "all"])
def test_a_list_is_of_the_days_that_are_asked_for(scene: Scene, which: str) -> None:
    viewer = scene.desk.person("viewer")
    today = datetime.now(scene.lab.settings.timezone).date()
    links = [
        viewer.page(f"/console/inbox/{which}?since={since}&until={until}").count('class="c-who"')
        for since, until in ((today - timedelta(days=1), today), (today - timedelta(days=9), today - timedelta(days=8)))
    ]
    assert (links[0] > 0, links[1]) == (True, 0)


@pytest.mark.parametrize("which", inbox.LISTS)
def test_a_list_is_of_the_crm_that_is_asked_for(scene: Scene, which: str) -> None:
    viewer = scene.desk.person("viewer")
    found = [viewer.page(f"/console/inbox/{which}?destination={name}").count('class="c-who"') for name in ("crm", "no")]
    assert (found[0] > 0, found[1]) == (True, 0)


@pytest.mark.parametrize("day", ["yesterday", "2026-13-01", "9999-12-31", "0001-01-01", "2026-11-29T10:00"])
def test_a_day_that_is_none_is_refused_and_no_bug(scene: Scene, day: str) -> None:
    for field in ("since", "until"):
        answer = scene.desk.person("viewer").get(f"/console/inbox/all?{field}={day}")
        assert answer.status_code in ({200, 400} if day[:4] in {"9999", "0001"} else {400})


@pytest.mark.parametrize("cursor", ["x", "eA==", "MjAyNg==", quote("2026-01-01T00:00:00 1"), "MjAyNi0wMS0wMSB4"])
@pytest.mark.parametrize("which", inbox.LISTS)
def test_a_cursor_of_nobody_is_refused(scene: Scene, which: str, cursor: str) -> None:
    assert scene.desk.person("viewer").get(f"/console/inbox/{which}?cursor={cursor}").status_code == 400


# --- for everybody ----------------------------------------------------------------------------------------------------


def test_every_page_is_small(scene: Scene) -> None:
    beside = sum((STATIC / name).stat().st_size for name in ("desk.css", "desk.js", "icon.svg", "inter.woff2"))
    admin = scene.desk.person("admin")
    sizes = {page: len(admin.page(page).encode()) + beside for page in pages(scene)}
    assert {page: size for page, size in sizes.items() if size > MOST_BYTES} == {}


class Outline(HTMLParser):
    """The ids, labels and fields of a page, and its headings."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.labels: set[str] = set()
        self.fields: list[dict[str, str | None]] = []
        self.headings: list[str] = []
        self.language = ""
        self.in_label = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.append(given["id"] or "")
        match tag:
            case "html":
                self.language = given.get("lang") or ""
            case "label":
                self.in_label += 1
                self.labels.add(given.get("for") or "")
            case "h1" | "h2" | "h3":
                self.headings.append(tag)
            case "input" | "select" | "textarea" if given.get("type") != "hidden" and "hidden" not in given:
                self.fields.append(given | {"in_label": "yes" if self.in_label else None})

    def handle_endtag(self, tag: str) -> None:
        self.in_label -= tag == "label"


def outline(person: Person, page: str) -> Outline:
    read = Outline()
    read.feed(person.page(page))
    return read


def test_every_page_can_be_heard(scene: Scene) -> None:
    admin = scene.desk.person("admin")
    for page in pages(scene):
        read = outline(admin, page)
        assert read.language == "es", page
        assert read.headings.count("h1") == 1, page
        assert len(read.ids) == len(set(read.ids)), page
        unnamed = [each for each in read.fields if not each["in_label"] and each.get("id") not in read.labels]
        assert unnamed == [], page


def test_a_reader_of_english_reads_no_spanish(scene: Scene) -> None:
    admin = scene.desk.person("admin", language="en")
    told = "".join(admin.page(page) for page in pages(scene))
    assert 'lang="es"' not in told.replace('lang="es">Español', "")
    assert not re.search(r"\b(Necesitan|Bandeja|Fuentes|Guardar|Por qué|Qué|hace \d)", told)


@pytest.mark.parametrize("value", ["%00", "a%00b", "9" * 30, "-1", "%ff", "%F0%9F%98%80", "1e9", "' OR 1=1 --"])
@pytest.mark.parametrize(
    "address",
    ["access?operator=", "access?before=", "access.csv?operator=", "many/1?after=", "many/new?state=review&source=",
     "many/new?cause=", "inbox/decide?reason=", "inbox/all?source=", "refused?source=", "account?ended="],
)  # fmt: skip
def test_no_address_is_a_bug(scene: Scene, address: str, value: str) -> None:
    assert scene.desk.person("admin").get(f"/console/{address}{value}").status_code < 500


@pytest.mark.parametrize(
    ("language", "why", "rule"),
    [("es", "No es JSON válido.", "debe ser JSON"), ("en", "It is no valid JSON.", "must be JSON")],
)
def test_what_could_not_be_read_is_told_in_the_readers_language(
    scene: Scene, language: str, why: str, rule: str
) -> None:
    person = scene.desk.person("viewer", language=language)
    page = person.page(f"/console/items/{scene.day.quarantine_item}")
    assert why in page
    assert f"<dd>{rule}</dd>" in page
    assert "not_json" not in page + person.page("/console/inbox/decide")
