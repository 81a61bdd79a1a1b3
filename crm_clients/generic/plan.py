"""The options of a CRM of one's own, read and checked: what is sent for each kind, and where answers have what.

An option that is about records may be said for one kind alone: `id` for all, `task_id` for tasks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from crm_clients.base import Kind
from crm_clients.generic import templates
from crm_clients.generic.pointers import Condition, conditions, pointer
from crm_clients.generic.suggested import (
    BODIES,
    CHANGEABLE,
    CHILDREN,
    CLOSED_WORDS,
    CONDITIONS,
    HOLES,
    POINTERS,
    REQUESTS,
    REST,
)
from crm_clients.generic.templates import Place
from crm_clients.options import BadSetting, Settings, currencies, kinds, one_of, only, seconds

_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,60}")


@dataclass(frozen=True, slots=True)
class Pointers:
    """Where a kind's answers have what; None: nowhere.  `negated`: `live` tells when a record is *not* live."""

    rows: str | None
    more: str | None
    total: str | None
    record: str | None
    id: str | None
    reference: str | None
    owner: str | None
    live: str | None
    contact: str | None
    title: str | None
    text: str | None
    amount: str | None
    currency: str | None
    closed: str | None
    phone: str | None
    email: str | None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class OfKind:
    """All about one kind of record."""

    create: Place
    body: str
    find: Place
    read: Place
    at: Pointers


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that the options say."""

    of: Mapping[Kind, OfKind]
    update: Place
    update_body: str
    matches: Mapping[str, Place]  # by phone and by email
    opportunities_of: Place | None
    control: Place
    control_ok: tuple[str, str] | None
    gone: tuple[Condition, ...]
    duplicate: tuple[Condition, ...]
    refused: tuple[Condition, ...]
    denied: tuple[Condition, ...]
    duplicate_id: str
    refused_fields: str
    enforced: frozenset[Kind]
    marker: frozenset[Kind]
    look: Literal["strong", "weak"]
    lag: timedelta
    limit: timedelta | None
    currencies: frozenset[str] | None
    closed_words: frozenset[str]
    auth_header: str
    auth_value: str
    key_header: str | None
    archived: bool


def plan(settings: Settings) -> Plan:
    """The plan of a destination's options.  Raises BadSetting."""
    plain = {name: value for name, value in settings.items() if not _is_of_one_kind(name)}
    only(plain, *REQUESTS, *BODIES, *POINTERS, *CONDITIONS, *REST)
    of = {kind: _of_kind(settings, kind) for kind in Kind}
    codes = currencies(settings, "currencies")
    marker = kinds(settings, "marker", of=CHILDREN)
    _check_markers(of, marker)
    return Plan(
        of=of,
        update=_request(settings, "opportunity_update", frozenset({"id"}), changes=True),
        update_body=_body(settings, "opportunity_update_body", CHANGEABLE),
        matches={name: place for name in ("phone", "email") if (place := _match(settings, name)) is not None},
        opportunities_of=_optional(settings, "opportunities_of", frozenset({"contact"})),
        control=_request(settings, "control", frozenset(), changes=False),
        control_ok=_equation(settings.get("control_ok", "/ok=true")),
        gone=conditions(_of(settings, "gone"), "gone"),
        duplicate=conditions(_of(settings, "duplicate"), "duplicate"),
        refused=conditions(_of(settings, "refused"), "refused"),
        denied=conditions(_of(settings, "denied"), "denied"),
        duplicate_id=pointer(settings.get("duplicate_id", "/id"), "duplicate_id"),
        refused_fields=pointer(settings.get("refused_fields", "/fields"), "refused_fields"),
        enforced=kinds(settings, "enforced", of=tuple(Kind)),
        marker=marker,
        look="weak" if one_of(settings, "look", ("strong", "weak"), "strong") == "weak" else "strong",
        lag=seconds(settings, "lag_seconds") or timedelta(0),
        limit=seconds(settings, "limit_seconds"),
        currencies=frozenset(codes) if codes else None,
        closed_words=frozenset(_words(settings.get("closed_words", CLOSED_WORDS))),
        auth_header=_header(settings, "auth_header", "Authorization"),
        auth_value=_auth_value(settings),
        key_header=_header(settings, "key_header", "-") if settings.get("key_header") else None,
        archived=one_of(settings, "archived", ("seen", "hidden"), "seen") == "seen",
    )


def _is_of_one_kind(option: str) -> bool:
    """`task_id` is `id`, for tasks alone."""
    kind, _, name = option.partition("_")
    return kind in {each.value for each in Kind} and name in POINTERS


def _of(settings: Settings, name: str) -> str:
    """An option, or its default; "-" is none at all."""
    written = settings.get(name, {**REQUESTS, **BODIES, **POINTERS, **CONDITIONS}[name])
    return "" if written == "-" else written


def _of_kind(settings: Settings, kind: Kind) -> OfKind:
    looked = frozenset({"reference", "opportunity"} if kind in CHILDREN else {"reference"})
    written = HOLES[kind] - {"fields", "text", "marked_text"}
    return OfKind(
        create=_request(settings, f"{kind}_create", written, changes=True),
        body=_body(settings, f"{kind}_body", HOLES[kind]),
        find=_request(settings, f"{kind}_find", looked, changes=False),
        read=_request(settings, f"{kind}_read", frozenset({"id"}), changes=False),
        at=_pointers(settings, kind),
    )


def _check_markers(of: Mapping[Kind, OfKind], marker: frozenset[Kind]) -> None:
    """A reference has one place: a field, or the end of a text.  Raises BadSetting."""
    for kind, plan_ in of.items():
        marked = "marked_title" if kind is Kind.TASK else "marked_text"
        borne = {*templates.names(plan_.body), *templates.names(plan_.create.path)}
        borne |= {name for _, value in plan_.create.query for name in templates.names(value)}
        wanted = marked if kind in marker else "reference"
        if wanted not in borne:
            raise BadSetting(f"{kind}_body has no {{{wanted}}}, without which a record cannot be found again")
        if kind in marker and "opportunity" not in _holes_of(plan_.find):
            raise BadSetting(f"{kind}_find has no {{opportunity}}, whose records are to be listed")


def _holes_of(place: Place) -> set[str]:
    return {*templates.names(place.path), *(name for _, value in place.query for name in templates.names(value))}


def _request(settings: Settings, name: str, holes: frozenset[str], *, changes: bool) -> Place:
    return templates.place(_of(settings, name), name, holes, changes=changes)


def _optional(settings: Settings, name: str, holes: frozenset[str]) -> Place | None:
    return _request(settings, name, holes, changes=False) if _of(settings, name) else None


def _match(settings: Settings, name: str) -> Place | None:
    return _optional(settings, f"match_{name}", frozenset({name}))


def _body(settings: Settings, name: str, holes: frozenset[str]) -> str:
    return templates.body(_of(settings, name), name, holes)


def _pointers(settings: Settings, kind: Kind) -> Pointers:
    live = settings.get(f"{kind}_live", settings.get("live", POINTERS["live"]))
    told = {name: _pointer(settings, kind, name) for name in POINTERS if name != "live"}
    negated = live.startswith("!")
    at_live = None if live == "-" else pointer(live.removeprefix("!"), "live")
    return Pointers(**told, live=at_live, negated=negated)


def _pointer(settings: Settings, kind: Kind, name: str) -> str | None:
    option = f"{kind}_{name}" if f"{kind}_{name}" in settings else name
    written = settings.get(option, POINTERS[name])
    return None if written == "-" else pointer(written, option)


def _equation(written: str) -> tuple[str, str] | None:
    """`/ok=true`; None for "-".  Raises BadSetting."""
    if written == "-":
        return None
    path, equals, value = written.partition("=")
    if not equals:
        raise BadSetting("control_ok is no equation, as /ok=true is")
    return pointer(path.strip(), "control_ok"), value.strip()


def _header(settings: Settings, name: str, default: str) -> str:
    header = settings.get(name, default)
    if not _HEADER.fullmatch(header):
        raise BadSetting(f"{name} is no name of a header")
    return header


def _auth_value(settings: Settings) -> str:
    written = settings.get("auth_value", "Bearer {credential}")
    if "{credential}" not in written:
        raise BadSetting("auth_value has no {credential}")
    return written


def _words(written: str) -> Iterator[str]:
    yield from (each.strip().casefold() for each in written.split(",") if each.strip())
