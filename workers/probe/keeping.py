"""Results of the probe in the database: deliveries take the newest of their account when a worker starts."""

from __future__ import annotations

from datetime import datetime

from psycopg.rows import scalar_row

from intake.db import Conn
from workers.probe.measured import OLD, Contract, from_json, to_json

KEEP = """
    INSERT INTO crm_contracts (destination, client, measured_at, measured)
    VALUES (%(destination)s, %(client)s, %(measured_at)s, %(measured)s)
"""

NEWEST = """
    SELECT measured::text FROM crm_contracts
     WHERE destination = %(destination)s AND client = %(client)s
     ORDER BY measured_at DESC, contract_id DESC LIMIT 1
"""

# What was seen of an account after it was measured, and should not happen there: two records under one reference, or
# one that came after it had counted as absent, whether a delivery met it or the nightly reconciliation.
DOUBLES_SINCE = """
    SELECT count(*) FROM items i JOIN records r USING (record_id)
     WHERE i.kind = 'incident' AND i.reason ~ '^(several|late_success|[a-z]+_(several|unexpected))$'
       AND r.destination = %(destination)s AND i.opened_at > %(since)s
"""


def keep(conn: Conn, contract: Contract) -> None:
    """Add this result; earlier ones stay."""
    given = {
        "destination": contract.account,
        "client": contract.client,
        "measured_at": contract.measured_at,
        "measured": to_json(contract),
    }
    conn.execute(KEEP, given)


def newest(conn: Conn, destination: str, client: str) -> Contract | None:
    """The newest result of this account by this client; None: it was never measured, or by another version of ours."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: str | None = cursor.execute(NEWEST, {"destination": destination, "client": client}).fetchone()
    try:
        return None if found is None else from_json(found)
    except ValueError:
        return None


def doubt(conn: Conn, contract: Contract, *, now: datetime) -> str | None:
    """Why this result should be measured again; None: it may be relied upon."""
    if now - contract.measured_at > OLD:
        return f"measured {(now - contract.measured_at).days} days ago"
    given = {"destination": contract.account, "since": contract.measured_at}
    with conn.cursor(row_factory=scalar_row) as cursor:
        doubles: int | None = cursor.execute(DOUBLES_SINCE, given).fetchone()
    return f"contradicted since by {doubles} incidents of double or late records" if doubles else None
