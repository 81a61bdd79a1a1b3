"""When a task is due: plain time, or time in which somebody is at work.

    "30 minutes", "1 day"                  plain: the clock runs day and night
    "2 business hours", "1 business day"   the clock runs only while the business is open

The libraries for this (businesstimedelta, businesstime) rest on pytz or on one time zone, and have no word for a day;
so these few lines are ours.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain, pairwise
from typing import Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")  # in the order of `date.weekday`
END_OF_DAY: Final = "24:00"
LONGEST_DAYS: Final = 365  # A task that is due later than this is a slip of the pen.

DURATION: Final = re.compile(r"([1-9][0-9]{0,5}) +(business +)?(minute|hour|day)s?", re.ASCII)
CLOCK: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)

Unit = Literal["minute", "hour", "day"]
_UNITS: Final[dict[str, tuple[Unit, timedelta]]] = {
    "minute": ("minute", timedelta(minutes=1)),
    "hour": ("hour", timedelta(hours=1)),
    "day": ("day", timedelta(days=1)),
}


@dataclass(frozen=True, slots=True)
class Opening:
    """One stretch of open time on one weekday.  `closes` None: at the end of that day."""

    weekday: int  # 0 is Monday
    opens: time
    closes: time | None

    def overlaps(self, other: Opening) -> bool:
        """Whether both are open at one moment."""
        if self.weekday != other.weekday:
            return False
        return self.opens < (other.closes or time.max) and other.opens < (self.closes or time.max)


@dataclass(frozen=True, slots=True)
class BusinessHours:
    """When somebody is at work: at least one opening, sorted, none overlapping another."""

    openings: tuple[Opening, ...]

    @classmethod
    def parse(cls, text: str) -> BusinessHours:
        """Read e.g. "mon-fri 09:00-13:00 14:00-18:00, sat 09:00-13:00".  Raises ValueError with the rule in words."""
        found = [opening for part in text.lower().split(",") for opening in _openings(part)]
        found.sort(key=lambda opening: (opening.weekday, opening.opens))
        if any(one.overlaps(other) for one, other in pairwise(found)):
            raise ValueError("two opening times of one day overlap")
        return cls(tuple(found))


@dataclass(frozen=True, slots=True)
class BusinessDuration:
    """How long after an event; `business` True: only open time counts."""

    amount: int
    unit: Unit
    business: bool

    @classmethod
    def parse(cls, text: str) -> BusinessDuration:
        """Read e.g. "2 business hours".  Raises ValueError with the rule in words."""
        match = DURATION.fullmatch(text.strip())
        if match is None:
            raise ValueError('must be like "30 minutes", "1 day" or "2 business hours"')
        unit, step = _UNITS[match[3]]
        if step * int(match[1]) > timedelta(days=LONGEST_DAYS):
            raise ValueError(f"must be at most {LONGEST_DAYS} days")
        return cls(int(match[1]), unit, match[2] is not None)

    @property
    def elapsed(self) -> timedelta:
        """The same amount as clock time."""
        return _UNITS[self.unit][1] * self.amount


def due_at(
    start: datetime, duration: BusinessDuration, hours: BusinessHours, holidays: Collection[date], tz: ZoneInfo
) -> datetime:
    """When something is due that begins at `start` (aware); the answer is in `tz`.

    Days keep the time on the wall, so "1 day" over a change of clocks is 23 or 25 hours.  What begins while the
    business is closed begins with its next opening; a business day ends within open time.
    """
    if not duration.business:
        due = _plainly(start, duration, tz)
    elif duration.unit == "day":
        due = _after_open_days(start, duration.amount, _Calendar(hours, holidays, tz))
    else:
        due = _after_open_time(start, duration.elapsed, _Calendar(hours, holidays, tz))
    return due.astimezone(tz)


def _plainly(start: datetime, duration: BusinessDuration, tz: ZoneInfo) -> datetime:
    if duration.unit == "day":
        # Through UTC: a time on the wall that a change of clocks skips becomes one that exists.
        return (start.astimezone(tz) + duration.elapsed).astimezone(UTC)
    return start.astimezone(UTC) + duration.elapsed


def _after_open_days(start: datetime, days: int, calendar: _Calendar) -> datetime:
    open_days = calendar.open_days(start)
    first = next(day for day in open_days if day[-1].closes > start)
    begins = next(max(stretch.opens, start) for stretch in first if stretch.closes > start)
    last = first
    for _ in range(days):
        last = next(open_days)
    wanted = calendar.same_time(begins, last[0].opens)
    return next((max(stretch.opens, wanted) for stretch in last if wanted <= stretch.closes), last[-1].closes)


def _after_open_time(start: datetime, left: timedelta, calendar: _Calendar) -> datetime:
    for stretch in chain.from_iterable(calendar.open_days(start)):
        begins = max(stretch.opens, start.astimezone(UTC))
        available = max(stretch.closes - begins, timedelta(0))
        if available >= left:
            return begins + left
        left -= available
    raise AssertionError("open days never end")


class _Stretch(NamedTuple):
    """Open time on one day, in UTC."""

    opens: datetime
    closes: datetime


@dataclass(frozen=True, slots=True)
class _Calendar:
    """Business hours and holidays in one time zone."""

    hours: BusinessHours
    holidays: Collection[date]
    tz: ZoneInfo

    def open_days(self, start: datetime) -> Iterator[list[_Stretch]]:
        """The open time of each day that has any, from the day of `start` on, without end.

        There is always a next one: the hours are not empty, and the holidays are finite.
        """
        day = start.astimezone(self.tz).date()
        while True:
            stretches = [] if day in self.holidays else self._stretches(day)
            if stretches:
                yield stretches
            day += timedelta(days=1)

    def same_time(self, moment: datetime, of_day: datetime) -> datetime:
        """The time on the wall at `moment`, on the day of `of_day`."""
        wall = moment.astimezone(self.tz).time()
        return self._moment(of_day.astimezone(self.tz).date(), wall)

    def _stretches(self, day: date) -> list[_Stretch]:
        openings = (one for one in self.hours.openings if one.weekday == day.weekday())
        found = (_Stretch(self._moment(day, one.opens), self._closing(day, one.closes)) for one in openings)
        # A change of clocks can swallow a short one.
        return [one for one in found if one.opens < one.closes]

    def _closing(self, day: date, closes: time | None) -> datetime:
        return self._moment(day, closes) if closes else self._moment(day + timedelta(days=1), time(0))

    def _moment(self, day: date, wall: time) -> datetime:
        return datetime.combine(day, wall, self.tz).astimezone(UTC)


def _openings(part: str) -> Iterator[Opening]:
    words = part.split()
    if len(words) < 2:  # noqa: PLR2004 - the days and one stretch
        raise ValueError('must be like "mon-fri 09:00-18:00"')
    for weekday in _days(words[0]):
        for stretch in words[1:]:
            opens, closes = _clocks(stretch)
            yield Opening(weekday, opens, closes)


def _days(word: str) -> list[int]:
    """The weekdays of "sat", "mon-fri", or "sun-thu"."""
    first, _, last = word.partition("-")
    if first not in WEEKDAYS or (last or first) not in WEEKDAYS or word.endswith("-"):
        raise ValueError(f"days must be among {', '.join(WEEKDAYS)}, or two of them as in mon-fri")
    begins, ends = WEEKDAYS.index(first), WEEKDAYS.index(last or first)
    return [day % len(WEEKDAYS) for day in range(begins, ends + (len(WEEKDAYS) if ends < begins else 0) + 1)]


def _clocks(stretch: str) -> tuple[time, time | None]:
    opens, _, closes = stretch.partition("-")
    if not CLOCK.fullmatch(opens) or not (CLOCK.fullmatch(closes) or closes == END_OF_DAY):
        raise ValueError("times must be like 09:00-18:00, or 24:00 for the end of the day")
    if closes <= opens:
        raise ValueError("a closing time must be later than its opening time")
    return time.fromisoformat(opens), None if closes == END_OF_DAY else time.fromisoformat(closes)
