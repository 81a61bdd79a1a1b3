"""What Zoho CRM can be asked about an account.

`GET /crm/v8/settings/fields?module=…` lists the fields of a module with `external` and `pick_list_values` (Zoho's
`crm-oas`, v8.0 `fields.json`, 45dff2c of 2025-06-27).  Which records a token sees is not in that file, nor can a field
be made external by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from crm_clients import answers, readiness
from crm_clients.abilities import Aim, Question, Told
from crm_clients.base import Kind, Request, Response

WITH_FIELD = (Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK)

Fields = Mapping[str, Mapping[str, object]]


def questions(root: str, modules: Mapping[Kind, str], reference: str, aim: Aim) -> tuple[Question, ...]:
    """The fields of each module that keeps a reference; those of deals and tasks tell their words, too."""
    return tuple(
        Question(
            Request("GET", f"{root}/settings/fields", (("module", modules[kind]),)),
            partial(_fields, kind, modules[kind], reference, aim),
        )
        for kind in WITH_FIELD
    )


def _fields(kind: Kind, module: str, reference: str, aim: Aim, response: Response) -> tuple[Told, ...]:
    rows = answers.rows((answers.json_object(response) or {}).get("fields"))
    if not rows or not answers.succeeded(response):
        return ()
    named = {answers.text(row.get("api_name")): row for row in rows}
    return (_reference(kind, module, reference, named), *_words(kind, aim, named))


def _reference(kind: Kind, module: str, reference: str, named: Fields) -> Told:
    if reference not in named:
        remedy = f"make the single-line field {reference} of {module}, and mark it as an external one"
        return readiness.lacks_field(kind, reference, remedy)
    if not answers.mapping(named[reference].get("external")):
        remedy = f"mark the field of {module} as an external one, of the organization"
        return readiness.wrong_field(kind, f"{reference} is not external", remedy)
    return readiness.has_field(kind, reference)


def _words(kind: Kind, aim: Aim, named: Fields) -> Iterator[Told]:
    """A type of task is its priority here.  Words are told only where the field has a list of them."""
    asked: Mapping[Kind, tuple[tuple[str, str, str | None], ...]] = {
        Kind.OPPORTUNITY: (("pipeline", "Pipeline", aim.pipeline), ("stage", "Stage", aim.stage)),
        Kind.TASK: (("task type", "Priority", aim.task_type),),
    }
    for what, field, wanted in asked.get(kind, ()):
        listed = answers.rows(named.get(field, {}).get("pick_list_values"))
        if listed:
            yield from readiness.one_of(what, wanted, (answers.text(each.get("actual_value")) for each in listed))
