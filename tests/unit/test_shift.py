"""The threads of one drain: none leaves while another works, and no more come than there is work for."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from workers.shift import Shift

PATIENCE = 60.0  # seconds, for a slow machine


class Work:
    """Pieces of work, each a function; `at_once` is the most that were under way together.

    `in_vain` is released by each look that found nothing; `lookers` are the threads that looked.
    """

    def __init__(self, *pieces: Callable[[], None]) -> None:
        self.due: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.under_way = self.at_once = 0
        self.in_vain = threading.Semaphore(0)
        self.lookers: set[int] = set()
        for each in pieces:
            self.due.put(each)

    def run(self, threads: int, pool: ThreadPoolExecutor | None = None) -> int:
        with pool or ThreadPoolExecutor(threads) as theirs:
            shift = Shift(theirs, threads, lambda _at_all: self.look(shift), self.stop.is_set, time.monotonic)
            return shift.run()

    def look(self, shift: Shift) -> bool:
        self.lookers.add(threading.get_ident())
        try:
            piece = self.due.get_nowait()
        except queue.Empty:
            self.in_vain.release()
            return False
        shift.more()
        with self.lock:
            self.under_way += 1
            self.at_once = max(self.at_once, self.under_way)
        piece()
        with self.lock:
            self.under_way -= 1
        return True


def wait(event: threading.Event) -> None:
    assert event.wait(PATIENCE)


def _at(barrier: threading.Barrier) -> None:
    """A piece that is done when so many are under way."""
    barrier.wait()


def test_where_nothing_is_due_all_leave() -> None:
    assert Work().run(threads=4) == 0


def test_every_piece_is_done_once() -> None:
    done: list[int] = []
    pieces = [lambda number=number: done.append(number) for number in range(50)]
    assert (Work(*pieces).run(threads=4), sorted(done)) == (50, list(range(50)))


def test_what_arrives_while_another_works_is_not_left_to_that_one() -> None:
    begun, arrived = threading.Event(), threading.Event()

    def lasts_until_the_other_is_done() -> None:
        begun.set()
        wait(arrived)

    def arrives() -> None:
        wait(begun)
        for _ in range(3):  # whoever found nothing has looked again, and again found nothing
            assert work.in_vain.acquire(timeout=PATIENCE)
        work.due.put(arrived.set)

    work = Work(lasts_until_the_other_is_done)
    sender = threading.Thread(target=arrives)
    sender.start()
    assert work.run(threads=2) == 2
    sender.join()


def test_as_many_work_as_there_are_pieces() -> None:
    all_here = threading.Barrier(5, timeout=PATIENCE)
    work = Work(*[lambda: _at(all_here)] * 5)
    assert (work.run(threads=8), work.at_once) == (5, 5)


def test_no_more_work_than_there_are_threads() -> None:
    three = threading.Barrier(3, timeout=PATIENCE)
    work = Work(*[lambda: _at(three)] * 21)
    assert work.run(threads=3, pool=ThreadPoolExecutor(9)) == 21
    assert (work.at_once, len(work.lookers)) == (3, 3)


class Full(ThreadPoolExecutor):
    """A pool on a host that has room for so many threads, and refuses the next as Python does."""

    def __init__(self, room: int) -> None:
        super().__init__(room + 9)
        self.room = room

    def _adjust_thread_count(self) -> None:
        if len(self._threads) >= self.room:
            raise RuntimeError("can't start new thread")
        super()._adjust_thread_count()


@pytest.mark.parametrize("room", [1, 2])
def test_where_no_more_threads_can_be_started_those_who_are_here_do_it_all(room: int) -> None:
    everybody = threading.Barrier(room, timeout=PATIENCE)
    work = Work(*[lambda: _at(everybody)] * 8)
    overdue = threading.Timer(PATIENCE, work.stop.set)
    overdue.start()
    assert (work.run(threads=8, pool=Full(room)), work.stop.is_set()) == (8, False)
    overdue.cancel()


def test_where_no_thread_can_be_started_that_is_told() -> None:
    with pytest.raises(RuntimeError, match="can't start"):
        Work(lambda: None).run(threads=8, pool=Full(0))


def test_after_a_stop_nothing_is_begun() -> None:
    work = Work()
    work.due.put(work.stop.set)
    work.due.put(lambda: None)
    assert (work.run(threads=1), work.due.qsize()) == (1, 1)


def test_what_one_raises_is_told() -> None:
    with pytest.raises(pytest.fail.Exception):
        Work(lambda: pytest.fail("a bug")).run(threads=2)
