"""A person is recognised by keyed hashes however a number is written, and leaves the kept segments of a spool."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from intake import contacts, phones
from intake.forgetting import ledger, spooled
from intake.forgetting.person import Person
from intake.forgetting.spooled import Wanted
from intake.identity import IdentityKey
from intake.kept import Kept, pack
from intake.lead import Contact
from intake.reading import Post
from intake.sealing import new_key, of_keys
from intake.spool import Spool, lines

KEY = IdentityKey(b"k" * 32)
ANA = Contact(phone=phones.read("987654321", "PE"), email="ana@example.com")
PERSON = Person(frozenset(each.key for each in contacts.keys_of(ANA, "live", KEY)), KEY, "PE")
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        '{"phone": "987654321"}',
        "Llámame al +51 987-654-321 por favor",
        "tel=%2B51987654321&x=1",
        '{"from":"51987654321"}',
        "051987654321",
        "correo=Ana%40Example.com",
        '{"email":"ana\\u0040example.com"}',
        "Ana <ANA@example.com>.",
    ],
)
def test_a_person_is_found_however_it_is_written(text: str) -> None:
    assert PERSON.is_named_in(text)


@pytest.mark.parametrize(
    "text", ["", "987654320", '{"timestamp":"1790000000"}', "anas@example.com", "@", "x" * 100_000]
)
def test_others_are_not_taken_for_them(text: str) -> None:
    assert not PERSON.is_named_in(text)


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
    spool = spool_with(tmp_path, "987654321", "912345678", "+51 987 654 321")
    segment = drained(spool)
    assert spooled.erase(spool, Wanted(PERSON, NOW)) == 2
    assert [line.sealed is not None for line in lines(segment, 0)] == [True]


def test_what_came_to_the_spool_later_stays(tmp_path: Path) -> None:
    spool = spool_with(tmp_path, "987654321")
    drained(spool)
    assert spooled.erase(spool, Wanted(PERSON, NOW - timedelta(seconds=1))) == 0


def test_what_is_not_drained_is_counted(tmp_path: Path) -> None:
    assert spooled.waiting(spool_with(tmp_path, "987654321", "912345678"), Wanted(PERSON, NOW)) == 1


def test_a_list_that_was_spoiled_is_not_read_in_part(tmp_path: Path) -> None:
    (tmp_path / ledger.FILE).write_text("{}\n")
    with pytest.raises(ledger.Unreadable, match="line 1"):
        ledger.of_file(tmp_path / ledger.FILE)
