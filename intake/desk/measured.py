"""What the contract probe saw of each account last, in the few words that people want."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from psycopg.rows import dict_row

from intake.db import Conn

# As `intake crm contract` has it: a CRM is changed every week.
OLD: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class OfKind:
    """`second`: how a second create under one reference ended: refused, adopted, doubled, unclear.

    `latest`: after how many seconds the last new record was found by its reference, None: none was.
    """

    kind: str
    second: str
    latest: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """One run."""

    client: str
    at: datetime
    kinds: Sequence[OfKind]

    def is_old(self, now: datetime) -> bool:
        """It should be measured again."""
        return now - self.at > OLD


NEWEST: Final = """
    WITH newest AS (SELECT DISTINCT ON (destination) destination, client, measured_at, measured FROM crm_contracts
                     ORDER BY destination, measured_at DESC, contract_id DESC)
    SELECT n.destination, n.client, n.measured_at, k.value ->> 'kind' AS kind, k.value ->> 'second' AS second,
           (k.value #>> '{by_reference,most}')::float AS latest
      FROM newest n LEFT JOIN LATERAL jsonb_array_elements(n.measured -> 'kinds') WITH ORDINALITY k ON true
     ORDER BY n.destination, k.ordinality
"""


def newest(conn: Conn) -> dict[str, Measured]:
    """By the name of the account; those that were never measured are missing."""
    found: dict[str, Measured] = {}
    with conn.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(NEWEST):
            before = found.get(row["destination"])
            kinds = [] if row["kind"] is None else [OfKind(row["kind"], row["second"], row["latest"])]
            found[row["destination"]] = Measured(
                row["client"], row["measured_at"], [*(before.kinds if before else ()), *kinds]
            )
    return found
