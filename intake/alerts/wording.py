"""A message in words: what a person reads in a chat or an e-mail."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from intake.alerts import texts
from intake.alerts.content import Change, Content, Digest
from intake.reason_texts import Language, Text

MINUTE, HOUR = 60, 3600


def text(content: Content, language: Language, zone: ZoneInfo) -> str:
    """The whole message, a line for each thing; times are of this zone's clock."""
    return "\n".join(_lines(content, language, zone))


def subject(content: Content, language: Language) -> str:
    """The title of an e-mail."""
    if content.digest is not None:
        return texts.DIGEST_TITLE.of(language)
    if len(content.changes) == 1:
        return _filled(texts.ONE_SUBJECT, language, name=name(content.changes[0].name, language))
    if content.changes:
        return _filled(texts.SUBJECT, language, count=len(content.changes))
    return texts.TEST.of(language)


def name(condition: str, language: Language) -> str:
    """A condition in two words."""
    known = texts.NAMES.get(condition)
    return known.of(language) if known else condition


def _lines(content: Content, language: Language, zone: ZoneInfo) -> Iterator[str]:
    if content.digest is not None:
        yield from _digest(content.digest, language)
    for each in content.changes:
        yield change(each, language, zone)
        if each.references:
            yield _filled(texts.REFERENCES, language, references=", ".join(each.references))
    if content.digest is None and not content.changes:
        yield texts.TEST.of(language)
    yield _filled(texts.OPEN, language, link=content.link)


def change(each: Change, language: Language, zone: ZoneInfo) -> str:
    """One line."""
    since = datetime.fromisoformat(each.since).astimezone(zone).strftime("%d/%m %H:%M")
    known = texts.CONDITIONS.get(each.name)
    words = (
        texts.ENDED.get(each.name, texts.ENDED_OTHERWISE) if each.what == "ended" else known or texts.ENDED_OTHERWISE
    )
    more = texts.GREW.of(language) if each.what == "grew" else ""
    return more + _filled(
        words, language, name=name(each.name, language), subject=each.subject or texts.WHOLE.of(language),
        count=each.count, since=since,
    )  # fmt: skip


def _digest(digest: Digest, language: Language) -> Iterator[str]:
    yield texts.DIGEST_TITLE.of(language)
    yield _filled(texts.RECEIVED, language, count=digest.received)
    yield _filled(texts.IN_CRM, language, count=digest.in_crm)
    yield _filled(texts.ON_THEIR_WAY, language, count=digest.on_their_way)
    waiting = ", ".join(f"{count} {name(condition, language)}" for condition, count in digest.waiting.items())
    yield _filled(texts.WAITING, language, count=sum(digest.waiting.values())) + (f" ({waiting})" if waiting else "")
    if digest.channels:
        yield texts.TIMES.of(language)
        for each in digest.channels:
            kind = texts.KINDS[each.kind].of(language) if each.kind in texts.KINDS else each.kind
            yield f"- {kind}: {duration(each.p50)} / {duration(each.p95)} ({each.count})"
    yield _filled(texts.TRIES, language, count=f"{digest.attempts_per_lead:.1f}")
    yield _filled(
        texts.HUMAN, language, count=f"{digest.human_minutes_per_lead:.1f}",
        total=f"{digest.human_seconds / MINUTE:.0f}", measured=digest.measured, single=digest.single,
    )  # fmt: skip
    if digest.waited is not None:
        yield _filled(texts.WAITED, language, count=duration(digest.waited))
    yield _filled(texts.DECISIONS, language, count=digest.decisions)


def duration(seconds: float) -> str:
    """A span in its largest fitting unit."""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < HOUR else f"{seconds / HOUR:.1f} h"


def _filled(words: Text, language: Language, **values: object) -> str:
    filled = words.of(language)
    for key, value in values.items():
        filled = filled.replace(f"{{{key}}}", str(value))
    return filled
