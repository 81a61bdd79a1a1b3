"""What was refused is kept sealed, bounded, for a week, and is accepted once when the secret is right."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from flask.testing import FlaskClient

from intake import recheck, refused
from intake.app import build
from intake.config import Secret, Settings
from intake.kept import Kept
from intake.reading import Post
from intake.recheck import Rechecked
from intake.refused import Keeper
from intake.sealing import Seal, new_key, of_keys
from intake.sources import find
from tests import unhurried
from tests.commands import intake
from tests.doorway import ANSWERS, ENVIRON, Doorway, as_json, doorway, path_of, signed

RIGHT, WRONG = "whsec_cmlnaHQtcmlnaHQtcmlnaHQtcmlnaHQ=", "whsec_d3Jvbmctd3Jvbmctd3Jvbmctd3Jvbmc="

KEY = new_key()


def with_secret(settings: Settings, secret: str, source: str = "web") -> Settings:
    """The settings of a host that holds this secret."""
    changed = replace(settings.sources[source], secrets=(Secret("env:X", secret),))
    return replace(settings, sources={**settings.sources, source: changed})


@dataclass(frozen=True, slots=True)
class Misled:
    """A door with the wrong secret, whose sender has the right one."""

    door: Doorway
    keeper: Keeper
    client: FlaskClient

    @property
    def mended(self) -> Settings:
        return with_secret(self.door.settings, RIGHT)

    def post(self, *, delivery_id: str, mode: str = "live", **answers: str) -> int:
        body = as_json(ANSWERS | answers)
        headers = signed(self.mended, "web", body, delivery_id=delivery_id, mode=mode)
        return self.client.post(path_of("web", mode), data=body, headers=headers).status_code

    def kept(self) -> int:
        self.keeper.flush(10)
        return len(self.door.rows("SELECT FROM receipts JOIN bodies USING (receipt_id) WHERE verdict = 'refused'"))

    def recheck(self, settings: Settings | None = None, seal: Seal | None = None) -> Rechecked:
        used = settings or self.mended
        with psycopg.connect(self.door.database_url, autocommit=True) as conn:
            return recheck.recheck(
                conn, used, seal or self.keeper.seal, used.sources["web"], progress=lambda _done, _of: None
            )


@pytest.fixture
def misled(database_url: str, tmp_path: Path) -> Iterator[Misled]:
    with doorway(database_url, tmp_path) as door:
        keeper = Keeper(database_url, of_keys([KEY]), new_id=uuid4)
        settings = with_secret(door.settings, WRONG)
        made = unhurried.door(settings, door.pool, on_refused=keeper.keep)
        yield Misled(door, keeper, build(made, hint=lambda: None).test_client())


def age(misled: Misled, span: timedelta) -> None:
    with psycopg.connect(misled.door.database_url) as conn:
        conn.execute("UPDATE receipts SET received_at = received_at - %s", [span])


def test_what_a_wrong_secret_refused_is_accepted_when_the_secret_is_right(misled: Misled) -> None:
    assert [misled.post(delivery_id=f"msg_{i}") for i in range(3)] == [401] * 3
    assert misled.kept() == 3
    assert misled.recheck() == Rechecked(accepted=3, events=3)
    assert misled.kept() == 0
    assert misled.door.count("deliveries") == 3


def test_it_keeps_its_mode_source_and_time(misled: Misled) -> None:
    before = datetime.now(UTC)
    misled.post(delivery_id="msg", mode="test")
    after = datetime.now(UTC)
    misled.kept()
    misled.recheck()
    (event,) = misled.door.rows("SELECT mode, source, received_at FROM events")
    (delivery,) = misled.door.rows("SELECT destination FROM deliveries")
    assert (event["mode"], event["source"], delivery["destination"]) == ("test", "web", "playground")
    assert isinstance(event["received_at"], datetime)
    assert before <= event["received_at"] <= after


def test_it_is_verified_as_of_the_time_when_it_came(misled: Misled) -> None:
    # The scheme allows five minutes; the door's clock was an hour ago, as the signature's was.
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    source = misled.mended.sources["web"]
    body = as_json(ANSWERS)
    headers = find("standard_webhooks").sign(
        body, secret=source.secret_values[0], url="http://127.0.0.1:8080/hooks/web", now=hour_ago, delivery_id="msg"
    )
    lower = {name.lower(): value for name, value in headers.items()}
    post = Post("web", "live", "application/json", lower, body, "http://127.0.0.1:8080/hooks/web")
    misled.keeper.keep(post, hour_ago)
    misled.kept()
    assert misled.recheck().accepted == 1


def test_two_rechecks_at_once_accept_each_once(misled: Misled) -> None:
    for i in range(20):
        misled.post(delivery_id=f"msg_{i}")
    misled.kept()
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: misled.recheck(), range(2)))
    assert sum(each.accepted for each in found) == 20
    assert sum(each.events for each in found) == misled.door.count("events") == 20


def test_a_retry_that_got_through_makes_it_a_duplicate(misled: Misled) -> None:
    misled.post(delivery_id="msg")
    misled.kept()
    body = as_json(ANSWERS)
    good = unhurried.door(misled.mended, misled.door.pool)
    headers = signed(misled.mended, "web", body, delivery_id="msg")
    assert (
        build(good, hint=lambda: None).test_client().post("/hooks/web", data=body, headers=headers).status_code == 200
    )
    assert misled.recheck() == Rechecked(accepted=1, duplicates=1)
    assert misled.door.count("deliveries") == 1


def test_what_is_still_not_authentic_stays_for_a_week(misled: Misled) -> None:
    misled.post(delivery_id="msg")
    misled.kept()
    assert misled.recheck(with_secret(misled.door.settings, WRONG)) == Rechecked(refused=1)
    age(misled, timedelta(days=6, hours=23))
    assert misled.recheck(with_secret(misled.door.settings, WRONG)) == Rechecked(refused=1)
    age(misled, timedelta(hours=2))
    assert misled.recheck() == Rechecked(purged=1)
    assert (misled.door.count("bodies"), misled.door.count("receipts")) == (0, 0)


def test_what_another_key_sealed_stays(misled: Misled) -> None:
    misled.post(delivery_id="msg")
    misled.kept()
    assert misled.recheck(seal=of_keys([new_key()])) == Rechecked(unopened=1)
    assert misled.recheck().accepted == 1


def test_the_database_holds_nothing_that_can_be_read(misled: Misled) -> None:
    misled.post(delivery_id="canario7f3a", message="canario7f3a")
    misled.kept()
    (row,) = misled.door.rows("SELECT r::text AS receipt, b.content FROM receipts r JOIN bodies b USING (receipt_id)")
    assert "canario7f3a" not in str(row["receipt"])
    assert isinstance(row["content"], bytes)
    assert b"canario7f3a" not in row["content"]


def kept(number: int, source: str = "web", body: bytes = b"{}") -> Kept:
    at = datetime(2026, 11, 29, 12, tzinfo=UTC) + timedelta(minutes=number)
    return Kept(uuid4(), at, Post(source, "live", "", {}, body, ""))


def test_the_oldest_of_a_source_go_and_no_other_s(misled: Misled) -> None:
    seal = misled.keeper.seal
    with psycopg.connect(misled.door.database_url, autocommit=True) as conn:
        refused.store(conn, seal, [kept(0, "generic"), *(kept(i) for i in range(10))], most=4)
    left = misled.door.rows("SELECT source, received_at FROM receipts ORDER BY received_at")
    assert [each["source"] for each in left] == ["generic", "web", "web", "web", "web"]
    assert left[1]["received_at"] == kept(6).at


def test_bytes_are_bounded_too(misled: Misled) -> None:
    with psycopg.connect(misled.door.database_url, autocommit=True) as conn:
        refused.store(conn, misled.keeper.seal, [kept(i, body=b"x" * 10_000) for i in range(10)], most_bytes=50_000)
    assert misled.door.count("bodies") == 3  # each a third longer when sealed


def test_a_database_that_is_away_delays_no_refusal() -> None:
    keeper = Keeper("host=/nowhere", of_keys([new_key()]), new_id=uuid4)
    post = Post("web", "live", "", {}, b"x" * 1_000_000, "")
    begin = time.monotonic()
    taken = [keeper.keep(post, datetime.now(UTC)) for _ in range(1000)]
    keeper.stop()
    assert time.monotonic() - begin < 1.0
    assert 10 < sum(taken) < 20  # as many as there is room for


def test_the_command_says_how_many(misled: Misled, tmp_path: Path) -> None:
    for i in range(2):
        misled.post(delivery_id=f"msg_{i}")
    misled.kept()
    home = {"INTAKE_CONFIG": str(tmp_path / "intake.toml"), "INTAKE_HOME": str(tmp_path / "home"), **ENVIRON}
    environ = {**home, "DATABASE_URL": misled.door.database_url, "STANDARD": RIGHT}
    another_key = intake(environ, "recheck", "web", "--json")
    assert (another_key.status, another_key.document["unopened"]) == (1, 2)
    sealed = {"INTAKE_SEAL_KEYS": KEY}
    done = intake(environ | sealed, "recheck", "web", "--json")
    assert (done.status, done.document["accepted"], done.document["refused"]) == (0, 2, 0)
    assert intake(environ | sealed, "recheck", "nobody").status == 2
    assert "nothing to do" in intake(environ | sealed, "recheck", "web").out
