"""A person's data on the ways in that are not the front door, each with what can go wrong there: no byte gets out."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import structlog
from prometheus_client.core import CollectorRegistry
from prometheus_client.exposition import generate_latest
from structlog.testing import capture_logs

from intake import sealing
from intake.app import build
from intake.config import Secret
from intake.desk.metrics import FromDatabase
from intake.refused import Keeper
from intake.sealing import new_key, of_keys
from intake.spool import Spool
from intake.spool_drain import HELD_FOR, Drainer
from tests import unhurried
from tests.acceptance.door_troubles import SHOP, WRONG
from tests.commands import DECIDED, Said, beside, intake
from tests.graph_server import Answer, graph_server
from tests.lab import Lab, lab
from tests.simulation.ads import Ads, ads
from tests.simulation.shop import KEY, ORDERS, PROOF, SECRET, order
from tests.simulation.talk import talk
from tests.simulation.test_canaries import EMAIL, NAME, PERSON, PHONE, RUC, TEXT, WA, Heard, variants
from tests.simulation.test_restore_everything import Host, host
from tests.simulation.watching import AGAIN, watching

__all__ = ["host"]

# What a server far away may say when it fails: it quotes what it was asked, or what it holds.
QUOTING = json.dumps({"error": {"message": f"{NAME} <{EMAIL}> {PHONE}", "code": 100, "type": "zxqvcanary"}}).encode()
BROKEN = b'{"name": "zxqvcanary", "ruc": "20555001770", '

# An error of the database that quotes the row.
FAULT = """
    CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'not %', NEW USING ERRCODE = 'internal_error', DETAIL = NEW::text;
    END $$;
    CREATE TRIGGER fault BEFORE INSERT ON events
        FOR EACH ROW WHEN (NEW.request_id LIKE '%zxqvcanary-odd%') EXECUTE FUNCTION fault();
"""


@contextmanager
def listening(heard: Heard, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Every log line, with the text and the traceback of its exception."""
    with capture_logs(processors=[structlog.processors.format_exc_info]) as logs, caplog.at_level(logging.DEBUG):
        yield
    ours = [record for record in caplog.records if record.name.partition(".")[0] not in {"asyncio", "werkzeug"}]
    heard.add("log", logs)
    heard.add("library log", [logging.Formatter().format(record) for record in ours])


def stored(made: Lab) -> bool:
    """Whether it came in at all, so that there was something to let out."""
    rows = made.rows("SELECT convert_from(content, 'UTF8') AS text FROM bodies WHERE what = 'lead'")
    return any("zxqvcanary" in str(row["text"]).lower() for row in rows)


def told(made: Lab, heard: Heard) -> None:
    """What is said of its state: to people who are alerted, and in the tables that alerts and metrics are made of."""
    with watching_later(made, heard):
        pass
    registry = CollectorRegistry(auto_describe=False)
    with made.pool.connection() as conn:
        registry.register(FromDatabase(conn))
        heard.add("metrics", generate_latest(registry).decode())
    assert "intake_open_items" in heard.said["metrics"]
    for table in ("conditions", "outbox", "refusals", "fetch_lanes", "pulls", "heartbeats", "shown"):
        heard.add(table, made.rows(f"SELECT * FROM {table}"))  # noqa: S608  # our own names
    heard.add("fetches", made.rows("SELECT source, reason, reference FROM fetches"))
    heard.add("history", made.rows("SELECT * FROM delivery_history"))
    heard.add("attempts", made.rows("SELECT outcome, reason, evidence FROM attempts"))
    heard.add("items", made.rows("SELECT reason, fields, evidence FROM items"))


@contextmanager
def watching_later(made: Lab, heard: Heard) -> Iterator[None]:
    with watching(made, quiet=False) as seen:
        seen.round(AGAIN)
        yield
        heard.add("webhook", seen.hook.raw)
        heard.add("e-mail", seen.mail.letters)


def said(heard: Heard, environ: dict[str, str], *words: object) -> Said:
    answer = intake(environ, *words)
    heard.add(f"intake {words[0]}", answer.out + answer.err)
    return answer


# --- the spool, and what was refused ----------------------------------------------------------------------------------


def test_what_is_kept_on_disk_is_sealed_and_drained_without_a_word(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    heard, made = Heard(), host.lab
    with listening(heard, caplog):
        away = host.away()
        away.form(**PERSON)
        away.whatsapp(TEXT, sender=WA, name=NAME)
        away.post("web", BROKEN)
        away.post("web", json.dumps(PERSON).encode(), delivery_id="zxqvcanary-odd")
        heard.add("disk", [each.read_bytes() for each in host.spool.segments()])
        host.spool.limit = 10
        assert away.post("web", json.dumps(PERSON).encode(), delivery_id="zxqvcanary-full").status_code == 503
        with psycopg.connect(made.database_url) as conn:
            conn.execute(FAULT)
        (segment,) = host.spool.segments()
        segment.write_bytes(segment.read_bytes() + b"00000000 zxqvcanary\n")
        blind = Drainer(Spool(host.spool.folder, of_keys([new_key()]), 1), made.settings, made.database_url)
        assert blind.drain()["no_key"] == 4
        drainer = Drainer(host.spool, made.settings, made.database_url, clock=lambda: HELD_FOR * 9)
        assert drainer.drain() == {"accepted": 3, "torn": 1, "failed": 1}
        made.work()
        told(made, heard)
        heard.add("names", [each.name for each in host.spool.folder.iterdir()])
    assert stored(made)
    assert heard.found() == set()


def test_what_was_refused_is_sealed_and_verified_again_without_a_word(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard()
    with lab(database_url, tmp_path) as made, listening(heard, caplog):
        environ = dict(beside(made, tmp_path))
        keeper = Keeper(database_url, sealing.from_environ(environ), new_id=uuid4)
        source = replace(made.settings.sources["web"], secrets=(Secret("env:X", WRONG),))
        settings = replace(made.settings, sources={**made.settings.sources, "web": source})
        door = unhurried.door(settings, made.pool, on_refused=keeper.keep)
        misled = replace(made, door=build(door, hint=lambda: None).test_client())
        for number, key in enumerate(("zxqvcanary-1", "zxqvcanary-odd")):
            body = json.dumps(variants(number + 2)).encode()
            assert misled.post("web", body, delivery_id=key).status_code == 401
        keeper.flush(10)
        heard.add("kept", made.rows("SELECT content FROM bodies WHERE what = 'sealed'"))
        with psycopg.connect(database_url) as conn:
            conn.execute(FAULT)
        assert said(heard, environ, "recheck", "web").status == 1
        made.work()
        told(made, heard)
        assert stored(made)
    assert heard.found() == set()


# --- what is fetched, pulled and imported -----------------------------------------------------------------------------


def fetch_all(meta: Ads) -> None:
    """A lead that is read, and each way in which it is not."""
    answers = {"full_name": NAME, "email": EMAIL, "phone_number": f"+51{PHONE}", "zxqvcanary?": TEXT}
    meta.lead("1001", **answers)
    meta.lab.work()
    for number, fault in enumerate((Answer(400, QUOTING), Answer(500, QUOTING), Answer(200, b"zxqvcanary"),
                                    Answer(302, QUOTING, {"Location": "http://zxqvcanary.example.com/"}))):  # fmt: skip
        meta.graph.instead.append(fault)
        meta.lead(f"200{number}", **answers)
        meta.lab.work()
    meta.graph.refused["/3001"] = {"message": f"{NAME} {EMAIL}", "type": "OAuthException", "code": 200}
    meta.lead("3001", **answers)
    meta.lab.settle(2)


def test_a_lead_that_is_fetched_and_one_that_is_not_say_nothing(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard()
    with ads(database_url, tmp_path) as meta, listening(heard, caplog):
        fetch_all(meta)
        told(meta.lab, heard)
        heard.add("addresses", [(each.path, each.query) for each in meta.graph.asked])
        assert stored(meta.lab)
    assert heard.found() == set()


def test_a_file_of_a_message_says_nothing(database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    heard = Heard()
    with talk(database_url, tmp_path) as made, listening(heard, caplog):
        made.add_file("9001", b"zxqvcanary" * 100)
        made.voice("9001", "wamid.v1")
        made.add_file("9002", at="http://zxqvcanary.example.com/9002")
        made.voice("9002", "wamid.v2")
        made.graph.instead.append(Answer(500, QUOTING))
        made.voice("9003", "wamid.v3")
        made.lab.settle(2)
        told(made.lab, heard)
        heard.add("kept", made.lab.rows("SELECT content FROM bodies WHERE what = 'media'"))
    assert heard.found() == set()


def test_what_is_pulled_says_nothing_whatever_the_shop_answers(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard()
    with graph_server() as api, lab(database_url, tmp_path) as made, listening(heard, caplog):
        api.tokens = {PROOF}
        api.objects[ORDERS] = lambda asked: [sold()] if asked.query["page"] == ["1"] else []
        file = tmp_path / "intake.toml"
        file.write_text(file.read_text("utf-8") + SHOP.format(url=api.url), "utf-8")
        environ = {**beside(made, tmp_path), "SHOP": "shop-secret", "CK": KEY, "CS": SECRET}
        assert said(heard, environ, "pull", "shop", "--since", "24h").status == 0
        for fault in (Answer(401, QUOTING), Answer(500, QUOTING), Answer(200, QUOTING), Answer(200, b"[zxqvcanary")):
            api.instead.append(fault)
            assert said(heard, environ, "pull", "shop", "--since", "24h").status == 1
        told(made, heard)
        heard.add("addresses", [(each.path, each.query) for each in api.asked])
        assert stored(made)
    assert heard.found() == set()


def sold() -> dict[str, object]:
    """An order of the person."""
    just_now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    billing = {"first_name": NAME, "email": EMAIL, "phone": PHONE, "company": TEXT, "country": "PE"}
    return order(1, changed=just_now) | {"billing": billing, "customer_note": TEXT, "number": "zxqvcanary"}


TABLES = (
    f"id,name,email,phone\nzxqvcanary-1,{NAME},{EMAIL},{PHONE}\nzxqvcanary-odd,{NAME},x{EMAIL},{PHONE}\n",
    f"{NAME}\n{EMAIL},{PHONE}\n",
    f'id,name\n1,"{NAME}\n',
    f"{NAME},{NAME}\n1,2\n",
    "\x00" + NAME,
)


def test_a_table_that_is_imported_and_one_that_is_not_say_nothing(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard()
    with lab(database_url, tmp_path) as made, listening(heard, caplog):
        with psycopg.connect(database_url) as conn:
            conn.execute(FAULT)
        environ = dict(beside(made, tmp_path))
        for number, table in enumerate(TABLES):
            file = tmp_path / f"table{number}.csv"
            file.write_text(table, "utf-8")
            said(heard, environ, "import", file, "web", "--id", "id")
            said(heard, environ, "import", file, "web")
        made.settle(1)
        told(made, heard)
        assert stored(made)
    assert heard.found() == set()


# --- what a person looks at and decides -------------------------------------------------------------------------------


def test_what_nobody_could_read_is_read_again_without_a_word(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard()
    with lab(database_url, tmp_path) as made, listening(heard, caplog):
        environ = dict(beside(made, tmp_path))
        made.post("web", BROKEN, delivery_id="zxqvcanary-9")
        (item,) = made.rows("SELECT item_id FROM items")
        for number, body in enumerate((BROKEN, b"\xff zxqvcanary", b'"zxqvcanary"', BROKEN + b'"email": "' + b"}")):
            file = tmp_path / f"mended{number}.json"
            file.write_bytes(body)
            said(heard, environ, "resolve", item["item_id"], "release", "--body", file, *DECIDED)
        said(heard, environ, "reread")
        said(heard, environ, "item", item["item_id"])
        file = tmp_path / "mended.json"
        file.write_bytes(json.dumps(PERSON).encode())
        assert said(heard, environ, "resolve", item["item_id"], "release", "--body", file, *DECIDED).status == 0
        made.work()
        told(made, heard)
        assert stored(made)
    assert heard.found() == set()


# What a person types wrong while somebody's data is on the desk; each is refused, and quotes none of it.
TYPED = (
    ("correct", "EVENT", f"ruc={RUC}9"),
    ("correct", "EVENT", f"email={EMAIL}@"),
    ("settle", "EVENT", "contact", "--crm-id", "no-one"),
    ("settle", "EVENT", "not-applied"),
    ("approve", "EVENT"),
    ("redeliver", "EVENT"),
    ("spam", "EVENT"),
)
LOOKED = (("events",), ("items",), ("show", "EVENT"), ("explain", "EVENT"), ("show", "EVENT", "--json"), ("sources",),
          ("check",), ("crm", "check"), ("reconcile", "--verify"), ("alerts", "--json"))  # fmt: skip


def test_commands_show_no_person_unless_they_are_asked_to(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard()
    with lab(database_url, tmp_path) as made, listening(heard, caplog):
        environ = dict(beside(made, tmp_path))
        made.dials.fault("422", match={"what": "create", "kind": "contact"}, fields={"email": f"{EMAIL}: {NAME}"})
        event = str(made.form(**PERSON))
        made.work()
        for words in (*LOOKED, *((*each, *DECIDED) for each in TYPED)):
            said(heard, environ, *(event if word == "EVENT" else word for word in words))
        made.pass_time(timedelta(minutes=1))
        told(made, heard)
        assert stored(made)
    assert heard.found() == set()
