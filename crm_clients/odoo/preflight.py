"""What Odoo can be asked about a database.

`fields_get` of a model describes its fields (`odoo/models.py`; `allfields`, `attributes`); stages are `crm.stage`,
what a destination calls a pipeline is a sales team, and types of activities are `mail.activity.type`.  Only numbers and
names are looked up: an external id may be hidden from the key's user.  Which records he sees, Odoo does not tell.
That the reference is unique rests on the external id, and not on the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from crm_clients import answers, readiness
from crm_clients.abilities import Aim, Question, Told
from crm_clients.base import Kind, Response
from crm_clients.odoo.wire import Value, Wire

WITH_FIELD = (Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK)


def questions(wire: Wire, models: Mapping[Kind, str], reference: str, aim: Aim) -> tuple[Question, ...]:
    """The field of each model, and the words of the destination."""
    described = {"allfields": [reference], "attributes": ["type"]}
    words = (
        ("pipeline", "crm.team", aim.pipeline),
        ("stage", "crm.stage", aim.stage),
        ("task type", "mail.activity.type", _by_name(aim.task_type)),
    )
    return (
        *(
            Question(
                wire.call(models[kind], "fields_get", described), partial(_field, wire, kind, models[kind], reference)
            )
            for kind in WITH_FIELD
        ),
        *(_word(wire, what, model, wanted) for what, model, wanted in words if wanted and "." not in wanted),
    )


def _by_name(task_type: str | None) -> str | None:
    """One word is half of an external id, which `drafts` completes."""
    return None if task_type is None or task_type.isalpha() else task_type


def _field(wire: Wire, kind: Kind, model: str, reference: str, response: Response) -> tuple[Told, ...]:
    told = wire.read(response)
    described = told.value if isinstance(told, Value) else None
    if not isinstance(described, dict) or not all(isinstance(each, dict) for each in described.values()):
        return ()
    if reference in described:
        return (readiness.has_field(kind, reference),)
    remedy = f"make the text field {reference} of {model} (Settings, Technical, Fields)"
    return (readiness.lacks_field(kind, reference, remedy),)


def _word(wire: Wire, what: str, model: str, wanted: str) -> Question:
    number = wanted.isascii() and wanted.isdigit()
    domain: list[object] = [["id", "=", int(wanted)] if number else ["name", "=", wanted]]
    asked: dict[str, object] = {"domain": domain, "fields": ["id"], "limit": 2}
    return Question(wire.call(model, "search_read", asked), partial(_found, wire, what, wanted))


def _found(wire: Wire, what: str, wanted: str, response: Response) -> tuple[Told, ...]:
    told = wire.read(response)
    rows = answers.rows(told.value) if isinstance(told, Value) else None
    return () if rows is None else readiness.one_of(what, wanted, [wanted] if rows else [])
