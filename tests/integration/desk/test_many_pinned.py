"""A decision about many is about what was seen: the same events, and what they said then."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

import psycopg

from intake import bulk, revisions, spam
from intake.decided import Author
from intake.lead import Contact
from tests.integration.desk.conftest import Scene
from tests.integration.desk.test_many import Since, api, decided, hidden, in_review, new
from tests.lab import Lab


def waiting(scene: Scene, count: int) -> list[UUID]:
    """Events that wait for their approval."""
    lab = scene.lab
    mail = f"pin{next(lab.counter)}@example.com"
    first = lab.form(name="Paula Retenida", email=mail, phone="")
    lab.work()
    with lab.pool.connection() as conn:
        spam.mark(conn, Author("approver", "looks so"), first)
    events = [lab.form(name="Paula Retenida", email=mail, phone="", message=f"{n}") for n in range(count)]
    assert {lab.state(each) for each in events} == {"awaiting_approval"}
    return events


def say_otherwise(lab: Lab, event_id: UUID) -> None:
    """A newer content of it."""
    with psycopg.connect(lab.database_url) as conn:
        newest = revisions.newest(conn, event_id)
        assert newest is not None
        assert newest.lead is not None
        revisions.keep(conn, event_id, newest.number + 1, replace(newest.lead, contact=Contact(name="Otra")))


def test_what_says_something_else_by_now_is_not_approved(scene: Scene) -> None:
    since = Since(scene.lab)
    first, second = waiting(scene, 2)
    filters = urlencode({"state": "awaiting_approval", "since": since.moment})
    seen = api(scene, f"/bulk/count?{filters}").get_json()["fingerprint"]
    say_otherwise(scene.lab, first)
    answer = decided(scene, since, "approve", 2, seen=seen, state="awaiting_approval")
    assert (answer.status_code, answer.get_json()["code"]) == (409, "other_content")
    assert {scene.lab.state(first), scene.lab.state(second)} == {"awaiting_approval"}


def test_what_changes_after_it_was_begun_is_not_approved_either(scene: Scene) -> None:
    since = Since(scene.lab)
    first, second = waiting(scene, 2)
    with scene.lab.pool.connection() as conn:
        wanted = bulk.Filter(state="awaiting_approval", since=datetime.fromisoformat(since.moment))
        begun = bulk.begin(conn, Author("admin", "x"), "approve", wanted)
        say_otherwise(scene.lab, first)
        while bulk.step(conn, scene.lab.settings, bulk_id=begun):
            pass
        assert bulk.results(conn, begun) == {first: "older_content", second: "done"}


def test_an_approval_of_many_names_the_content_that_was_seen(scene: Scene) -> None:
    since = Since(scene.lab)
    waiting(scene, 1)
    assert decided(scene, since, "approve", 1, state="awaiting_approval").status_code == 422


def test_others_of_the_same_number_are_not_decided_about(scene: Scene) -> None:
    since = Since(scene.lab)
    (first,) = in_review(scene.lab, 1)
    operator = scene.desk.person("operator")
    form = hidden(operator.page(new(since, "cancel"))) | {"reason": "x"}
    api(scene, f"/events/{first}/cancel", {"reason": "x"})
    (other,) = in_review(scene.lab, 1)
    answer = operator.client.post("/console/many/new", data=form)
    assert answer.status_code == 409
    assert "son otros, o alguno dice otra cosa" in answer.get_data(as_text=True)
    assert scene.lab.state(other) == "review"
