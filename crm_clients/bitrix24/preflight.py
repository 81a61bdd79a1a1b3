"""What Bitrix24 can be asked about a portal (`bitrix24/b24restdocs`, 5988ed1 of 2026-08-21).

`profile` says whether the webhook's user is an administrator, who reads everything; of others it does not say what
their role reads.  `crm.category.list` lists the pipelines of deals, `crm.status.list` the stages of one, under
`DEAL_STAGE` for the first pipeline, number 0, and `DEAL_STAGE_n` for the others.  References stand in fields that
every portal has, and a task has no type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from crm_clients import answers, readiness
from crm_clients.abilities import Aim, Question, Told
from crm_clients.base import Request, Response

DEAL = 2
FIRST = "0"

Call = Callable[[str, Mapping[str, object]], Request]


def questions(call: Call, aim: Aim) -> tuple[Question, ...]:
    """Whose webhook it is, and the words of the destination."""
    asked = [Question(call("profile", {}), _user)]
    if aim.pipeline:
        asked.append(Question(call("crm.category.list", {"entityTypeId": DEAL}), partial(_pipeline, aim)))
    if aim.stage:
        directory = "DEAL_STAGE" if aim.pipeline in {None, FIRST} else f"DEAL_STAGE_{aim.pipeline}"
        asked.append(Question(call("crm.status.list", {"filter": {"ENTITY_ID": directory}}), partial(_stage, aim)))
    return tuple(asked)


def _user(response: Response) -> tuple[Told, ...]:
    is_admin = answers.mapping((answers.json_object(response) or {}).get("result")).get("ADMIN")
    if not answers.succeeded(response) or not isinstance(is_admin, bool):
        return ()
    if is_admin:
        return (readiness.sees_all(is_admin=True, remedy=""),)
    detail = "the webhook is no administrator's: see that its role reads all contacts, deals and tasks"
    return (Told("visibility", ok=True, detail=detail),)


def _pipeline(aim: Aim, response: Response) -> tuple[Told, ...]:
    """The first pipeline has the number 0."""
    result = answers.mapping((answers.json_object(response) or {}).get("result"))
    rows = answers.rows(result.get("categories"))
    if rows is None or not answers.succeeded(response):
        return ()
    return readiness.one_of("pipeline", aim.pipeline, (str(row.get("id")) for row in rows))


def _stage(aim: Aim, response: Response) -> tuple[Told, ...]:
    rows = answers.rows((answers.json_object(response) or {}).get("result"))
    if not rows or not answers.succeeded(response):
        return ()
    return readiness.one_of("stage", aim.stage, (answers.text(row.get("STATUS_ID")) for row in rows))
