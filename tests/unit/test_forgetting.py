"""People are recognised by keyed hashes however a number is written, and leave the kept segments of a spool."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from intake import contacts, phones
from intake.forgetting import ledger, spooled
from intake.forgetting.ledger import Forgetting
from intake.forgetting.people import People, people_of
from intake.identity import IdentityKey
from intake.kept import Kept, pack
from intake.lead import Contact
from intake.reading import Post
from intake.sealing import new_key, of_keys
from intake.spool import Spool, lines

KEY = IdentityKey(b"k" * 32)
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ANA = Contact(phone=phones.read("987654321", "PE"), email="ana@example.com")
LUIS = Contact(phone=phones.read("912345678", "PE"))


def people(*everybody: Contact, until: datetime = NOW) -> People:
    keys = [tuple(contacts.digests_of(each, KEY)) for each in everybody]
    return people_of([Forgetting(uuid4(), until, "rosa", "asked to be", each) for each in keys], KEY, "PE")


BOTH = people(LUIS, ANA)


@pytest.mark.parametrize(
    "text",
    [
        '{"phone": "987654321"}',
        "Llámame al +51 987-654-321 por favor",
        "tel=%2B51987654321&x=1",
        "tel=987+654+321",
        '{"from":"51987654321"}',
        '{"from":"+51987654321"}',
        "051987654321",
        "correo=Ana%40Example.com",
        '{"email":"ana\\u0040example.com"}',
        "Ana <ANA@example.com>.",
    ],
)
def test_a_person_is_found_however_it_is_written(text: str) -> None:
    assert BOTH.named_in(text, NOW) == {1}


@pytest.mark.parametrize(
    "text", ["", "987654320", '{"timestamp":"1790000000"}', "anas@example.com", "@", "x" * 100_000]
)
def test_others_are_not_taken_for_them(text: str) -> None:
    assert BOTH.named_in(text, NOW) == set()


def test_several_are_found_in_one_text() -> None:
    assert BOTH.named_in("ana@example.com, 912 345 678", NOW) == {0, 1}


def test_who_is_on_the_list_twice_is_found_twice() -> None:
    assert people(ANA, LUIS, ANA).with_contact(ANA, NOW) == {0, 2}


def test_nobody_is_found_in_what_came_after_their_time() -> None:
    assert BOTH.named_in("987654321", NOW + timedelta(seconds=1)) == set()


# --- the spool ------------------------------------------------------------------------------------------------------


def spool_with(folder: Path, *phone_numbers: str) -> Spool:
    spool = Spool(folder, of_keys([new_key()]), 1 << 20)
    for each in phone_numbers:
        post = Post("web", "live", "application/json", {}, json.dumps({"phone": each}).encode(), url="")
        spool.append(pack(Kept(uuid4(), NOW, post)))
    return spool


def drained(spool: Spool) -> Path:
    (segment,) = spool.segments()
    assert spool.retire(segment, segment.stat().st_size, epoch=1)
    (kept,) = spool.drained()
    return kept


def test_kept_segments_lose_their_lines_and_no_others(tmp_path: Path) -> None:
    spool = spool_with(tmp_path, "987654321", "912345679", "+51 987 654 321")
    segment = drained(spool)
    assert spooled.erase(spool, people(ANA), {0}) == {0: 2}
    assert [line.sealed is not None for line in lines(segment, 0)] == [True]


def test_who_is_not_to_be_erased_now_keeps_their_lines(tmp_path: Path) -> None:
    spool = spool_with(tmp_path, "987654321", "912345678")
    segment = drained(spool)
    assert spooled.erase(spool, BOTH, {1}) == {1: 1}
    assert len(list(lines(segment, 0))) == 1


def test_what_came_to_the_spool_later_stays(tmp_path: Path) -> None:
    spool = spool_with(tmp_path, "987654321")
    drained(spool)
    assert spooled.erase(spool, people(ANA, until=NOW - timedelta(seconds=1)), {0}) == {}


def test_what_is_not_drained_is_counted_for_each(tmp_path: Path) -> None:
    spool = spool_with(tmp_path, "987654321", "912345678", "987654321", "912345679")
    assert spooled.waiting(spool, BOTH) == {0: 1, 1: 2}


def test_a_list_that_was_spoiled_is_not_read_in_part(tmp_path: Path) -> None:
    (tmp_path / ledger.FILE).write_text("{}\n")
    with pytest.raises(ledger.Unreadable, match="line 1"):
        ledger.of_file(tmp_path / ledger.FILE)
