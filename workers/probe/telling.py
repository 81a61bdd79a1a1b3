"""The answers of the probe in sentences, for a person who decides whether to trust this account."""

from __future__ import annotations

from collections.abc import Iterator

from crm_clients.base import Capability
from workers.probe.measured import Contract, GaveUp, OfKind, Parallel, Seen, careful

Fact = tuple[str, str]

SECOND = {
    "refused": "refused",
    "adopted": "the same record again",
    "doubled": "a SECOND RECORD",
    "unclear": "unclear",
}
KEY = {"one_record": "keeps it to one record", "no_effect": "no effect", "cannot_tell": "cannot be told"}
UNKNOWN = {"refused": "refused", "dropped": "accepted and dropped", "unclear": "unclear"}
OWNER = {"kept": "kept", "lost": "LOST"}


def of_kind(measured: OfKind) -> Iterator[Fact]:
    """What is worth saying of one kind of record; what was not asked is left out."""
    yield "a second create", f"{SECOND[measured.second]} ({measured.second_answer})"
    yield f"{measured.parallel.asked} creates at once", _parallel(measured.parallel)
    if measured.by_id.asked:
        yield "seen by its id", _seen(measured.by_id)
    yield "seen by its reference", _seen(measured.by_reference)
    if measured.by_match is not None:
        yield "seen by phone or e-mail", _seen(measured.by_match)
    yield "Idempotency-Key", KEY[measured.idempotency_key]
    yield "a client that gave up", _gave_up(measured.gave_up)
    if measured.unknown_field in UNKNOWN:
        yield "an unknown field", UNKNOWN[measured.unknown_field]
    for name, (written, now) in measured.rewritten.items():
        yield f"{name} is rewritten", f"{written!r} became {now!r}"
    if measured.owner in OWNER:
        yield "owner after an update", OWNER[measured.owner]


def _parallel(found: Parallel) -> str:
    answers = ", ".join(f"{times} times {word}" for word, times in sorted(found.answers.items()))
    return f"{found.records} record{'' if found.records == 1 else 's'} seen ({answers})"


def _seen(seen: Seen) -> str:
    if seen.most is None:
        return f"never, of {seen.asked}"
    missed = f"; {seen.unseen} of {seen.asked} not at all" if seen.unseen else ""
    return f"p50 {seen.p50:g} s, p99 {seen.p99:g} s, at most {seen.most:g} s{missed}"


def _gave_up(early: GaveUp) -> str:
    if not early.asked:
        return "could not be tried: every answer came too soon"
    if not early.made:
        return f"none of {early.asked} was made"
    return f"{early.made} of {early.asked} were made all the same, seen at most {early.latest:g} s after we had gone"


def consequences(measured: OfKind, declared: Capability) -> Iterator[str]:
    """What deliveries do otherwise because of this; nothing: the client's word holds."""
    now = careful(declared, measured)
    if now.reference != declared.reference:
        yield f"{measured.kind}: the reference is not taken as unique; absence is proven before a second create"
    if now.look != declared.look:
        yield f"{measured.kind}: an absent look proves nothing; a doubt is a person's"
    if now.lag != declared.lag:
        yield f"{measured.kind}: two looks lie {now.lag.total_seconds():g} s further apart"
    if now.limit != declared.limit and now.limit is not None:
        yield f"{measured.kind}: a request may be executed for {now.limit.total_seconds():g} s"


def removal(contract: Contract) -> str:
    """What became of the records that were made."""
    if not contract.left:
        return f"all {contract.removed} records were removed"
    named = ", ".join(f"{each.kind} {each.crm_id}" for each in contract.left)
    return f"{contract.removed} records were removed; remove these yourself: {named}"
