"""One page of the nightly reconciliation, for a worker that has nothing better to do."""

from __future__ import annotations

import structlog

from intake import nights
from intake.db import transaction
from intake.nights import Run
from workers import reconcile
from workers.desk import Desk
from workers.reconcile import Place

log = structlog.get_logger()


def page_due(desk: Desk) -> bool:
    """Take the next page of a run.  False: none is due."""
    with transaction(desk.pool) as conn:
        run = nights.claim_run(conn)
    if run is None:
        return False
    if not run.at:
        place = reconcile.begin(desk, f"night-{run.run_id}", since=None, verified=True).place
    else:
        place = Place.of(run.at)
        if place.over:
            _finish(desk, run, place)
            return True
        place = reconcile.advance(desk, place, since=run.since).place
    with transaction(desk.pool) as conn:
        nights.save_run(conn, run, place.document())
    return True


def _finish(desk: Desk, run: Run, place: Place) -> None:
    with transaction(desk.pool) as conn:
        if not nights.end_run(conn, run):
            return
    result = reconcile.finish(desk, place, since=run.since, verified=True)
    log.info("reconciled", ok=result.ok, checked=place.checked, incidents=sum(result.incidents.values()))
