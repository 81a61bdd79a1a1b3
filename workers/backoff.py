"""When to try again: exponential with full jitter, capped; and when to look again, after a proof has failed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

FIRST = timedelta(seconds=2)
LONGEST = timedelta(minutes=10)
# What a CRM asks for by Retry-After is obeyed up to this; a longer wish is asked again after it.
LONGEST_OBEYED = timedelta(hours=1)

# A delivery behind another's doubt is woken when the doubt is over; should that be missed, it comes back after this.
BEHIND_DOUBT = timedelta(minutes=1)

# A destination without its sentinel is asked again this often whether a person made one.
NO_CONTROL = timedelta(seconds=30)

# A paused account is asked again this often whether it works.
CONTROL_AGAIN = timedelta(seconds=30)

# A write that came to nothing this often, by waits of up to ten minutes, is a person's: about an hour and a half.
MOST_TRIES = 15

# Where no look can prove absence: soon, then ever more seldom; the last one repeats daily, for about a month.
LOOKS = tuple(timedelta(minutes=minutes) for minutes in (5, 30, 120, 720, 1440))
MOST_LOOKS = 35
AFTER_UNSURE = timedelta(seconds=20)
# The second look of a proof: past the span, not at its edge.
PAST_THE_SPAN = timedelta(milliseconds=50)


def retry(tried: int, asked: timedelta | None, jitter: Callable[[], float]) -> timedelta:
    """The wait before the next try; `asked`: the CRM's wish, `jitter` gives numbers in [0, 1)."""
    if asked is not None:
        return min(asked, LONGEST_OBEYED) + FIRST * jitter()
    ceiling = min(LONGEST, FIRST * (1 << min(tried, 12)))
    return max(timedelta(milliseconds=200), ceiling * jitter())


def look(looks: int) -> timedelta:
    """The wait before the next look, where none can prove absence; `looks` were told something so far."""
    return LOOKS[min(looks, len(LOOKS) - 1)]
