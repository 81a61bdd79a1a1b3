"""The page of figures: charts with the table behind each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from flask import Blueprint, render_template

from intake.console import charts, gate, wording
from intake.console.charts import Chart
from intake.console.i18n import _, format_span
from intake.desk import figures
from intake.desk.figures import DAYS, Day, Figures
from intake.desk.tools import connection, tools

MINUTE: Final = 60.0


def add(pages: Blueprint) -> None:
    """This page."""
    pages.add_url_rule("/figures", "figures", show, methods=["GET"])


@gate.needs("see")
def show() -> str:
    """How it goes."""
    zone = str(tools().settings.timezone)
    with connection() as conn:
        found = figures.figures(conn, midnight=tools().midnight, zone=zone)
    return render_template(
        "figures.html", found=found, days=by_day(found.days, tools().midnight.date()), ages=by_age(found),
        speed=by_channel(found), age_names=age_names(), seconds=seconds, width=charts.WIDTH,
        shorter=format_span(found.shorter) if found.shorter else "",
    )  # fmt: skip


def by_day(days: Sequence[Day], today: date) -> Chart:
    """The last days, also those on which nothing came."""
    dates = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    accepted, confirmed = Counter[date](), Counter[date]()
    for each in days:
        accepted[each.day] += each.accepted
        confirmed[each.day] += each.confirmed
    labels = [str(each.day) for each in dates]
    return charts.columns(labels, [accepted[each] for each in dates], [confirmed[each] for each in dates])


def age_names() -> list[str]:
    """From the youngest to the oldest."""
    return [_("hasta 1 hora"), _("hasta 4 horas"), _("hasta 1 día"), _("hasta 7 días"), _("más de 7 días")]


def by_age(found: Figures) -> Chart:
    """What waits for a person, and what is on its way."""
    numbers = [(str(mine), str(ours)) for mine, ours in zip(found.items, found.moving, strict=True)]
    return charts.rows(age_names(), found.items, found.moving, numbers)


def by_channel(found: Figures) -> Chart | None:
    """How long until the CRM had it: 95 of 100, and half of them.  None: nothing arrived."""
    if not found.channels:
        return None
    labels = [wording.kind(each.kind) for each in found.channels]
    slow, half = [each.p95 for each in found.channels], [each.p50 for each in found.channels]
    numbers = [(seconds(each.p95), seconds(each.p50)) for each in found.channels]
    return charts.rows(labels, slow, half, numbers)


def seconds(number: float) -> str:
    """How long."""
    return f"{number:.1f} s" if number < MINUTE else format_span(timedelta(seconds=number))
