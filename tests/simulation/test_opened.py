"""Whoever opens what is in doubt has it looked for in the CRM at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import UUID

import pytest

from tests.commands import beside, intake
from tests.desk_lab import DeskLab, desk_lab
from tests.lab import Lab, lab
from tests.simulation.world import STEP, looks


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


def in_doubt(lab: Lab) -> UUID:
    """A form whose opportunity stands in the CRM, which nobody knows; its next look is hours ahead."""
    lab.lose("opportunity")
    event = lab.form()
    lab.work()
    assert lab.state(event) == "uncertain"
    lab.dials.no_faults()
    lab.pass_time(STEP)
    with lab.pool.connection() as conn:
        conn.execute("UPDATE records SET look_at = now() + interval '12 hours' WHERE state IN ('asked', 'in_doubt')")
    lab.work()
    assert lab.state(event) == "uncertain"
    return event


def item_of(lab: Lab, event: UUID) -> int:
    (row,) = lab.rows("SELECT item_id FROM items WHERE event_id = %(id)s AND closed_at IS NULL", id=event)
    return int(str(row["item_id"]))


def by_command(_desk: DeskLab, environ: Mapping[str, str], item: int) -> None:
    assert "se busca ahora" in intake(environ, "item", item).out.lower()


def by_program(_desk: DeskLab, environ: Mapping[str, str], item: int) -> None:
    assert intake(environ, "item", item, "--json").document["item_id"] == item


def in_the_console(desk: DeskLab, _environ: Mapping[str, str], item: int) -> None:
    page = desk.person("viewer").client.get(f"/console/items/{item}", follow_redirects=True)
    assert "Ahora mismo se busca en el CRM" in page.get_data(as_text=True)


def by_the_api(desk: DeskLab, _environ: Mapping[str, str], item: int) -> None:
    answer = desk.stranger().get(f"/api/v1/items/{item}", headers=desk.token("viewer", "read"))
    assert answer.get_json()["item_id"] == item


@pytest.mark.parametrize("opens", [by_command, by_program, in_the_console, by_the_api])
def test_opening_an_item_looks_at_once(
    stored: Lab, environ: Mapping[str, str], opens: Callable[[DeskLab, Mapping[str, str], int], None]
) -> None:
    event = in_doubt(stored)
    opens(desk_lab(stored.pool, stored.settings), environ, item_of(stored, event))
    stored.work()
    assert stored.state(event) == "confirmed"


def test_what_is_only_listed_is_not_looked_for(stored: Lab, environ: Mapping[str, str]) -> None:
    event = in_doubt(stored)
    intake(environ, "items")
    intake(environ, "show", event)
    stored.work()
    assert stored.state(event) == "uncertain"


def test_opening_it_again_within_seconds_asks_nothing_more(stored: Lab, environ: Mapping[str, str]) -> None:
    item = item_of(stored, in_doubt(stored))
    stored.dials.fault("503", match={"what": "find", "kind": "opportunity"}, times=9)
    for _ in range(3):
        intake(environ, "item", item)
        stored.work()
    before = len(looks(stored, "opportunity"))
    intake(environ, "item", item)
    stored.work()
    assert len(looks(stored, "opportunity")) == before


def test_a_look_of_whoever_opens_it_takes_none_of_those_that_are_planned(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path, profile="weak", lag=0.0) as weak:
        weak.dials.fault("500_without_effect", match={"what": "create", "kind": "opportunity"})
        event = weak.form()
        weak.settle(3)
        (before,) = weak.rows("SELECT looks FROM records WHERE kind = 'opportunity'")
        for _ in range(3):
            weak.pass_time(STEP * 4)
            intake(beside(weak, tmp_path), "item", item_of(weak, event))
            weak.work()
        assert weak.rows("SELECT looks FROM records WHERE kind = 'opportunity'") == [before]
