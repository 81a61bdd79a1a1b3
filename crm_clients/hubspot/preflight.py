"""What HubSpot can be asked about an account.

`GET /crm/v3/properties/{objectType}` lists the properties with `hasUniqueValue`, `groupName` and `options` (HubSpot's
OpenAPI files of 2026-08-21, "Read all properties"), `POST` makes one ("Create a property"); that it is unique can never
be changed.  `GET /crm/v3/pipelines/deals` lists the pipelines with their stages (developers.hubspot.com/docs/
api-reference/legacy/crm/pipelines/get-pipelines, 2026-11-29).  Which records a token sees, HubSpot does not tell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

from crm_clients import answers, readiness
from crm_clients.abilities import Aim, Question, Told
from crm_clients.base import Kind, Request, Response

# A property that every account has, in whose group the reference is put.
NEIGHBOURS: Mapping[Kind, str] = {
    Kind.CONTACT: "email",
    Kind.OPPORTUNITY: "dealname",
    Kind.TASK: "hs_task_subject",
    Kind.NOTE: "hs_note_body",
}

Rows = tuple[Mapping[str, object], ...]


def questions(root: str, objects: Mapping[Kind, str], reference: str, aim: Aim) -> tuple[Question, ...]:
    """The properties of each kind of record, and the pipelines."""
    properties = tuple(
        Question(
            Request("GET", f"{root}/properties/{objects[kind]}"),
            partial(_properties, f"{root}/properties/{objects[kind]}", kind, reference, aim),
        )
        for kind in objects
    )
    place = Question(Request("GET", f"{root}/pipelines/{objects[Kind.OPPORTUNITY]}"), partial(_place, aim))
    return (*properties, *((place,) if aim.pipeline or aim.stage else ()))


def _rows(response: Response) -> Rows | None:
    """Those that are not archived; None: it is no such list."""
    rows = answers.rows((answers.json_object(response) or {}).get("results"))
    if rows is None or not answers.succeeded(response):
        return None
    return tuple(row for row in rows if row.get("archived") is not True)


def _properties(path: str, kind: Kind, reference: str, aim: Aim, response: Response) -> tuple[Told, ...]:
    rows = _rows(response)
    if not rows:
        return ()
    named = {answers.text(row.get("name")): row for row in rows}
    told = (_reference(path, kind, reference, named),)
    if kind is not Kind.TASK or "hs_task_type" not in named:
        return told
    options = answers.rows(named["hs_task_type"].get("options")) or ()
    return (*told, *readiness.one_of("task type", aim.task_type, (answers.text(each.get("value")) for each in options)))


def _reference(path: str, kind: Kind, reference: str, named: Mapping[str, Mapping[str, object]]) -> Told:
    if reference not in named:
        group = answers.text(named.get(NEIGHBOURS[kind], {}).get("groupName"))
        remedy = f"make the property {reference} (single-line text, unique values)"
        return readiness.lacks_field(kind, reference, remedy, _definition(path, reference, group) if group else None)
    if named[reference].get("hasUniqueValue") is not True:
        remedy = "HubSpot lets nobody change that: make another with unique values, and name it as reference_field"
        return readiness.wrong_field(kind, f"{reference} is not unique", remedy)
    return readiness.has_field(kind, reference)


def _definition(path: str, reference: str, group: str) -> Request:
    body = {
        "name": reference,
        "label": "Lead reference",
        "type": "string",
        "fieldType": "text",
        "groupName": group,
        "hasUniqueValue": True,
    }
    return Request("POST", path, body=json.dumps(body).encode(), headers=(("Content-Type", "application/json"),))


def _place(aim: Aim, response: Response) -> tuple[Told, ...]:
    """A deal without a pipeline goes to `default` ("Pipelines", developers.hubspot.com); a stage is of one pipeline."""
    rows = _rows(response)
    if rows is None:
        return ()
    told = readiness.one_of("pipeline", aim.pipeline, (answers.text(row.get("id")) for row in rows))
    meant = [row for row in rows if row.get("id") == (aim.pipeline or "default")]
    if not meant:
        return told
    stages = [each for each in answers.rows(meant[0].get("stages")) or () if each.get("archived") is not True]
    return (*told, *readiness.one_of("stage", aim.stage, (answers.text(each.get("id")) for each in stages)))
