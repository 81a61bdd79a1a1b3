"""The judgement: is everything where its scenario wants it, and does the CRM hold each record once and none besides?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from intake.explain_texts import Text
from intake.ops import EventRow
from workers.demo.playing import Played, is_as
from workers.demo.scenario import Json
from workers.demo.seeing import Name, Seen

KINDS = ("contact", "opportunity", "task", "note")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One scenario, what became of its events, and what is wrong with it."""

    played: Played
    rows: tuple[EventRow, ...]
    complaints: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """`besides`: what is wrong and belongs to no scenario."""

    verdicts: tuple[Verdict, ...]
    besides: tuple[Text, ...]

    @property
    def good(self) -> bool:
        return not self.besides and not any(each.complaints for each in self.verdicts)


def judge(played: Sequence[Played], seen: Seen) -> Judgement:
    """Everything that was found is told, not only the first."""
    verdicts = []
    for each in played:
        rows = tuple(seen.events[event] for event in each.events if event in seen.events)
        verdicts.append(Verdict(each, rows, tuple(_complaints(each, rows, seen))))
    return Judgement(tuple(verdicts), tuple(_besides(verdicts, seen)))


def _complaints(played: Played, rows: Sequence[EventRow], seen: Seen) -> Iterator[Text]:
    yield from _of_answers(played)
    yield from _of_states(played, rows)
    yield from _of_crm(played, rows, seen)
    yield from _of_texts(played, rows, seen)
    yield from _of_items(played, rows, seen)
    yield from _of_dials(played, seen)


# --- the receiver and the database ------------------------------------------------------------------------------------


def _of_answers(played: Played) -> Iterator[Text]:
    for sending, answers in zip(played.scenario.sends, played.answers, strict=True):
        if sorted(answers.said) != sorted(sending.answers):
            said, wanted = ", ".join(answers.said), ", ".join(sending.answers)
            yield Text(
                f"el receptor respondió «{said}» y debía responder «{wanted}»",
                f"the receiver answered “{said}” and should have answered “{wanted}”",
            )


def _of_states(played: Played, rows: Sequence[EventRow]) -> Iterator[Text]:
    wanted = played.scenario.states
    if len(rows) != len(wanted):
        yield Text(f"hay {len(rows)} eventos y debía haber {len(wanted)}", f"{len(rows)} events, not {len(wanted)}")
    for row, state in zip(rows, wanted, strict=False):
        if not is_as(row, state):
            found = f"{row.state}: {row.reason}" if row.reason else row.state
            yield Text(
                f"el evento {_short(row.event_id)} está en «{found}» y debía estar en «{state}»",
                f"event {_short(row.event_id)} is “{found}” and should be “{state}”",
            )


def _short(event_id: UUID) -> str:
    return str(event_id)[:8]


# --- the CRM and its ledger -------------------------------------------------------------------------------------------


def _of_crm(played: Played, rows: Sequence[EventRow], seen: Seen) -> Iterator[Text]:
    names = names_of(rows)
    wanted = played.scenario.in_crm
    counts = (wanted.contacts, wanted.opportunities, wanted.tasks, wanted.notes)
    for kind, count in zip(KINDS, counts, strict=True):
        found = sum(1 for name in names if name[0] == kind and name in seen.records)
        if found != count:
            yield Text(
                f"el CRM tiene {found} «{kind}» bajo sus referencias y debía tener {count}",
                f"the CRM holds {found} of kind {kind} under its references and should hold {count}",
            )
    for name in names:
        yield from _of_record(name, seen)
    yield from _of_ids(rows, names, seen)


def names_of(rows: Sequence[EventRow]) -> list[Name]:
    """The names of all records that these events are about, each once."""
    pairs = (
        pair
        for row in rows
        for pair in zip(KINDS, (row.contact_ref, row.opportunity_ref, row.task_ref, row.note_ref), strict=True)
    )
    return list(dict.fromkeys((kind, reference) for kind, reference in pairs if reference))


def _of_record(name: Name, seen: Seen) -> Iterator[Text]:
    kind, reference = name
    if name in seen.doubles:
        yield _double(name, seen)
    elif seen.created[name] > 1:
        yield Text(
            f"{kind} {reference} se creó {seen.created[name]} veces",
            f"{kind} {reference} was created {seen.created[name]} times",
        )


def _double(name: Name, seen: Seen) -> Text:
    kind, reference = name
    ids = ", ".join(seen.doubles[name])
    return Text(
        f"DOBLE en el CRM: {kind} bajo la referencia {reference}: {ids}",
        f"DOUBLE in the CRM: {kind} under reference {reference}: {ids}",
    )


def _of_ids(rows: Sequence[EventRow], names: Sequence[Name], seen: Seen) -> Iterator[Text]:
    """The ids that we know are the CRM's, and what is confirmed has them all."""
    theirs = {str(record["id"]) for name in names for record in seen.records.get(name, ())}
    for row in rows:
        ours = _wanted_ids(row)
        if row.state == "confirmed" and None in ours:
            yield Text(
                f"el evento {_short(row.event_id)} está confirmado y le falta un registro",
                f"event {_short(row.event_id)} is confirmed and lacks a record",
            )
        strange = [crm_id for crm_id in ours if crm_id is not None and crm_id not in theirs]
        if strange:
            yield Text(
                f"el CRM no tiene bajo sus referencias: {', '.join(strange)}",
                f"the CRM does not hold under its references: {', '.join(strange)}",
            )


def _wanted_ids(row: EventRow) -> tuple[str | None, ...]:
    """Those that it must have; a message that was joined to the first one of its talk has neither note nor task."""
    if row.note_ref:
        return row.opportunity_id, row.note_id
    return (row.contact_id, row.opportunity_id, row.task_id) if row.contact_ref else (row.opportunity_id,)


def _of_texts(played: Played, rows: Sequence[EventRow], seen: Seen) -> Iterator[Text]:
    records: list[Json] = [record for name in names_of(rows) for record in seen.records.get(name, ())]
    written = json.dumps(records, ensure_ascii=False)
    for text in played.scenario.shows:
        if text not in written:
            yield Text(f"en el CRM falta «{text}»", f"“{text}” is missing in the CRM")
    for text in played.scenario.hides:
        if text in written:
            yield Text(f"en el CRM está «{text}»", f"“{text}” stands in the CRM")


# --- what waits for a person, and whether the CRM misbehaved as it was told -------------------------------------------


def _of_items(played: Played, rows: Sequence[EventRow], seen: Seen) -> Iterator[Text]:
    ours = {row.event_id for row in rows}
    found = sorted(item.kind for item in seen.items if item.event_id in ours)
    if found != sorted(played.scenario.items):
        wanted = ", ".join(played.scenario.items) or "-"
        told = ", ".join(found) or "-"
        yield Text(
            f"esperan a una persona: {told}; debían esperar: {wanted}",
            f"waiting for a person: {told}; should be: {wanted}",
        )


def _of_dials(played: Played, seen: Seen) -> Iterator[Text]:
    for rule in played.scenario.dials:
        met = [dial for dial in seen.dials if dial["match"] == rule["match"] and dial["fault"] == rule["fault"]]
        if not any(dial["applied"] for dial in met):
            yield Text(
                f"la falla «{rule['fault']}» no llegó a ocurrir: el escenario no muestra nada",
                f"the fault “{rule['fault']}” never happened: the scenario shows nothing",
            )


# --- what belongs to no scenario --------------------------------------------------------------------------------------


def _besides(verdicts: Sequence[Verdict], seen: Seen) -> Iterator[Text]:
    names = {name for each in verdicts for name in names_of(each.rows)}
    for name in (seen.records.keys() | seen.created.keys()) - names:
        yield Text(f"el CRM tiene de más: {' '.join(name)}", f"the CRM holds one too many: {' '.join(name)}")
    for name in seen.doubles.keys() - names:
        yield _double(name, seen)
    strangers = seen.events.keys() - {event for each in verdicts for event in each.played.events}
    if strangers:
        yield Text(f"hay {len(strangers)} eventos de más", f"{len(strangers)} events too many")
    for item in seen.items:
        if item.event_id is None or item.kind == "incident":
            yield Text(f"abierto: {item.kind}, {item.reason}", f"open: {item.kind}, {item.reason}")
