"""Deliberate bugs, each of which the suite must find: what is wrong, where it is put, and the tests that must fail.

`bin/mutate` puts them in one by one, into a copy.  A test of the ordinary suite sees that each still has its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SIMULATION: Final = "tests/simulation"
ONE_UNSETTLED_WRITE: Final = (
    "CREATE UNIQUE INDEX one_unsettled_write_per_record"
    " ON attempts (record_id) WHERE kind = 'write' AND settled_at IS NULL;"
)


@dataclass(frozen=True, slots=True)
class Mutation:
    """`old` stands once in `file`; `new` takes its place.  `tests` are those that are to find it.

    `without`: a second guard of the same, as a file and a text that stands once in it and is taken away.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    without: tuple[str, str] | None = None


def _in(*names: str) -> tuple[str, ...]:
    return tuple(f"{SIMULATION}/{name}.py" for name in names)


MUTATIONS: Final[tuple[Mutation, ...]] = (
    Mutation(
        "a lease that is over still lets a write out",
        "intake/deliveries.py",
        "AND state = 'delivering' AND claim_token = %(token)s AND claimed_until > clock_timestamp()",
        "AND state = 'delivering'",
        _in("test_zombies", "test_states"),
    ),
    Mutation(
        "a worker that lost its claim still moves the delivery",
        "intake/deliveries.py",
        "UPDATE deliveries SET state = 'confirmed', reason = NULL, claim_token = NULL, claimed_until = NULL\n"
        "     WHERE event_id = %(event_id)s AND generation = %(generation)s\n"
        "       AND state = 'delivering' AND claim_token = %(token)s",
        "UPDATE deliveries SET state = 'confirmed', reason = NULL, claim_token = NULL, claimed_until = NULL\n"
        "     WHERE event_id = %(event_id)s AND generation = %(generation)s\n"
        "       AND state = 'delivering'",
        _in("test_zombies", "test_states"),
    ),
    Mutation(
        "a lost worker's delivery is not taken back",
        "workers/clock.py",
        "released = deliveries.release_expired(conn)",
        "released = 0",
        _in(
            "test_crashes",
        ),
    ),
    Mutation(
        "a lost worker's write is no doubt",
        "intake/deliveries.py",
        "AND a.kind = 'write' AND a.settled_at IS NULL\n                 ORDER BY",
        "AND a.kind = 'write' AND false\n                 ORDER BY",
        _in(
            "test_lost_answers",
        ),
    ),
    Mutation(
        "an early absence is trusted",
        "workers/look.py",
        "if begun <= timedelta(0) or begun < span:",
        "if begun < timedelta(0):",
        _in("test_late_execution", "test_two_looks"),
    ),
    Mutation(
        "looks from before the lease is over are part of the proof",
        "intake/absence.py",
        "SELECT greatest(%(since)s, (SELECT max(until) FROM silences)) AS at",
        "SELECT coalesce((SELECT max(until) FROM silences), '-infinity'::timestamptz) AS at",
        _in("test_two_looks", "test_late_execution", "test_rulings", "test_profiles"),
    ),
    Mutation(
        "a silence of the account is no hindrance to the proof",
        "intake/absence.py",
        "SELECT greatest(%(since)s, (SELECT max(until) FROM silences)) AS at",
        "SELECT greatest(%(since)s, (SELECT max(until) FROM silences WHERE false)) AS at",
        _in(
            "test_late_execution",
        ),
    ),
    Mutation(
        "an absence is believed without the positive control",
        "intake/absence.py",
        "AND l.strength = 'strong' AND l.controlled AND",
        "AND l.strength = 'strong' AND",
        _in(
            "test_controls",
        ),
    ),
    Mutation(
        "a person's word replaces time",
        "workers/look.py",
        "if record.ruled_absent and record.asked_ago >= _span(plan):",
        "if record.ruled_absent:",
        _in(
            "test_rulings",
        ),
    ),
    Mutation(
        "the attempt is committed after the send",
        "workers/writing.py",
        '    desk.at(f"{writing.boundary}.before_commit")\n',
        "    calls.write(desk, wired, writing.request, prepared=desk.clock(), read=writing.read)\n"
        '    desk.at(f"{writing.boundary}.before_commit")\n',
        _in("test_crashes", "test_simple_path"),
    ),
    Mutation(
        "what is not confirmed is called a failure and sent again",
        "workers/writing.py",
        "records.doubt(conn, record.record_id, write_id=write_id)",
        "records.not_executed(conn, record.record_id, write_id=write_id)",
        _in("test_lost_answers", "test_late_execution"),
    ),
    Mutation(
        "a break after the first byte is called not sent",
        "crm_clients/transport.py",
        "return _unanswered(error, call) if call.handed_over else _not_sent(error, call)",
        "return _not_sent(error, call)",
        ("tests/integration/test_transport_doubt.py", f"{SIMULATION}/test_lost_answers.py"),
    ),
    Mutation(
        "the hint is the truth: the clock tells of nothing that is due",
        "workers/clock.py",
        "        if ticked.due:\n            hint()",
        "        if False:\n            hint()",
        ("tests/acceptance/test_chaos_rq.py", "tests/acceptance/test_chaos.py"),
    ),
    Mutation(
        "contacts are checked, and inserted later, without a lock",
        "intake/contacts.py",
        '        cursor.execute(LOCK_KEYS, wanted | {"scope": f"contact {scope.destination} {scope.mode} "})\n'
        "        bound: list[int] = cursor.execute(BOUND_TO, wanted).fetchall()\n        if len(bound) > 1:",
        "        bound: list[int] = cursor.execute(BOUND_TO, wanted).fetchall()\n        if len(bound) > 1:",
        _in("test_many_workers", "test_persons", "test_at_once"),
    ),
    Mutation(
        "the first messages of one person open a need each",
        "intake/talks.py",
        '    conn.execute(LOCK, {"keys": keys})',
        "    assert keys is not None",
        (
            *_in("test_at_once", "test_many_workers"),
            "tests/acceptance/test_receiver_whatsapp.py",
            "tests/acceptance/test_receiver_thousand.py",
        ),
    ),
    Mutation(
        "the doubt belongs to the delivery, not to the record",
        "intake/records.py",
        "AND state IN ('none', 'known') AND crm_id IS NOT DISTINCT FROM",
        "AND state IN ('none', 'known', 'in_doubt') AND crm_id IS NOT DISTINCT FROM",
        _in("test_states", "test_persons", "test_many_workers"),
        without=(
            "sql/migrations/0001_core.sql",
            ONE_UNSETTLED_WRITE,
        ),
    ),
    Mutation(
        "the mode is left out of the identity",
        "intake/identity.py",
        'parts = (mode, source, request_id, "" if version is None else str(version))',
        'parts = ("live", source, request_id, "" if version is None else str(version))',
        ("tests/unit/test_identity.py", "tests/acceptance/test_receiver_identity.py"),
    ),
    Mutation(
        "other content under a known identity is a duplicate",
        "intake/events.py",
        "    return [each for each in other if not _read_alike(conn, key, received, each)]",
        "    return [each for each in other if each is None]",
        ("tests/acceptance/test_receiver_identity.py", f"{SIMULATION}/test_conflicts.py"),
    ),
    Mutation(
        "other content under a known identity is a duplicate, in one statement",
        "intake/at_once.py",
        "WHERE NOT EXISTS (SELECT FROM stands WHERE NOT (same AND %(again)s))",
        "WHERE NOT EXISTS (SELECT FROM stands WHERE NOT %(again)s)",
        ("tests/acceptance/test_receiver_identity.py", "tests/integration/test_at_once.py"),
    ),
    Mutation(
        "an update overwrites what an adviser changed",
        "workers/values.py",
        "        if all(is_same(name, now.get(name), base.get(name)) for name in value):",
        "        if value:",
        (*_in("test_people", "test_versions_and_people"), "tests/unit/test_values.py"),
    ),
    Mutation(
        "an older version that comes late is applied",
        "workers/deliver.py",
        "stands, newer = record.crm_id is not None, others.newer_applied",
        "stands, newer = record.crm_id is not None, False",
        _in("test_people", "test_versions_and_people"),
    ),
    Mutation(
        "an update in doubt is taken for a create that the CRM would refuse",
        "workers/look.py",
        'how = of_update if record.crm_id is not None and record.state in {"asked", "in_doubt"} else strategy',
        "how = strategy",
        _in(
            "test_profiles",
        ),
    ),
    Mutation(
        "of two under one reference the first is taken",
        "crm_clients/sandbox/sightings.py",
        "    if len(alive) > 1:\n        return Several(tuple(one.crm_id for one in alive))\n",
        "",
        (
            *_in(
                "test_late_execution",
            ),
            "tests/integration/test_sandbox_client.py",
        ),
    ),
    Mutation(
        "a restored database trusts what it remembers",
        "intake/naming.py",
        "CASE WHEN epoch > 1 THEN 'in_doubt' ELSE 'none' END,\n"
        "               CASE WHEN epoch > 1 THEN epoch_opened_at + %(lease)s END,\n"
        "               CASE WHEN epoch > 1 THEN greatest(clock_timestamp(), epoch_opened_at + %(lease)s) END",
        "'none', NULL::timestamptz + %(lease)s, NULL::timestamptz",
        _in("test_restore", "test_restore_everything"),
    ),
    Mutation(
        "an account of another installation is written to",
        "workers/sentinels.py",
        "return named is not None and named[0] != installation",
        "return named is not None and named[0] != installation and False",
        (*_in("test_controls", "test_restore"), "tests/integration/test_account_check.py"),
    ),
    Mutation(
        "what nobody approved is delivered",
        "workers/contents.py",
        "    seen = begun.approved is None or begun.approved >= begun.revision or not work.updated",
        "    seen = begun.approved is None or work is not None",
        _in("test_approvals", "test_later_states", "test_edited_messages"),
    ),
    Mutation(
        "what was removed by people is made again",
        "workers/look.py",
        "    if not seen.live:\n        records.gone(conn, record.record_id, crm_id=seen.crm_id)\n        return\n",
        "    if not seen.live:\n        return\n",
        (*_in("test_people", "test_profiles", "test_merged"),),
    ),
    Mutation(
        "a test's contact is adopted by a live lead",
        "workers/ensure.py",
        'return seen.reference is None or is_test(seen.reference) == (record.mode == "test")',
        "return seen.reference is None or is_test(seen.reference) in {True, False}",
        (
            *_in("test_persons", "test_same_person", "test_simple_path"),
            "tests/acceptance/test_cli.py",
            "tests/integration/test_decisions.py",
            f"{SIMULATION}/test_choices.py",
        ),
    ),
)
