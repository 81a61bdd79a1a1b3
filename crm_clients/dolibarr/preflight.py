"""What Dolibarr can be asked about a company, by its source (Dolibarr/dolibarr 20, read on 2026-11-29, never run).

    GET /users/info?includepermissions=1   the key's own user with his rights; 403 if he may not see himself
    GET /setup/modules                     the modules that are on, for administrators
    GET /setup/extrafields                 the extra fields of each kind of object by their codes, for administrators
    POST /setup/extrafields/{kind}/{code}  makes one, for administrators; whatever is not named counts as empty
    GET /setup/dictionary/event_types      the kinds of events that are on
    GET /users/{id}                        whoever gets the tasks of projects without an owner

A list shows what belongs to one's own customers only without `societe.client.voir` (`index` of all three classes), and
a project or an event of others is refused without `projet.all.lire` and `agenda.allactions.read`.

The opportunity statuses have no address in the API: a number is known to be one if a project stands at it, and else
nothing is told.  That a third party keeps `ref_ext` is told by a filter that Dolibarr takes; that it shows it again, by
the sentinel alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from http import HTTPStatus
from urllib.parse import quote

from crm_clients import answers, readiness
from crm_clients.abilities import Aim, Question, Told
from crm_clients.base import Kind, Request, Response
from crm_clients.dolibarr import sightings
from crm_clients.dolibarr.drafts import CALL, Company

SEES_ALL = ("societe.client.voir", "projet.all.lire", "agenda.allactions.read")
MAY_WRITE = ("societe.creer", "projet.creer", "agenda.myactions.create", "agenda.allactions.create")

# By the names of the source, of which some were renamed between versions.
MODULES: Mapping[str, frozenset[str]] = {
    "societe": frozenset({"societe", "thirdparty"}),
    "projet": frozenset({"projet", "project"}),
    "agenda": frozenset({"agenda"}),
}
PROJECTS = frozenset({"projet", "project"})


def questions(company: Company, aim: Aim, nobody: Request) -> tuple[Question, ...]:
    """`nobody`: a look for a third party under a reference that none has."""
    return (
        _asking("/users/info", (("includepermissions", "1"),), _rights),
        _asking("/setup/modules", (), _modules),
        Question(nobody, _reference),
        *_owner_field(company.owner_field),
        *_stage(aim.stage),
        _asking("/setup/dictionary/event_types", (("limit", "1000"),), partial(_task_type, aim.task_type or CALL)),
        _asking(f"/users/{quote(str(company.user), safe='')}", (), partial(_user, str(company.user))),
    )


def _asking(path: str, query: tuple[tuple[str, str], ...], read: Callable[[Response], tuple[Told, ...]]) -> Question:
    return Question(Request("GET", path, query), read)


# --- what the key's user may ------------------------------------------------------------------------------------------


def _rights(response: Response) -> tuple[Told, ...]:
    """An external user sees his own third party alone, whatever his rights are."""
    body = answers.json_object(response) if response.status == HTTPStatus.OK else None
    if body is None or not isinstance(body.get("rights"), dict):
        return ()
    lacks = _lacking(answers.mapping(body["rights"]), SEES_ALL)
    is_external = answers.record_id(body.get("socid")) not in {None, "0"}
    remedy = "take a user who is no external one" if is_external else f"give its user the rights {', '.join(lacks)}"
    return (
        readiness.sees_all(is_admin=not lacks and not is_external, remedy=remedy),
        _may_write(_lacking(answers.mapping(body["rights"]), MAY_WRITE)),
    )


def _may_write(lacks: Collection[str]) -> Told:
    if not lacks:
        return Told("rights", ok=True, detail="third parties, projects and events of others may be made")
    return Told("rights", ok=False, detail="some are missing", remedy=f"give the key's user {', '.join(lacks)}")


def _lacking(rights: Mapping[str, object], wanted: Collection[str]) -> tuple[str, ...]:
    return tuple(each for each in wanted if not _has(rights, each))


def _has(rights: Mapping[str, object], right: str) -> bool:
    at: object = rights
    for part in right.split("."):
        at = answers.mapping(at).get(part)
    return at in (1, "1", True)


# --- what is set up ---------------------------------------------------------------------------------------------------


def _modules(response: Response) -> tuple[Told, ...]:
    """A list of names; as PHP has it, an object with numbers for names would be one, too."""
    listed = answers.json_value(response) if response.status == HTTPStatus.OK else None
    names = list(listed.values()) if isinstance(listed, dict) else listed
    if not isinstance(names, list) or not names or not all(isinstance(each, str) for each in names):
        return ()
    return tuple(_module(module, on=not MODULES[module].isdisjoint(names)) for module in MODULES)


def _module(module: str, *, on: bool) -> Told:
    if on:
        return Told(f"module {module}", ok=True, detail="is activated")
    return Told(f"module {module}", ok=False, detail="is not activated", remedy=f"activate {module} (Setup, Modules)")


def _reference(response: Response) -> tuple[Told, ...]:
    return () if sightings.rows_of(response) is None else (readiness.has_field(Kind.CONTACT, "ref_ext"),)


def _owner_field(name: str | None) -> tuple[Question, ...]:
    return () if name is None else (_asking("/setup/extrafields", (), partial(_extra_field, name)),)


def _extra_field(name: str, response: Response) -> tuple[Told, ...]:
    """`{"projet": {"intake_owner": {...}}}`; a company without any extra field answers `[]`."""
    listed = answers.json_value(response)
    if response.status != HTTPStatus.OK or not (listed == [] or _are_fields(listed)):
        return ()
    kinds = answers.mapping(listed)
    if any(name in answers.mapping(kinds.get(each)) for each in PROJECTS):
        return (Told("owner_field", ok=True, detail=f"{name} is there"),)
    remedy = "make it (Setup, Projects, Complementary attributes), or name another in [destinations.options]"
    return (Told("owner_field", ok=False, detail=f"{name} is missing", remedy=remedy, mends=_makes(name)),)


def _makes(name: str) -> Request:
    """A whole number that a user's id fits into, and that people may change."""
    texts = dict.fromkeys(("default_value", "param", "perms", "help", "computed", "langfile"), "")
    field: dict[str, object] = {
        **texts,
        **dict.fromkeys(("unique", "required", "totalizable", "printable"), 0),
        "label": "Owner",
        "type": "int",
        "size": "10",
        "pos": 100,
        "alwayseditable": 1,
        "list": "1",
    }
    path = f"/setup/extrafields/projet/{quote(name, safe='')}"
    return Request("POST", path, body=json.dumps(field).encode(), headers=(("Content-Type", "application/json"),))


def _are_fields(listed: object) -> bool:
    """Each kind of object with its fields, each field with its type."""
    kinds = list(answers.mapping(listed).values())
    return bool(kinds) and all(
        isinstance(fields, dict) and all("type" in answers.mapping(each) for each in fields.values())
        for fields in kinds
    )


def _stage(stage: str | None) -> tuple[Question, ...]:
    """One project that stands there is enough; none proves nothing."""
    if stage is None or not (stage.isascii() and stage.isdigit()):
        return ()
    at_stage = (("sqlfilters", f"(t.fk_opp_status:=:'{stage}')"), ("limit", "1"))
    return (_asking("/projects", at_stage, partial(_stands_at, stage)),)


def _stands_at(stage: str, response: Response) -> tuple[Told, ...]:
    rows = sightings.rows_of(response) or ()
    stands = any(answers.record_id(row.get("opp_status")) == stage for row in rows)
    return (Told("stage", ok=True, detail=f"{stage} is there: a project stands at it"),) if stands else ()


def _task_type(wanted: str, response: Response) -> tuple[Told, ...]:
    rows = sightings.rows_of(response)
    codes = [answers.text(row.get("code")) for row in rows or ()]
    return readiness.one_of("task type", wanted, codes) if rows is not None and all(codes) else ()


def _user(user: str, response: Response) -> tuple[Told, ...]:
    """Who gets the tasks of projects without an owner."""
    there = sightings.is_user(user, response)
    if there is None:
        return ()
    detail = "can own events" if there else "is not there, or is switched off"
    remedy = "" if there else "name another in `user` of [destinations.options]"
    return (Told(f"user {user}", ok=there, detail=detail, remedy=remedy),)
