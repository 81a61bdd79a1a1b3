"""What Kommo can be asked about an account (vendor's `amocrm-api-php` 1354d8a of 2026-04-14).

Custom fields by their numbers, pipelines with their stages as `_embedded.statuses`, types of tasks with the account
(`with=task_types`).  A field that is made gets a number of its own, which must be written into the configuration:
nothing is made here.  What a token's user may not see, Kommo does not tell.  An empty list is 204 without a body.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus

from crm_clients import answers, readiness
from crm_clients.abilities import Aim, Question, Told
from crm_clients.base import Kind, Request, Response
from crm_clients.kommo.drafts import Fields

GONE = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND})


def questions(fields: Fields, aim: Aim) -> tuple[Question, ...]:
    """The fields that keep references and text, and the words of the destination."""
    places = (
        (Kind.CONTACT, "contacts", fields.contact),
        (Kind.OPPORTUNITY, "leads", fields.lead),
        (Kind.OPPORTUNITY, "leads", fields.text),
    )
    asked = [
        Question(Request("GET", f"/api/v4/{plural}/custom_fields/{field}"), partial(_field, kind, field))
        for kind, plural, field in places
    ]
    if aim.pipeline or aim.stage:
        asked.append(Question(Request("GET", "/api/v4/leads/pipelines"), partial(_place, aim)))
    if aim.task_type:
        asked.append(Question(Request("GET", "/api/v4/account", (("with", "task_types"),)), partial(_types, aim)))
    return tuple(asked)


def _field(kind: Kind, field: int, response: Response) -> tuple[Told, ...]:
    if response.status in GONE:
        remedy = "make a text field there, and name its number in [destinations.options]"
        return (readiness.lacks_field(kind, f"field {field}", remedy),)
    is_it = answers.succeeded(response) and (answers.json_object(response) or {}).get("id") == field
    return (readiness.has_field(kind, f"field {field}"),) if is_it else ()


def _embedded(of: Mapping[str, object], name: str) -> tuple[Mapping[str, object], ...] | None:
    return answers.rows(answers.mapping(of.get("_embedded")).get(name))


def _ids(rows: tuple[Mapping[str, object], ...]) -> list[str]:
    return [answers.record_id(row.get("id")) or "" for row in rows]


def _place(aim: Aim, response: Response) -> tuple[Told, ...]:
    """A lead without a pipeline goes to the main one."""
    rows = _embedded(answers.json_object(response) or {}, "pipelines")
    if rows is None or not answers.succeeded(response):
        return ()
    told = readiness.one_of("pipeline", aim.pipeline, _ids(rows))
    named = {answers.record_id(row.get("id")): row for row in rows}
    main = next((row for row in rows if row.get("is_main") is True), None)
    meant = named.get(aim.pipeline) if aim.pipeline else main
    stages = None if meant is None else _embedded(meant, "statuses")
    return told if stages is None else (*told, *readiness.one_of("stage", aim.stage, _ids(stages)))


def _types(aim: Aim, response: Response) -> tuple[Told, ...]:
    rows = _embedded(answers.json_object(response) or {}, "task_types")
    if rows is None or not answers.succeeded(response):
        return ()
    return readiness.one_of("task type", aim.task_type, _ids(rows))
