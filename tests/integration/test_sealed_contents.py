"""With keys in the setting no content lies open in the database, and everything works as without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final
from uuid import UUID

import psycopg
import pytest

from intake import at_rest, resealing, sealing
from intake.at_rest import MARK, Unopenable
from intake.config import ConfigError, Process
from intake.db import connect
from intake.sealing import new_key
from tests.commands import DECIDED, Json, beside, intake, listed
from tests.desk_lab import DeskLab, desk_lab
from tests.lab import Lab, lab
from tests.running import until
from workers import wiring
from workers.plan import must_keep

OLD, NEW = new_key(), new_key()
NEW_HEAD = at_rest.of_keys([NEW]).heads[0]
OPEN = b"Ana Prueba|ana@example.com|987654321|Rosa Prueba|Silla"


@pytest.fixture
def made(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path, payloads=at_rest.of_keys([OLD])) as one:
        yield one


@pytest.fixture
def environ(made: Lab, tmp_path: Path) -> Mapping[str, str]:
    return {**beside(made, tmp_path), "INTAKE_SEAL_KEYS": OLD, "INTAKE_SEAL_CONTENTS": "yes"}


def stored(made: Lab, *, but: int = 0) -> list[bytes]:
    """The contents as they lie there.  `but`: not that of this body."""
    query = "SELECT content FROM bodies WHERE length(content) > 0 AND body_id <> %(but)s"
    with psycopg.connect(made.database_url) as conn:
        return [row[0] for row in conn.execute(query, {"but": but}).fetchall()]


def everything(made: Lab) -> list[UUID]:
    """One event of each kind, a batch of messages, and a quarantined body, all worked off."""
    events = [made.form(delivery_id="msg_1"), *made.whatsapp("Hola", "¿Cuánto cuesta?"), made.quote()]
    made.quote(version=2, amount="200.00")
    made.post("web", b'{"broken')
    made.post("web", b'{"broken', delivery_id="msg_other")
    made.settle(3)
    return events


def test_nothing_lies_open_and_everything_is_delivered(made: Lab) -> None:
    events = everything(made)
    assert {made.state(each) for each in events} == {"confirmed"}
    assert len(made.in_crm("opportunity")) == 3
    contents = stored(made)
    assert len(contents) > 10
    assert all(each.startswith(MARK) for each in contents)
    assert not [word for word in OPEN.split(b"|") if any(word in each for each in contents)]


def test_the_same_unreadable_bytes_are_one_item_still(made: Lab, environ: Mapping[str, str], tmp_path: Path) -> None:
    everything(made)
    mended = tmp_path / "mended.json"
    mended.write_text('{"name": "Ana Prueba", "email": "ana@example.com", "message": "Hola"}', "utf-8")
    (item,) = made.rows("SELECT item_id FROM items WHERE kind = 'quarantine' AND closed_at IS NULL")
    assert intake(environ, "resolve", item["item_id"], "release", "--body", mended, *DECIDED).status == 0
    assert made.rows("SELECT FROM items WHERE kind = 'quarantine' AND closed_at IS NULL") == []


def test_operators_read_and_correct_what_is_sealed(made: Lab, environ: Mapping[str, str]) -> None:
    made.dials.fault("422", match={"what": "create", "kind": "contact"})
    event = made.form()
    made.work()
    assert "ana@example.com" in intake(environ, "show", event, "--data", "--by", "ana").out
    assert intake(environ, "correct", event, "message=Otra cosa", *DECIDED).status == 0
    made.settle(2)
    assert made.state(event) == "confirmed"
    assert all(each.startswith(MARK) for each in stored(made))


def test_a_person_is_forgotten_in_what_is_sealed(made: Lab, environ: Mapping[str, str]) -> None:
    everything(made)
    said = intake(environ, "forget", "--email", "ana@example.com", "--phone", "987654321", *DECIDED, "--json")
    assert said.status == 0, said.err
    (certificate,) = listed(said.document, "certificates")
    assert certificate["events"] == 1


# --- a key is missing, or changed -------------------------------------------------------------------------------------


def test_who_lacks_the_key_is_told_so_and_gets_no_connection(made: Lab, environ: Mapping[str, str]) -> None:
    event = made.form()
    without = {name: value for name, value in environ.items() if name != "INTAKE_SEAL_KEYS"}
    for keys in ({"INTAKE_SEAL_CONTENTS": "no"}, {"INTAKE_SEAL_KEYS": NEW}):
        assert "INTAKE_SEAL_KEYS" in intake({**without, **keys}, "check").out
        assert "INTAKE_SEAL_KEYS" in intake({**without, **keys}, "show", event).err
        with pytest.raises(Unopenable):
            connect(made.database_url, payloads=at_rest.from_environ(keys))


def test_a_process_that_has_no_key_keeps_an_accepted_lead_as_it_is(database_url: str, tmp_path: Path) -> None:
    """It began before the others had the key; it neither delivers a sealed lead nor takes it for an empty one."""
    with lab(database_url, tmp_path) as early:
        with connect(database_url, payloads=at_rest.of_keys([OLD])) as conn:
            event = early.form()
            resealing.reseal(conn, at_rest.of_keys([OLD]), sealing.of_keys([OLD]))
        with pytest.raises(Unopenable):
            early.work()
        assert (early.state(event), early.in_crm("contact")) == ("delivering", [])


def test_after_a_change_of_keys_the_old_one_opens_nothing_that_is_left(made: Lab, environ: Mapping[str, str]) -> None:
    events = everything(made)
    both = {**environ, "INTAKE_SEAL_KEYS": f"{NEW},{OLD}"}
    assert "an older key is in use" in intake(both, "check").out
    said = intake(both, "reseal", "--json")
    assert (said.status, said.document["unopened"]) == (0, 0), said.err
    assert {each[: len(MARK) + at_rest.ID_BYTES] for each in stored(made)} == {at_rest.of_keys([NEW]).heads[0]}
    assert intake(both, "reseal", "--json").document["contents"] == 0
    alone = {**environ, "INTAKE_SEAL_KEYS": NEW}
    assert "Ana Prueba" in intake(alone, "show", events[0], "--data", "--by", "ana").out


def test_what_came_before_there_was_a_key_is_sealed(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path) as plain:
        everything(plain)
        environ = {**beside(plain, tmp_path), "INTAKE_SEAL_KEYS": OLD, "INTAKE_SEAL_CONTENTS": "yes"}
        assert intake(environ, "reseal").status == 0
        assert all(each.startswith(MARK) for each in stored(plain))


def test_who_has_the_keys_and_is_not_told_to_seal_opens_alone(made: Lab, environ: Mapping[str, str]) -> None:
    """As while hosts are upgraded one after another: sealing begins when each of them can open."""
    event = made.form()
    quiet = {**environ, "INTAKE_SEAL_CONTENTS": "no"}
    assert "Ana Prueba" in intake(quiet, "show", event, "--data", "--by", "ana").out
    assert intake(quiet, "reseal").status == 2


def test_a_worker_without_the_key_says_why_it_cannot_begin(made: Lab, environ: Mapping[str, str]) -> None:
    made.form()
    without = {name: value for name, value in environ.items() if not name.startswith("INTAKE_SEAL")}
    with pytest.raises(Unopenable, match="INTAKE_SEAL_KEYS"):
        wiring.desk_of(Process.from_environ(without), made.settings, without)


def test_nothing_is_started_where_the_keys_are_missing(made: Lab) -> None:
    with pytest.raises(ConfigError, match="INTAKE_SEAL_KEYS"):
        must_keep(made.settings, {"INTAKE_SEAL_CONTENTS": "yes", "INTAKE_SEAL_KEYS": ""})


@pytest.mark.parametrize("wrong", [{"INTAKE_SEAL_CONTENTS": "perhaps"}, {"INTAKE_SEAL_KEYS": ""}])
def test_wrong_settings_are_named(environ: Mapping[str, str], wrong: Mapping[str, str]) -> None:
    said = intake({**environ, **wrong}, "reseal")
    assert (said.status, "INTAKE_SEAL_CONTENTS" in said.err) == (2, True)


PART_OF_ONE: Final = {"what was sealed": -1, "which key sealed it": len(MARK), "that it is sealed": 1}


def damaged(made: Lab, event: UUID, *, at: int = -1) -> None:
    """One bit of this lead flips on the disk.  `at`: in which byte, -1: in the last."""
    made.rows(
        """
        UPDATE bodies SET content = set_byte(content, place, get_byte(content, place) # 1)
          FROM (SELECT body_id AS id, CASE WHEN %(at)s < 0 THEN length(content) - 1 ELSE %(at)s END AS place
                  FROM bodies WHERE event_id = %(event)s AND what = 'lead') AS it
         WHERE body_id = id RETURNING body_id
        """,
        event=event,
        at=at,
    )


@pytest.mark.parametrize("at", PART_OF_ONE.values(), ids=list(PART_OF_ONE))
def test_a_damaged_lead_is_a_persons_and_the_others_go_on(made: Lab, environ: Mapping[str, str], at: int) -> None:
    broken, sound = made.form(), made.form(name="Luis Prueba", email="luis@example.com", phone="987654322")
    damaged(made, broken, at=at)
    made.settle(2)
    assert made.state(broken) == "review"
    assert made.state(sound) == "confirmed"
    assert "cannot be read" in intake(environ, "show", broken, "--data", "--by", "ana", "--lang", "en").out


@pytest.mark.parametrize("at", PART_OF_ONE.values(), ids=list(PART_OF_ONE))
def test_a_damaged_lead_hides_nobody_else(made: Lab, environ: Mapping[str, str], at: int) -> None:
    broken, sound = made.form(), made.form(name="Luis Prueba", email="luis@example.com", phone="987654322")
    made.settle(2)
    damaged(made, broken, at=at)
    listed_now = intake(environ, "events").out
    assert "L. P. ···322" in listed_now
    assert str(broken)[:8] in listed_now
    assert "cannot be read" in intake(environ, "show", broken, "--lang", "en").out
    said = intake(environ, "forget", "--email", "luis@example.com", *DECIDED, "--json")
    assert (said.status, "INTAKE_SEAL_KEYS" in said.err) == (1, True)
    (certificate,) = listed(said.document, "certificates")
    assert (certificate["events"], certificate["unopened"]) == (1, 1)
    assert made.rows("SELECT FROM bodies WHERE event_id = %(id)s AND content IS NOT NULL", id=sound) == []


def test_the_pages_tell_of_a_damaged_lead(made: Lab) -> None:
    broken, sound = made.form(), made.form(name="Luis Prueba", email="luis@example.com", phone="987654322")
    made.settle(2)
    damaged(made, broken)
    desk = desk_lab(made.pool, made.settings)
    admin, token = desk.person("admin", language="en"), desk.token("operator", "data", "read")
    assert "L. P. ···322" in admin.page("/console/inbox/all")
    for page in (admin.page(f"/console/events/{broken}"), admin.post(f"/console/events/{broken}/data").text):
        assert "Its content cannot be read" in page
    assert "Its content cannot be read" not in admin.page(f"/console/events/{sound}")
    asked = read_by(desk, f"/api/v1/events/{broken}", token)
    assert asked["content"] == {"revision": 1, "fingerprint": None}
    assert read_by(desk, f"/api/v1/events/{broken}/data", token)["revisions"] == [{"revision": 1, "lead": None}]


def read_by(desk: DeskLab, path: str, token: Mapping[str, str]) -> Json:
    answer = desk.stranger().get(path, headers=dict(token))
    assert answer.status_code == 200, answer.text
    found: Json = answer.get_json()
    return found


def test_what_cannot_be_opened_holds_up_no_change_of_keys(made: Lab, environ: Mapping[str, str]) -> None:
    broken = made.form()
    damaged(made, broken)
    made.form(name="Luis Prueba", email="luis@example.com", phone="987654322")
    said = intake({**environ, "INTAKE_SEAL_KEYS": f"{NEW},{OLD}"}, "reseal", "--json")
    assert (said.status, said.document["unopened"]) == (1, 1)
    assert len([each for each in stored(made) if not each.startswith(NEW_HEAD)]) == 1


def test_a_process_that_goes_on_with_the_old_key_is_told_of(made: Lab, environ: Mapping[str, str]) -> None:
    """Nobody is told that the old key may go while something is sealed with it."""
    everything(made)
    keys = at_rest.of_keys([NEW, OLD])

    def meanwhile(_done: int, _total: int) -> None:
        made.form()

    with connect(made.database_url, payloads=keys) as conn, pytest.raises(resealing.StillUsed):
        resealing.reseal(conn, keys, sealing.of_keys([NEW, OLD]), told=meanwhile)
    assert "an older key is in use" in intake({**environ, "INTAKE_SEAL_KEYS": f"{NEW},{OLD}"}, "check").out


def test_the_doctor_sees_a_process_that_does_not_seal(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path) as plain:
        environ = {**beside(plain, tmp_path), "INTAKE_SEAL_KEYS": OLD, "INTAKE_SEAL_CONTENTS": "yes"}
        plain.form()
        assert "are not sealed with the first key" in intake(environ, "check").out


def test_resealing_waits_for_nobody_while_it_holds_something(made: Lab) -> None:
    """A purge takes rows in an order of its own: who holds one and waits for the next would meet it in a deadlock."""
    everything(made)
    keys = at_rest.of_keys([NEW, OLD])
    with psycopg.connect(made.database_url) as purge, ThreadPoolExecutor(1) as thread:
        (last,) = purge.execute("SELECT body_id FROM bodies ORDER BY body_id DESC LIMIT 1 FOR UPDATE").fetchone() or ()
        with connect(made.database_url, payloads=keys) as conn:
            done = thread.submit(resealing.reseal, conn, keys, sealing.of_keys([NEW, OLD]))
            assert until(lambda: all(each.startswith(NEW_HEAD) for each in stored(made, but=last)))
            purge.execute("SET LOCAL lock_timeout = 1000")
            purge.execute("UPDATE bodies SET content = NULL, purged_at = now()")
            purge.commit()
            assert done.result()["unopened"] == 0
