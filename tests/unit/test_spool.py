"""The files of the spool: what is kept is on disk, bounded, sealed, and survives a crash in the middle of a line."""

from __future__ import annotations

import fcntl
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from intake.sealing import new_key, of_keys
from intake.spool import Full, Spool, lines

MEGABYTE = 1024 * 1024


def spool(folder: Path, limit: int = 16 * MEGABYTE) -> Spool:
    return Spool(folder, of_keys([new_key()]), limit)


def contents(made: Spool) -> list[bytes | None]:
    """What stands in it, torn lines as None."""
    found = [line.sealed for segment in made.segments() for line in lines(segment, 0)]
    return [None if sealed is None else made.seal.open(sealed) for sealed in found]


def test_what_is_kept_is_there_in_order_and_cannot_be_read(tmp_path: Path) -> None:
    made = spool(tmp_path)
    for i in range(5):
        made.append(b"canario\n%d" % i)
    assert contents(made) == [b"canario\n%d" % i for i in range(5)]
    (segment,) = made.segments()
    assert b"canario" not in segment.read_bytes()
    assert segment.stat().st_mode & 0o777 == 0o600


def test_threads_at_once_keep_each_its_own(tmp_path: Path) -> None:
    made = spool(tmp_path)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda i: made.append(b"%d" % i), range(200)))
    assert sorted(int(each or b"-1") for each in contents(made)) == list(range(200))


def test_two_processes_write_two_segments(tmp_path: Path) -> None:
    seal = of_keys([new_key()])
    one, two = Spool(tmp_path, seal, MEGABYTE), Spool(tmp_path, seal, MEGABYTE)
    one.append(b"1")
    two.append(b"2")
    assert len(one.segments()) == 2
    assert contents(one) == [b"1", b"2"]


def test_a_line_without_its_end_is_none_and_spoils_no_other(tmp_path: Path) -> None:
    dying = spool(tmp_path)
    dying.append(b"whole")
    (segment,) = dying.segments()
    with segment.open("ab") as file:
        file.write(segment.read_bytes()[:40])
    made = Spool(tmp_path, dying.seal, MEGABYTE)
    made.append(b"after")
    assert contents(made) == [b"whole", b"after"]


@pytest.mark.parametrize("garbage", [b"\x00" * 4096 + b"\n", b"nonsense\n", b"\n", b"00000000 x\n"])
def test_a_line_whose_checksum_is_wrong_is_known_as_torn(tmp_path: Path, garbage: bytes) -> None:
    made = spool(tmp_path)
    made.append(b"before")
    (segment,) = made.segments()
    with segment.open("ab") as file:
        file.write(garbage)
    made.append(b"after")
    assert contents(made) == [b"before", None, b"after"]


def test_a_full_spool_keeps_nothing_more_and_nothing_less(tmp_path: Path) -> None:
    made = spool(tmp_path, limit=MEGABYTE)
    for _ in range(7):  # a third longer when sealed
        made.append(b"x" * 100_000)
    with pytest.raises(Full):
        made.append(b"x" * 100_000)
    assert len(contents(made)) == 7
    made.append(b"small")


def test_a_drained_segment_is_put_aside_and_the_next_line_begins_another(tmp_path: Path) -> None:
    made = spool(tmp_path)
    made.append(b"first")
    (segment,) = made.segments()
    assert made.retire(segment, segment.stat().st_size, epoch=3)
    made.append(b"second")
    assert contents(made) == [b"second"]
    assert [path.name for path in made.drained()] == [f"drained-3-{segment.name}"]
    assert made.stock().drained_bytes > 0


def test_a_segment_to_which_more_was_written_is_not_put_aside(tmp_path: Path) -> None:
    made = spool(tmp_path)
    made.append(b"first")
    (segment,) = made.segments()
    end = segment.stat().st_size
    made.append(b"second")
    assert not made.retire(segment, end, epoch=1)


def test_a_segment_that_is_being_written_is_not_put_aside(tmp_path: Path) -> None:
    made = spool(tmp_path)
    made.append(b"first")
    (segment,) = made.segments()
    with segment.open("ab") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        assert not made.retire(segment, segment.stat().st_size, epoch=1)


def test_a_torn_end_holds_no_segment_up(tmp_path: Path) -> None:
    made = spool(tmp_path)
    made.append(b"first")
    (segment,) = made.segments()
    end = segment.stat().st_size
    with segment.open("ab") as file:
        file.write(b"torn")
    assert made.retire(segment, end, epoch=1)


def test_a_paused_drainer_holds_nobody_up(tmp_path: Path) -> None:
    made = spool(tmp_path)
    made.append(b"first")
    (segment,) = made.segments()
    with segment.open("rb") as paused:
        fcntl.flock(paused, fcntl.LOCK_EX)
        made.append(b"second")
    assert contents(made) == [b"first", b"second"]


def test_a_drained_segment_can_wait_again(tmp_path: Path) -> None:
    made = spool(tmp_path)
    made.append(b"first")
    (segment,) = made.segments()
    made.retire(segment, segment.stat().st_size, epoch=12)
    made.again(made.drained()[0])
    assert made.segments() == [segment]


@pytest.mark.parametrize("gone", [True, False])
def test_a_segment_that_cannot_be_written_to_any_more_is_left(tmp_path: Path, gone: bool) -> None:
    made = spool(tmp_path)
    made.append(b"first")
    (segment,) = made.segments()
    segment.rename(tmp_path / "elsewhere")
    if not gone:
        segment.mkdir()
    made.append(b"second")
    assert len([each for each in made.segments() if each.is_file()]) == 1
