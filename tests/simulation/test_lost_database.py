"""The database ends a worker's transaction in the middle: what was in hand goes on later, and is nobody's to repair."""

from __future__ import annotations

import psycopg
import pytest

from tests.lab import Lab
from tests.simulation.world import ledger
from workers import drain

# As the server does it: idle in a transaction for too long, as after a while in which it stood still; a standby.
CODES = ("25P03", "25006", "57P01")
WRITES = ("contact", "opportunity", "task")
END = """
    CREATE FUNCTION end_it() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '{code}'; END $$;
    CREATE TRIGGER end_it BEFORE INSERT ON attempts FOR EACH ROW
        WHEN (NEW.kind = 'write') EXECUTE FUNCTION end_it();
"""


@pytest.mark.parametrize("code", CODES)
def test_a_delivery_whose_transaction_the_database_ends_is_made_later(stored: Lab, code: str) -> None:
    event = stored.form()
    with psycopg.connect(stored.database_url) as conn:
        conn.execute(END.format(code=code))
    assert drain.drain(stored.desk, threads=1) == 0
    assert stored.state(event) == "delivering"
    with psycopg.connect(stored.database_url) as conn:
        conn.execute("DROP TRIGGER end_it ON attempts")
    stored.settle(rounds=2)
    assert (stored.state(event), stored.rows("SELECT FROM items")) == ("confirmed", [])
    assert ledger(stored) == dict.fromkeys(WRITES, 1)
