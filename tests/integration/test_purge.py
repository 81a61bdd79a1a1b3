"""What is old goes, in the order in which its source says; what is open stays, and nobody is created twice."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from intake import person_arrows, reconcile
from intake.purge import BEGIN, STEP_BY_STEP, STEPS, NotOwner, Step, Wish, purge
from tests.by_role import apart
from tests.commands import beside, intake
from tests.lab import SOURCES, Lab, lab
from tests.running import until

DAYS = {"payload": 30, "attempt": 60, "decision": 90, "key": 120}
RETENTION = "\n".join(f"{name}_retention_days = {days}" for name, days in DAYS.items())
KEEPING = SOURCES.replace('provider = "standard_webhooks"', 'provider = "standard_webhooks"\n' + RETENTION)


@pytest.fixture
def made(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path, sources=KEEPING) as one:
        yield one


def after(days: int, **more: object) -> Wish:
    return Wish(now=datetime.now(UTC) + timedelta(days=days), **more)  # type: ignore[arg-type]  # names of its fields


def purged(made: Lab, wish: Wish) -> Counter[str]:
    with psycopg.connect(made.database_url, autocommit=True) as conn:
        return purge(conn, made.settings, wish)


def accusations(made: Lab) -> list[str]:
    with psycopg.connect(made.database_url) as conn:
        return [each.reason for each in reconcile.accuse(conn, None)]


def held(made: Lab) -> set[str]:
    """What kinds of payload are there."""
    return {str(row["what"]) for row in made.rows("SELECT what FROM bodies WHERE content IS NOT NULL")}


def confirmed(made: Lab, **answers: str) -> UUID:
    event = made.form(delivery_id="msg_old", **answers)
    made.settle(2)
    assert made.state(event) == "confirmed"
    return event


def test_what_is_younger_than_its_source_keeps_it_stays(made: Lab) -> None:
    confirmed(made)
    assert not purged(made, after(29))


def test_old_contents_are_emptied_and_nothing_is_missing(made: Lab) -> None:
    confirmed(made)
    purged(made, after(31))
    assert (held(made), accusations(made)) == (set(), [])


def test_a_late_duplicate_of_what_was_purged_is_refused_and_keeps_no_body(made: Lab) -> None:
    event = confirmed(made)
    purged(made, after(31))
    again = made.form(delivery_id="msg_old")
    assert (again, made.work(), held(made)) == (event, 0, set())


CHOOSING = 7_030_299  # an advisory lock of this test


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.what} {next(iter(step.acts))}")
def test_what_is_delivered_again_while_a_batch_is_chosen_stays(made: Lab, step: Step) -> None:
    event = confirmed(made)
    wait = f" AND (SELECT pg_advisory_xact_lock_shared({CHOOSING}) IS NOT NULL) ORDER BY"
    slow = replace(step, select=step.select.replace(" ORDER BY", wait, 1))
    with ThreadPoolExecutor(1) as thread, psycopg.connect(made.database_url, autocommit=True) as conn:
        conn.execute("SELECT pg_advisory_lock(%s)", [CHOOSING])
        going = thread.submit(purged, made, after(121, steps=[slow]))
        until(lambda: made.rows("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))
        person_arrows.new_generation(conn, event, gated=False)
        conn.execute("SELECT pg_advisory_unlock(%s)", [CHOOSING])
        assert not going.result()
    assert made.state(event) == "received"


def test_what_awaits_a_person_keeps_its_contents(made: Lab) -> None:
    made.dials.fault("422", match={"what": "create", "kind": "contact"})
    event = made.form()
    made.work()
    assert made.state(event) == "review"
    assert not purged(made, after(1000))


def test_a_quarantined_body_stays_while_its_item_is_open(made: Lab) -> None:
    made.post("web", b'{"broken')
    assert not purged(made, after(1000))


def test_old_attempts_and_decisions_go_and_identities_stay(made: Lab) -> None:
    event = confirmed(made)
    done = purged(made, after(91))
    rows = made.rows("SELECT (SELECT count(*) FROM attempts) AS attempts, (SELECT count(*) FROM events) AS events")
    assert (done["attempts"] > 0, rows, made.state(event)) == (True, [{"attempts": 0, "events": 1}], "confirmed")


def test_old_identities_go_and_nothing_is_accused(made: Lab) -> None:
    confirmed(made)
    done = purged(made, after(121))
    assert (done["identities"], made.rows("SELECT event_id FROM deliveries"), accusations(made)) == (1, [], [])


def test_the_contact_of_what_went_is_not_made_a_second_time(made: Lab) -> None:
    confirmed(made)
    purged(made, after(121))
    later = made.form(delivery_id="msg_new", message="Otra vez")
    made.settle(2)
    assert (made.state(later), len(made.in_crm("contact"))) == ("confirmed", 1)


def test_one_source_is_purged_without_the_others(made: Lab) -> None:
    confirmed(made)
    assert not purged(made, after(31, source="wa"))


def test_counting_takes_nothing_away(made: Lab) -> None:
    confirmed(made)
    would = purged(made, after(31, dry=True))
    assert (would, purged(made, after(31))) == (would, would)


def test_what_several_steps_would_take_is_counted_once(made: Lab) -> None:
    confirmed(made)
    made.quote()
    made.settle(2)
    would = purged(made, after(121, dry=True, batch=1, ahead=1))
    assert +would == +purged(made, after(121, batch=1, ahead=1))


def test_small_batches_take_all_of_it(made: Lab) -> None:
    for number in range(5):
        made.form(delivery_id=f"msg_{number}", phone=f"98765432{number}", email="")
    made.settle(2)
    assert purged(made, after(31, batch=2))["leads"] == 5


def test_what_is_old_is_looked_at_piece_by_piece(made: Lab) -> None:
    """Most of it was purged on earlier days: no statement looks at all of it at one time."""
    for number in range(5):
        made.form(delivery_id=f"msg_{number}", phone=f"98765432{number}", email="")
    made.post("web", b'{"broken', mode="test")
    made.settle(2)
    assert purged(made, after(31))["leads"] == 5
    made.form(delivery_id="msg_new", phone="987654329", email="")
    made.settle(2)
    again = purged(made, after(31, ahead=2, batch=1))
    assert (again["leads"], again["raw_bodies"], held(made)) == (1, 1, {"raw"})


def test_a_process_that_does_not_own_the_tables_takes_nothing_away(made: Lab) -> None:
    with (
        apart(made) as (_, users),
        psycopg.connect(users.of("intake_desk", made.database_url), autocommit=True) as conn,
        pytest.raises(NotOwner),
    ):
        purge(conn, made.settings, after(31))


def test_the_command_says_what_would_go(made: Lab, tmp_path: Path) -> None:
    confirmed(made)
    with psycopg.connect(made.database_url) as conn:
        conn.execute("SET LOCAL intake.purge = 'on'")
        conn.execute("UPDATE events SET received_at = received_at - interval '31 days'")
    said = intake(beside(made, tmp_path), "purge", "web", "--dry-run", "--json")
    assert (said.status, json.loads(said.out)["leads"], "lead" in held(made)) == (0, 1, True)


# --- among millions ---------------------------------------------------------------------------------------------------

TABLES = "events|deliveries|delivery_history|records|bodies|attempts|receipts|needs"
LARGE = re.compile(rf"Seq Scan on ({TABLES})\b|(Hash|Merge) (\w+ )?Join")
STATEMENTS = [
    (step.what, name, text)
    for step in STEPS
    for name, text in (("ahead", step.ahead), ("select", step.select), *step.acts.items())
]


@pytest.mark.parametrize(("what", "name", "text"), STATEMENTS, ids=[f"{what} {name}" for what, name, _ in STATEMENTS])
def test_a_batch_reads_no_large_table_as_a_whole(database_url: str, what: str, name: str, text: str) -> None:
    del what, name
    given = {
        "names": ["web"],
        "age": timedelta(days=8),
        "now": None,
        "batch": 200,
        "ahead": 2_000,
        "end": datetime.now(UTC),
        "ids": [],
        **BEGIN,
    }
    with psycopg.connect(database_url) as conn:
        conn.execute(STEP_BY_STEP)
        plan = "\n".join(str(row[0]) for row in conn.execute(f"EXPLAIN {text}".encode(), given))
    assert not LARGE.search(plan), plan
    # All that is pending may be much more than a batch, and the planner does not know how much.
    assert "deliveries_pending" not in plan, plan
