"""What Pipedrive can be asked about an account (vendor's `client-nodejs` 97e5382, v32.2.1 of 2026-04-20).

Fields by their keys in v2 (`/dealFields/{key}`, `/personFields/{key}`), pipelines and stages by their ids in v2, types
of activities in v1 alone (`/activityTypes`, with `key_string`).  A field that is made gets a key of its own, which must
be written into the configuration: nothing is made here.  Which deals a token does not see, Pipedrive does not tell.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

from crm_clients import answers, readiness
from crm_clients.abilities import Aim, Question, Told
from crm_clients.base import Kind, Request, Response
from crm_clients.pipedrive.outcomes import is_done, is_gone


def questions(person_reference: str, deal_reference: str, deal_text: str, aim: Aim) -> tuple[Question, ...]:
    """The fields that keep references and text, and the words of the destination."""
    fields = (
        (Kind.CONTACT, "personFields", person_reference),
        (Kind.OPPORTUNITY, "dealFields", deal_reference),
        (Kind.OPPORTUNITY, "dealFields", deal_text),
    )
    asked = [
        Question(Request("GET", f"/api/v2/{path}/{quote(key, safe='')}"), partial(_field, kind, key))
        for kind, path, key in fields
    ]
    if aim.pipeline:
        asked.append(Question(_one("pipelines", aim.pipeline), partial(_one_there, "pipeline", aim.pipeline)))
    if aim.stage:
        asked.append(Question(_one("stages", aim.stage), partial(_stage, aim, aim.stage)))
    if aim.task_type:
        asked.append(Question(Request("GET", "/api/v1/activityTypes"), partial(_types, aim)))
    return tuple(asked)


def _one(path: str, crm_id: str) -> Request:
    return Request("GET", f"/api/v2/{path}/{quote(crm_id, safe='')}")


def _field(kind: Kind, key: str, response: Response) -> tuple[Told, ...]:
    data = answers.mapping((answers.json_object(response) or {}).get("data"))
    if is_gone(response):
        remedy = "make a text field there, and name its key in [destinations.options]"
        return (readiness.lacks_field(kind, key, remedy),)
    return (readiness.has_field(kind, key),) if is_done(response) and data.get("field_code") == key else ()


def _one_there(what: str, wanted: str, response: Response) -> tuple[Told, ...]:
    data = answers.mapping((answers.json_object(response) or {}).get("data"))
    if is_gone(response) or data.get("is_deleted") is True:
        return readiness.one_of(what, wanted, ())
    known = answers.record_id(data.get("id"))
    return readiness.one_of(what, wanted, (known,)) if is_done(response) and known == wanted else ()


def _stage(aim: Aim, stage: str, response: Response) -> tuple[Told, ...]:
    """A stage is of one pipeline."""
    told = _one_there("stage", stage, response)
    data = answers.mapping((answers.json_object(response) or {}).get("data"))
    of = answers.record_id(data.get("pipeline_id"))
    if all(each.ok for each in told) and aim.pipeline and of and of != aim.pipeline:
        return (Told("stage", ok=False, detail=f"{stage} is of pipeline {of}", remedy="name a stage of the pipeline"),)
    return told


def _types(aim: Aim, response: Response) -> tuple[Told, ...]:
    rows = answers.rows((answers.json_object(response) or {}).get("data"))
    if rows is None or not is_done(response):
        return ()
    live = (each for each in rows if bool(each.get("active_flag", True)))
    return readiness.one_of("task type", aim.task_type, (answers.text(each.get("key_string")) for each in live))
