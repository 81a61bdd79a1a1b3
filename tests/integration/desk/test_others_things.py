"""Nobody reaches what is another's, acts in another's name, or writes a header, by what an address or a form says."""

from __future__ import annotations

from uuid import UUID

import pytest

from intake.desk import operators, sessions
from tests.desk_lab import PASSWORD, QUICK
from tests.integration.desk.conftest import Scene

EVIL = "%0d%0aX-Evil:%201"


def confirmed(scene: Scene) -> UUID:
    event_id = scene.lab.form(email=f"ajeno{next(scene.lab.counter)}@example.com", phone="")
    scene.lab.work()
    return event_id


def author(scene: Scene, event_id: UUID) -> object:
    (row,) = scene.lab.rows("SELECT author FROM decisions WHERE event_id = %(id)s", id=event_id)
    return row["author"]


# --- in one's own name ------------------------------------------------------------------------------------------------


def test_a_form_that_names_another_author_is_ones_own(scene: Scene) -> None:
    event_id = confirmed(scene)
    forged = {"by": "admin", "author": "admin", "operator": "admin", "reason": "x"}
    assert scene.desk.person("operator").post(f"/console/events/{event_id}/reissue", **forged).status_code == 303
    assert author(scene, event_id) == "operator"


@pytest.mark.parametrize("name", ["by", "author", "operator", "token_id"])
def test_a_body_that_names_another_author_is_refused(scene: Scene, name: str) -> None:
    event_id = confirmed(scene)
    answer = scene.desk.stranger().post(
        f"/api/v1/events/{event_id}/reissue",
        headers=scene.desk.token("operator"),
        json={"reason": "x", name: "admin"},
    )
    assert (answer.status_code, answer.get_json()["fields"].keys()) == (422, {name})


def test_the_answer_to_a_key_is_shown_to_the_token_that_used_it(scene: Scene) -> None:
    path, body = f"/api/v1/items/{scene.day.conflict_item}/assign", {"reason": "x", "assignee": "admin"}
    key = {"Idempotency-Key": "shared-key"}
    first, second = (
        scene.desk.stranger().post(path, headers=scene.desk.token(role) | key, json=body)
        for role in ("operator", "approver")
    )
    assert (first.status_code, second.status_code) == (200, 200)
    assert "Idempotent-Replayed" not in second.headers


# --- one's own account ------------------------------------------------------------------------------------------------


def test_a_form_that_names_another_account_changes_ones_own(scene: Scene) -> None:
    scene.desk.person("admin", language="es")
    scene.desk.person("viewer").post("/console/account/language", language="en", name="admin", username="admin")
    with scene.lab.pool.connection() as conn:
        told = {name: found.language for name in ("admin", "viewer") if (found := operators.find(conn, name))}
    assert told == {"admin": "es", "viewer": "en"}


def test_ending_the_other_sessions_ends_nobody_elses(scene: Scene) -> None:
    admin = scene.desk.person("admin")
    scene.desk.person("viewer").post("/console/account/sessions", name="admin", operator_id="1")
    assert admin.get("/console/inbox/all").status_code == 200


def test_a_password_is_changed_for_who_is_signed_in(scene: Scene) -> None:
    fields = {"old": "wrong", "new": "una frase larga y nueva", "again": "una frase larga y nueva", "username": "admin"}
    assert scene.desk.person("viewer").post("/console/account/password", **fields).status_code == 422
    with scene.lab.pool.connection() as conn:
        assert isinstance(operators.identify(conn, QUICK, "admin", PASSWORD), operators.Operator)


def test_the_form_token_of_one_session_opens_no_other_of_the_same_person(scene: Scene) -> None:
    first, second = scene.desk.person("operator"), scene.desk.person("operator")
    answer = second.client.post("/console/account/language", data={"csrf": first.form_token, "language": "es"})
    assert answer.status_code == 403


# --- what is not there ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", [f"events/{UUID(int=7)}", f"events/{UUID(int=7)}/cancel", "items/999999", "many/999999", "events/1"]
)
def test_what_is_not_there_is_not_found(scene: Scene, path: str) -> None:
    assert scene.desk.person("admin").get(f"/console/{path}").status_code == 404


def test_only_a_conflict_has_two_contents_to_show(scene: Scene) -> None:
    answer = scene.desk.person("admin").post(f"/console/items/{scene.day.quarantine_item}/data")
    assert answer.status_code == 404


# --- headers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [f"inbox/all?q={EVIL}&source={EVIL}", f"inbox/all{EVIL}.csv", f"inbox/{EVIL}", f"login?next=/console/{EVIL}",
     f"account?ended={EVIL}", f"access.csv?operator={EVIL}", f"inbox/all.csv?mode={EVIL}", f"events/{EVIL}"],
)  # fmt: skip
def test_no_address_writes_a_header(scene: Scene, path: str) -> None:
    answer = scene.desk.person("admin").get(f"/console/{path}")
    assert "X-Evil" not in answer.headers
    assert answer.status_code < 500


@pytest.mark.parametrize("path", ["sources/web/pause", f"sources/{EVIL}/pause", f"events/{UUID(int=7)}/look"])
def test_no_form_writes_a_header(scene: Scene, path: str) -> None:
    answer = scene.desk.person("viewer").post(f"/console/{path}", reason="x\r\nX-Evil: 1")
    assert "X-Evil" not in answer.headers
    assert answer.status_code in {403, 404}


def test_a_cookie_of_another_name_is_no_session(scene: Scene) -> None:
    with scene.lab.pool.connection() as conn:
        operator = operators.find(conn, "admin")
        assert operator is not None
        begun = sessions.begin(conn, operator)
    browser = scene.desk.stranger()
    browser.set_cookie("intake-login", begun.token)
    assert browser.get("/console/inbox/all").status_code == 302
