"""Finding an event by what a person has in hand, and what cannot be found out that way."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

import pytest

from intake.desk.searching import PER_MINUTE
from intake.desk.serving import create
from intake.desk.tools import Tools
from intake.rates import Rates
from tests.desk_lab import QUICK
from tests.integration.desk.conftest import Scene


@pytest.mark.parametrize("text", ["951000001", "+51 951 000 001", "carmen@example.com", "msg_1"])
def test_an_event_is_found_by_what_a_person_has_in_hand(scene: Scene, text: str) -> None:
    page = scene.desk.person("viewer").page(f"/console/inbox/all?q={quote(text)}")
    assert str(scene.day.confirmed) in page
    assert str(scene.day.review) not in page


@pytest.mark.parametrize("text", ["nobody@example.com", "%", "' OR 1=1 --", "\x00", "0" * 300, "ñ", "--------"])
def test_a_search_for_nobody_finds_nothing_and_is_no_bug(scene: Scene, text: str) -> None:
    page = scene.desk.person("viewer").page(f"/console/inbox/all?q={quote(text)}")
    assert text == "\x00" or str(scene.day.confirmed) not in page


@pytest.mark.parametrize("text", ["C. E. \u00b7\u00b7\u00b7001", "c e 001", "\u00b7\u00b7\u00b7001", "001"])
def test_an_event_is_found_by_what_lists_show_of_its_person(scene: Scene, text: str) -> None:
    page = scene.desk.person("viewer").page(f"/console/inbox/today?q={quote(text)}")
    assert str(scene.day.confirmed) in page
    assert str(scene.day.script) not in page


@pytest.mark.parametrize("shorter", [1, 10, 20])
def test_an_event_is_found_by_a_part_of_its_reference(scene: Scene, shorter: int) -> None:
    (row,) = scene.lab.rows(
        "SELECT reference FROM deliveries JOIN needs USING (need_id) WHERE event_id = %(id)s", id=scene.day.confirmed
    )
    whole = str(row["reference"])
    for text in (whole[:-shorter], whole[-8:]):
        assert str(scene.day.confirmed) in scene.desk.person("viewer").page(f"/console/inbox/all?q={text}")


@pytest.mark.parametrize(
    "text", ["Carmen", "Ejemplo", "armen", "carmen@", "carmen@example", "example.com", "95100", "1000001", "0001",
             "51951", "+5195100000", "Hola", "\u00b7", "."],
)  # fmt: skip
def test_nothing_that_is_masked_is_found_out_by_trying(scene: Scene, text: str) -> None:
    page = scene.desk.person("viewer").page(f"/console/inbox/all?q={quote(text)}")
    assert str(scene.day.confirmed) not in page


def test_numbers_are_not_tried_out_until_one_is_found(scene: Scene) -> None:
    app = create(Tools(scene.lab.settings, scene.lab.pool, lambda: None, QUICK, Rates(lambda: 0.0)))
    person = replace(scene.desk, app=app).person("viewer")
    told = [person.get(f"/console/inbox/all?q=9510{n:05}").status_code for n in range(PER_MINUTE + 1)]
    assert (told[0], told[-1]) == (200, 429)


# --- by the API -----------------------------------------------------------------------------------------------------


def listed(scene: Scene, query: str) -> list[dict[str, object]]:
    answer = scene.desk.stranger().get(f"/api/v1/events?{query}", headers=scene.desk.token("viewer", "read"))
    assert answer.status_code == 200
    found: list[dict[str, object]] = answer.get_json()["events"]
    return found


@pytest.mark.parametrize(
    ("query", "field", "value"),
    [("kind=whatsapp", "kind", "whatsapp"), ("kind=quote", "kind", "quote"), ("mode=live", "mode", "live")],
)
def test_events_are_filtered_as_in_the_console(scene: Scene, query: str, field: str, value: str) -> None:
    found = listed(scene, query)
    assert {each[field] for each in found} == {value}
    assert listed(scene, f"{query}&until=2000-01-01T00:00:00Z") == []
