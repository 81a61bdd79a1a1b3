"""Where the system makes no more threads, whoever needs one goes on, and the next use tries again."""

from __future__ import annotations

import threading
from typing import NoReturn

from intake import background


def no_more(_thread: threading.Thread) -> NoReturn:
    raise RuntimeError("can't start new thread")


def test_where_none_can_be_made_the_next_use_tries_again() -> None:
    ran = threading.Event()
    failed = background.begin(None, ran.set, "any", start=no_more)
    begun = background.begin(failed, ran.set, "any")
    assert (failed, begun is not None, ran.wait(60)) == (None, True, True)


def test_one_that_lives_is_kept() -> None:
    over = threading.Event()
    first = background.begin(None, over.wait, "any")
    assert background.begin(first, over.wait, "any") is first
    over.set()
