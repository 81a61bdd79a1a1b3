"""What BottleCRM 1.35.0 can be asked about an account (its source, and a running server, 2026-11-29).

- `/profile/` is the token's own user.  An administrator sees all records, others what is theirs; a superuser of the
  server does too, which is not shown (`common/permissions.py`, `is_org_admin`).
- `/custom-fields/` lists the definitions, `POST` makes one, which only an administrator may.
- `/opportunities/pipelines/` lists the pipelines with their stages; a deal that names none goes to the default one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from crm_clients import answers, readiness
from crm_clients.abilities import Aim, Question, Told
from crm_clients.base import Kind, Request, Response
from crm_clients.bottlecrm.drafts import PRIORITIES

MODELS: Mapping[Kind, str] = {Kind.CONTACT: "Contact", Kind.OPPORTUNITY: "Opportunity", Kind.TASK: "Task"}
OF_AN_ADMINISTRATOR = "make the token as an administrator of the organization"


def questions(reference: str, aim: Aim) -> tuple[Question, ...]:
    """Who the token is, which fields there are, and which stages."""
    words = (Question(Request("GET", "/opportunities/pipelines/"), lambda answer: _place(aim, answer)),)
    return (
        Question(Request("GET", "/profile/"), lambda answer: _token(aim, answer)),
        Question(Request("GET", "/custom-fields/"), lambda answer: _fields(reference, answer)),
        *(words if aim.pipeline or aim.stage else ()),
    )


def _token(aim: Aim, response: Response) -> tuple[Told, ...]:
    """The words for a task are the same everywhere: its type is a priority."""
    role = answers.mapping((answers.json_object(response) or {}).get("user_obj")).get("role")
    if not answers.succeeded(response) or not isinstance(role, str):
        return ()
    seen = readiness.sees_all(is_admin=role == "ADMIN", remedy=OF_AN_ADMINISTRATOR)
    return (seen, *readiness.one_of("task type", aim.task_type, sorted(PRIORITIES)))


def _fields(reference: str, response: Response) -> tuple[Told, ...]:
    rows = answers.rows((answers.json_object(response) or {}).get("definitions"))
    if rows is None or not answers.succeeded(response):
        return ()
    ours = {row.get("target_model"): row.get("is_active") for row in rows if row.get("key") == reference}
    return tuple(_field(reference, kind, model, ours) for kind, model in MODELS.items())


def _field(reference: str, kind: Kind, model: str, ours: Mapping[object, object]) -> Told:
    if model not in ours:
        remedy = f"define the custom field {reference} (text) for {model}"
        return readiness.lacks_field(kind, reference, remedy, _definition(reference, model))
    if ours[model] is not True:
        return readiness.wrong_field(kind, f"{reference} is switched off", f"switch the custom field of {model} on")
    return readiness.has_field(kind, reference)


def _definition(reference: str, model: str) -> Request:
    body = {"target_model": model, "key": reference, "label": "External ref", "field_type": "text"}
    headers = (("Content-Type", "application/json"),)
    return Request("POST", "/custom-fields/", body=json.dumps(body).encode(), headers=headers)


def _place(aim: Aim, response: Response) -> tuple[Told, ...]:
    rows = answers.rows((answers.json_object(response) or {}).get("pipelines"))
    if rows is None or not answers.succeeded(response):
        return ()
    told = readiness.one_of("pipeline", aim.pipeline, (answers.text(row.get("id")) for row in rows))
    meant = [row for row in rows if (row.get("id") == aim.pipeline if aim.pipeline else row.get("is_default") is True)]
    if not meant:
        return told
    stages = answers.rows(meant[0].get("stages")) or ()
    return (*told, *readiness.one_of("stage", aim.stage, (answers.text(each.get("code")) for each in stages)))
