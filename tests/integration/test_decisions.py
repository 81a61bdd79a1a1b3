"""What an operator settles: what it changes, what it does not, and when it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from intake import contact_choice, decisions, remaking, spam
from intake.db import Conn
from intake.explain_texts import Action
from intake.permitted import ACTIONS, refusal
from intake.person_arrows import NotAllowed
from tests.commands import DECIDED, beside, intake, listed
from tests.lab import Lab, lab


@pytest.fixture
def stored(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as made:
        yield made


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


def in_review(stored: Lab) -> UUID:
    """A form whose contact the CRM refused."""
    stored.dials.fault("422", match={"what": "create", "kind": "contact"}, times=1)
    event_id = stored.form()
    stored.work()
    assert stored.state(event_id) == "review"
    return event_id


def in_doubt(stored: Lab, *, executed: bool, kind: str = "opportunity") -> UUID:
    """A form of which nobody knows whether a record was made."""
    stored.lose(kind, executed=executed)
    event_id = stored.form()
    stored.work()
    assert stored.state(event_id) == "uncertain"
    stored.dials.no_faults()
    return event_id


def record_of(stored: Lab, event_id: UUID, kind: str) -> dict[str, object]:
    """The row of a record of an event."""
    (row,) = stored.rows(
        f"SELECT r.* FROM deliveries d JOIN records r ON r.record_id = d.{kind}_record WHERE d.event_id = %(id)s",  # noqa: S608
        id=event_id,
    )
    return row


# --- settle applied -------------------------------------------------------------------------------------------------


def test_a_record_that_bears_our_reference_is_taken_as_applied(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=True)
    (made,) = stored.in_crm("opportunity")
    assert intake(environ, "settle", event_id, "applied", "--crm-id", made["id"], *DECIDED).status == 0
    record = record_of(stored, event_id, "opportunity")
    assert (record["state"], record["crm_id"], record["how"]) == ("known", made["id"], "settled")


def test_a_settled_delivery_goes_on_with_its_next_step(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=True)
    (made,) = stored.in_crm("opportunity")
    intake(environ, "settle", event_id, "applied", "--crm-id", made["id"], *DECIDED)
    stored.work()
    assert (stored.state(event_id), len(stored.in_crm("task"))) == ("confirmed", 1)


def test_a_record_that_bears_another_reference_is_refused(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.form(email="otra@example.com", phone="912345678")
    stored.work()
    (other,) = stored.in_crm("opportunity")
    event_id = in_doubt(stored, executed=False)
    said = intake(environ, "settle", event_id, "applied", "--crm-id", other["id"], *DECIDED)
    assert (said.status, stored.state(event_id)) == (1, "uncertain")


def test_an_id_that_the_crm_does_not_have_is_refused(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=False)
    said = intake(environ, "settle", event_id, "applied", "--crm-id", "opp-none", *DECIDED)
    assert (said.status, record_of(stored, event_id, "opportunity")["crm_id"]) == (1, None)


def test_a_person_may_vouch_for_an_id_unverified(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=False)
    said = intake(environ, "settle", event_id, "applied", "--crm-id", "opp-none", "--unverified", *DECIDED)
    assert (said.status, record_of(stored, event_id, "opportunity")["how"]) == (0, "settled_unverified")


def test_applied_needs_an_id(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=False)
    assert intake(environ, "settle", event_id, "applied", *DECIDED).status == 2


def test_what_is_confirmed_cannot_be_settled(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = stored.form()
    stored.work()
    assert intake(environ, "settle", event_id, "not-applied", *DECIDED).status == 1


# --- settle not-applied ---------------------------------------------------------------------------------------------


def test_a_persons_word_does_not_replace_time(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=False)
    assert intake(environ, "settle", event_id, "not-applied", *DECIDED).status == 0
    stored.work()
    assert (stored.state(event_id), stored.in_crm("opportunity")) == ("uncertain", [])


def test_once_its_time_is_over_and_a_look_found_nothing_it_is_written(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=False)
    intake(environ, "settle", event_id, "not-applied", *DECIDED)
    stored.settle()
    assert (stored.state(event_id), len(stored.in_crm("opportunity"))) == ("confirmed", 1)


def test_a_wrong_word_makes_no_double(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=True)
    intake(environ, "settle", event_id, "not-applied", *DECIDED)
    stored.settle()
    assert (stored.state(event_id), len(stored.in_crm("opportunity"))) == ("confirmed", 1)


def test_a_doubt_in_review_is_doubted_again(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=False)
    record = record_of(stored, event_id, "opportunity")
    with stored.pool.connection() as conn:
        conn.execute("UPDATE deliveries SET state = 'review', reason = 'looks_used_up' WHERE event_id = %s", [event_id])
    assert intake(environ, "settle", event_id, "not-applied", *DECIDED).status == 0
    delivery = stored.delivery(event_id)
    assert (delivery["state"], delivery["blocked_on"]) == ("uncertain", record["record_id"])


# --- cancel, revive, correct ----------------------------------------------------------------------------------------


def test_a_cancel_tells_what_stands_in_the_crm(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=True)
    (contact,) = stored.in_crm("contact")
    said = intake(environ, "settle", event_id, "cancel", *DECIDED).out
    assert (f"contacto {contact['id']}" in said, "Quizás en el CRM: oportunidad" in said) == (True, True)


def test_what_a_cancelled_delivery_may_have_made_is_followed(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_doubt(stored, executed=True)
    intake(environ, "settle", event_id, "cancel", *DECIDED)
    stored.settle(3)
    (opportunity,) = stored.in_crm("opportunity")
    shown = intake(environ, "show", event_id, "--json").document
    assert (shown["state"], shown["opportunity_id"]) == ("cancelled", opportunity["id"])
    assert stored.in_crm("task") == []


def test_a_cancelled_delivery_is_final(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_review(stored)
    intake(environ, "settle", event_id, "cancel", *DECIDED)
    assert [intake(environ, *words, *DECIDED).status for words in (("revive", event_id), ("approve", event_id))] == [
        1,
        1,
    ]


def test_a_revived_delivery_is_tried_again(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_review(stored)
    assert intake(environ, "revive", event_id, *DECIDED).status == 0
    stored.work()
    assert (stored.state(event_id), len(stored.in_crm("contact"))) == ("confirmed", 1)


def test_a_correction_is_what_is_delivered(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_review(stored)
    assert intake(environ, "correct", event_id, "name=Ana Corregida", *DECIDED).status == 0
    stored.work()
    (contact,) = stored.in_crm("contact")
    assert contact["name"] == "Ana Corregida"


def test_a_correction_keeps_the_original(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_review(stored)
    intake(environ, "correct", event_id, "name=Ana Corregida", *DECIDED)
    rows = stored.rows("SELECT revision FROM bodies WHERE event_id = %(id)s ORDER BY 1", id=event_id)
    assert [row["revision"] for row in rows] == [1, 2]


@pytest.mark.parametrize("change", ["phone=none", "email=nobody", "colour=red", "document=123"])
def test_a_correction_that_breaks_a_rule_changes_nothing(stored: Lab, environ: Mapping[str, str], change: str) -> None:
    event_id = in_review(stored)
    said = intake(environ, "correct", event_id, change, *DECIDED)
    assert (said.status, stored.state(event_id)) == (1, "review")


def test_a_correction_without_a_value_is_a_usage_error(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_review(stored)
    assert intake(environ, "correct", event_id, "name", *DECIDED).status == 2


def test_where_new_content_is_gated_a_correction_awaits_approval(
    stored: Lab, environ: Mapping[str, str], tmp_path: Path
) -> None:
    event_id = in_review(stored)
    file = tmp_path / "intake.toml"
    file.write_text(file.read_text().replace('name = "web"', 'name = "web"\napproval = "required"'))
    intake(environ, "correct", event_id, "name=Ana Corregida", *DECIDED)
    assert stored.delivery(event_id)["reason"] == "corrected"


# --- every decision is told -----------------------------------------------------------------------------------------


def test_a_decision_says_who_and_why(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_review(stored)
    intake(environ, "revive", event_id, "--by", "rosa", "--reason", "CRM mended")
    (decision,) = listed(intake(environ, "show", event_id, "--json").document, "decisions")
    assert (decision["author"], decision["reason"], decision["action"]) == ("rosa", "CRM mended", "revive")


@pytest.mark.parametrize("options", [(), ("--by", "rosa"), ("--reason", "so"), ("--by", " ", "--reason", "so")])
def test_no_decision_without_author_and_reason(
    stored: Lab, environ: Mapping[str, str], options: tuple[str, ...]
) -> None:
    event_id = in_review(stored)
    assert (intake(environ, "revive", event_id, *options).status, stored.state(event_id)) == (2, "review")


def test_a_refused_decision_leaves_no_row(stored: Lab, environ: Mapping[str, str]) -> None:
    event_id = in_review(stored)
    intake(environ, "approve", event_id, *DECIDED)
    assert stored.rows("SELECT * FROM decisions") == []


def test_decisions_cannot_be_rewritten(stored: Lab, environ: Mapping[str, str]) -> None:
    intake(environ, "revive", in_review(stored), *DECIDED)
    with pytest.raises(psycopg.errors.CheckViolation), stored.pool.connection() as conn:
        conn.execute("UPDATE decisions SET author = 'another'")


def test_a_correction_changes_the_opportunity_that_stands(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.dials.fault("422", match={"what": "create", "kind": "task"})
    event_id = stored.form(message="Una silla")
    stored.work()
    assert intake(environ, "correct", event_id, "text=Dos sillas", *DECIDED).status == 0
    stored.work()
    (opportunity,) = stored.in_crm("opportunity")
    assert (stored.state(event_id), "Dos sillas" in str(opportunity["text"])) == ("confirmed", True)


def test_what_is_said_to_be_allowed_is_allowed(stored: Lab) -> None:
    """The two must agree: what `safe_actions` promises, and what the arrows let through."""
    done = stored.form(email="done@example.com", phone="987000009")
    stored.work()
    states = (in_review(stored), in_doubt(stored, executed=False), stored.form(), done)
    for event_id in states:
        for action in ACTIONS:
            with stored.pool.connection() as conn:
                said = refusal(action, decisions.view(conn, event_id)) is None
            assert (event_id, action, said) == (event_id, action, _goes_through(stored, event_id, action))


def _goes_through(stored: Lab, event_id: UUID, action: Action) -> bool:
    """Whether a decision is taken, which is then rolled back."""
    author = decisions.Author("rosa", "test")
    with stored.pool.connection() as conn, conn.transaction(force_rollback=True):
        try:
            _settle(conn, author, event_id, action) if action.startswith("settle") else _take(
                conn, author, event_id, action
            )
        except (decisions.Refused, NotAllowed):
            return False
    return True


def _settle(conn: Conn, author: decisions.Author, event_id: UUID, action: Action) -> None:
    match action:
        case "settle applied":
            record = decisions.to_settle(decisions.view(conn, event_id), None, only_doubtful=False)
            decisions.settle_applied(conn, author, event_id, record, decisions.Applied("x", verified=False))
        case "settle not-applied":
            decisions.settle_not_applied(conn, author, event_id)
        case "settle contact":
            contact_choice.settle_contact(conn, author, event_id, "con-1")
        case "settle note":
            decisions.settle_note(conn, author, event_id)
        case "settle new":
            decisions.settle_new(conn, author, event_id)


def _take(conn: Conn, author: decisions.Author, event_id: UUID, action: Action) -> None:
    match action:
        case "look":
            decisions.look(conn, author, event_id)
        case "correct":
            wanted = decisions.Correction({"name": "Otra"}, "PE", gated=False)
            decisions.correct(conn, author, event_id, wanted)
        case "redeliver":
            seen = decisions.view(conn, event_id)
            remaking.redeliver(conn, author, event_id, [each for each in seen.records if each.crm_id])
        case "reissue":
            remaking.reissue(conn, author, event_id, gated=False)
        case "spam":
            spam.mark(conn, author, event_id)
        case "revive":
            decisions.revive(conn, author, event_id)
        case "approve":
            decisions.approve(conn, author, event_id)
        case "decline" | "cancel":
            decisions.cancel(conn, author, event_id, action=action)


# --- items and accounts ---------------------------------------------------------------------------------------------


def conflict(stored: Lab) -> int:
    """The open item of other content under a known identity."""
    stored.quote(amount="100.00")
    stored.post("quotes", _quote(stored, "999.00"))
    (item,) = stored.rows("SELECT item_id FROM items WHERE kind = 'conflict' AND closed_at IS NULL")
    return int(str(item["item_id"]))


def _quote(stored: Lab, amount: str) -> bytes:
    (row,) = stored.rows("SELECT content FROM bodies WHERE what = 'raw' ORDER BY body_id DESC LIMIT 1")
    content = row["content"]
    assert isinstance(content, bytes)
    return content.replace(b"100.00", amount.encode())


def test_a_conflict_is_closed_by_keeping_what_stands(stored: Lab, environ: Mapping[str, str]) -> None:
    item = conflict(stored)
    assert intake(environ, "resolve", item, "keep", *DECIDED).status == 0
    assert intake(environ, "item", item, "--json").document["resolution"] == "keep"


def test_a_closed_item_is_not_closed_again(stored: Lab, environ: Mapping[str, str]) -> None:
    item = conflict(stored)
    intake(environ, "resolve", item, "keep", *DECIDED)
    assert intake(environ, "resolve", item, "keep", *DECIDED).status == 1


def test_a_conflict_is_kept_or_accepted_and_not_released(stored: Lab, environ: Mapping[str, str]) -> None:
    item = conflict(stored)
    assert intake(environ, "resolve", item, "release", *DECIDED).status == 1
    assert intake(environ, "item", item, "--json").document["closed_at"] is None


def test_the_item_of_a_delivery_closes_with_the_delivery_alone(stored: Lab, environ: Mapping[str, str]) -> None:
    in_review(stored)
    (item,) = listed(intake(environ, "items", "--json").document, "items")
    assert intake(environ, "resolve", item["item_id"], "accept", *DECIDED).status == 1


def test_an_item_can_be_given_to_a_person(stored: Lab, environ: Mapping[str, str]) -> None:
    item = conflict(stored)
    intake(environ, "assign", item, "--to", "luis", *DECIDED)
    (row,) = listed(intake(environ, "items", "--assignee", "luis", "--json").document, "items")
    assert row["item_id"] == item


def test_a_persons_pause_lasts_until_a_person_resumes(stored: Lab, environ: Mapping[str, str]) -> None:
    intake(environ, "pause", "crm", *DECIDED)
    event_id = stored.form()
    stored.settle(rounds=3, step=timedelta(hours=1))
    paused = stored.state(event_id)
    intake(environ, "resume", "crm", *DECIDED)
    stored.work()
    assert (paused, stored.state(event_id)) == ("received", "confirmed")


def test_resuming_what_is_not_paused_is_a_finding(environ: Mapping[str, str]) -> None:
    assert intake(environ, "resume", "crm", *DECIDED).status == 1


def test_an_unknown_account_is_a_usage_error(environ: Mapping[str, str]) -> None:
    assert intake(environ, "pause", "nowhere", *DECIDED).status == 2


# --- restored -------------------------------------------------------------------------------------------------------


def test_a_restore_that_is_told_opens_a_new_epoch(stored: Lab, environ: Mapping[str, str]) -> None:
    assert intake(environ, "restored", "--yes").status == 0
    (row,) = stored.rows("SELECT epoch FROM installation")
    assert row["epoch"] == 2


def test_a_restore_is_told_though_the_mark_differs(environ: Mapping[str, str]) -> None:
    mark = Path(environ["INTAKE_HOME"]) / "installation"
    mark.write_text("00000000-0000-0000-0000-000000000000 1 0\n")
    intake(environ, "restored", "--yes")
    checks = listed(intake(environ, "check", "--json").document, "checks")
    assert [each["verdict"] for each in checks if each["what"] == "installation"] == ["ok"]


def test_a_restore_is_not_guessed(stored: Lab, environ: Mapping[str, str]) -> None:
    assert intake(environ, "restored").status == 1
    (row,) = stored.rows("SELECT epoch FROM installation")
    assert row["epoch"] == 1
