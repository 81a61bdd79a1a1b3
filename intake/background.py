"""A thread beside the requests, begun with its first use: after a fork the child has none of its parent's threads."""

from __future__ import annotations

import threading
from collections.abc import Callable


def begin(
    thread: threading.Thread | None,
    run: Callable[[], object],
    name: str,
    start: Callable[[threading.Thread], object] | None = None,
) -> threading.Thread | None:
    """The one that lives, or a new one.  None: the system makes none just now, and the next use tries again."""
    if thread is not None and thread.is_alive():
        return thread
    begun = threading.Thread(target=run, name=name, daemon=True)
    try:
        (start or threading.Thread.start)(begun)
    except RuntimeError:
        return None
    return begun
