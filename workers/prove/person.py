"""The person at the desk: looks in the CRM for what is in doubt, and says what they see."""

from __future__ import annotations

from uuid import UUID

from intake import decisions
from intake.decided import Author, Refused
from intake.decisions import Applied
from intake.person_arrows import NotAllowed
from workers.prove.stage import Stage

PERSON = Author("prove", "looked for it in the CRM")

DOUBTFUL = """
    SELECT DISTINCT ON (d.event_id) d.event_id, r.reference
      FROM deliveries d JOIN records r ON r.record_id = d.blocked_on
     WHERE d.state IN ('uncertain', 'review') AND r.state IN ('asked', 'in_doubt')
     ORDER BY d.event_id, d.generation DESC
"""


def settle(stage: Stage) -> None:
    """Every doubt that blocks something.  Whatever became of it meanwhile is as well."""
    for row in stage.rows(DOUBTFUL):
        event_id, found = UUID(str(row["event_id"])), stage.found(str(row["reference"]))
        with stage.watched.connection() as conn:
            try:
                seen = decisions.view(conn, event_id)
                record = decisions.to_settle(seen, None, only_doubtful=True)
                if found is None:
                    decisions.settle_not_applied(conn, PERSON, event_id)
                else:
                    decisions.settle_applied(conn, PERSON, event_id, record, Applied(found, verified=True))
            except (Refused, NotAllowed):
                continue
        stage.ear.hear("desk.hint")
