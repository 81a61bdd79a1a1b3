"""When a task is due."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intake.business_time import BusinessDuration, BusinessHours, due_at

LIMA = ZoneInfo("America/Lima")  # no change of clocks
SANTIAGO = ZoneInfo("America/Santiago")  # clocks go back on Sunday 2026-04-05 at 00:00, and on on 2026-09-06 at 00:00
OFFICE = BusinessHours.parse("mon-fri 09:00-18:00")
SPLIT = BusinessHours.parse("mon-fri 09:00-13:00 15:00-18:00, sat 09:00-12:00")
ALWAYS = BusinessHours.parse("mon-sun 00:00-24:00")
NO_HOLIDAYS: frozenset[date] = frozenset()


def due(
    start: str,
    duration: str,
    hours: BusinessHours = OFFICE,
    holidays: frozenset[date] = NO_HOLIDAYS,
    tz: ZoneInfo = LIMA,
) -> str:
    """2026-11-30 is a Monday."""
    begins = datetime.fromisoformat(start).replace(tzinfo=tz)
    return f"{due_at(begins, BusinessDuration.parse(duration), hours, holidays, tz):%a %Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("start", "duration", "ends"),
    [
        ("2026-11-30 10:00", "2 business hours", "Mon 2026-11-30 12:00"),
        ("2026-11-30 16:00", "2 business hours", "Mon 2026-11-30 18:00"),
        ("2026-11-30 16:01", "2 business hours", "Tue 2026-12-01 09:01"),
        ("2026-11-30 06:00", "2 business hours", "Mon 2026-11-30 11:00"),
        ("2026-11-30 09:00", "2 business hours", "Mon 2026-11-30 11:00"),
        ("2026-11-30 18:00", "2 business hours", "Tue 2026-12-01 11:00"),
        ("2026-11-30 23:59", "2 business hours", "Tue 2026-12-01 11:00"),
        ("2026-12-04 17:30", "1 business hour", "Mon 2026-12-07 09:30"),
        ("2026-12-05 12:00", "30 business minutes", "Mon 2026-12-07 09:30"),
        ("2026-11-30 09:00", "45 business hours", "Fri 2026-12-04 18:00"),
    ],
)
def test_business_hours_count_only_open_time(start: str, duration: str, ends: str) -> None:
    assert due(start, duration) == ends


@pytest.mark.parametrize(
    ("start", "duration", "ends"),
    [
        ("2026-11-30 10:00", "1 business day", "Tue 2026-12-01 10:00"),
        ("2026-12-04 10:00", "1 business day", "Mon 2026-12-07 10:00"),
        ("2026-12-05 10:00", "1 business day", "Tue 2026-12-08 09:00"),
        ("2026-11-30 20:00", "1 business day", "Wed 2026-12-02 09:00"),
        ("2026-11-30 06:00", "2 business days", "Wed 2026-12-02 09:00"),
    ],
)
def test_business_days_keep_the_time_on_the_wall(start: str, duration: str, ends: str) -> None:
    assert due(start, duration) == ends


@pytest.mark.parametrize(
    ("start", "duration", "ends"),
    [
        ("2026-11-30 12:30", "1 business hour", "Mon 2026-11-30 15:30"),
        ("2026-11-30 13:30", "1 business hour", "Mon 2026-11-30 16:00"),
        ("2026-12-04 16:00", "1 business day", "Sat 2026-12-05 12:00"),
        ("2026-11-30 14:00", "1 business day", "Tue 2026-12-01 15:00"),
        ("2026-12-05 11:00", "2 business hours", "Mon 2026-12-07 10:00"),
    ],
)
def test_lunch_is_not_open_time(start: str, duration: str, ends: str) -> None:
    assert due(start, duration, SPLIT) == ends


def test_holiday_is_not_open_time() -> None:
    holidays = frozenset({date(2026, 12, 8)})
    assert due("2026-12-07 17:00", "2 business hours", holidays=holidays) == "Wed 2026-12-09 10:00"


def test_business_day_steps_over_a_holiday_and_a_weekend() -> None:
    holidays = frozenset({date(2026, 12, 24), date(2026, 12, 25)})
    assert due("2026-12-23 10:00", "1 business day", holidays=holidays) == "Mon 2026-12-28 10:00"


def test_plain_time_runs_at_night() -> None:
    assert due("2026-12-05 23:50", "30 minutes") == "Sun 2026-12-06 00:20"


def test_plain_day_keeps_the_time_on_the_wall_over_a_change_of_clocks() -> None:
    assert due("2026-04-04 10:00", "1 day", tz=SANTIAGO) == "Sun 2026-04-05 10:00"


def test_plain_hours_do_not_keep_it() -> None:
    assert due("2026-04-04 10:00", "24 hours", tz=SANTIAGO) == "Sun 2026-04-05 09:00"


def test_time_that_a_change_of_clocks_skips_becomes_one_that_exists() -> None:
    assert due("2026-09-05 00:30", "1 day", tz=SANTIAGO) == "Sun 2026-09-06 01:30"


def test_night_shift_is_an_hour_longer_when_clocks_go_back() -> None:
    assert due("2026-04-04 22:00", "3 business hours", ALWAYS, tz=SANTIAGO) == "Sun 2026-04-05 00:00"


def test_opening_that_a_change_of_clocks_swallows_is_none() -> None:
    hours = BusinessHours.parse("sun 00:15-00:45, mon 09:00-18:00")
    # At 00:00 it is 01:00: the half hour is there, but an hour later on the wall.
    assert due("2026-09-05 12:00", "10 business minutes", hours, tz=SANTIAGO) == "Sun 2026-09-06 01:25"


def test_opening_that_ends_with_the_change_of_clocks_is_swallowed() -> None:
    hours = BusinessHours.parse("sun 00:30-01:00, mon 09:00-18:00")
    assert due("2026-09-05 12:00", "10 business minutes", hours, tz=SANTIAGO) == "Mon 2026-09-07 09:10"


def test_start_in_another_zone_is_the_same_moment() -> None:
    start = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)  # 18:30 in Lima
    ends = due_at(start, BusinessDuration.parse("1 business hour"), OFFICE, NO_HOLIDAYS, LIMA)
    assert ends == datetime(2026, 12, 1, 15, 0, tzinfo=UTC)
    assert ends.tzinfo is LIMA


def test_days_may_run_over_the_end_of_the_week() -> None:
    assert {one.weekday for one in BusinessHours.parse("sat-mon 10:00-14:00").openings} == {5, 6, 0}


@pytest.mark.parametrize(
    "text", ["2 Business hours", "0 hours", "-1 day", "1.5 hours", "1 week", "hours", "", "٣ hours"]
)
def test_duration_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match='must be like "30 minutes"'):
        BusinessDuration.parse(text)


@given(
    start=st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - as it wants it
    minutes=st.integers(1, 10_000),
    unit=st.sampled_from(["minute", "business minute"]),
    hours=st.sampled_from([OFFICE, SPLIT, ALWAYS]),
    tz=st.sampled_from([LIMA, SANTIAGO]),
)
def test_nothing_is_due_sooner_than_its_time(
    start: datetime, minutes: int, unit: str, hours: BusinessHours, tz: ZoneInfo
) -> None:
    ends = due_at(start, BusinessDuration.parse(f"{minutes} {unit}"), hours, NO_HOLIDAYS, tz)
    assert ends - start >= timedelta(minutes=minutes)


@given(text=st.text(alphabet="mon-fri 0123456789:,sat", max_size=30))
def test_any_hours_are_read_or_refused(text: str) -> None:
    try:
        assert BusinessHours.parse(text).openings
    except ValueError as refused:
        assert str(refused)  # noqa: PT017 - it need not be raised
