"""What EspoCRM can be asked about itself, since 8.2.

`GET Metadata?key=entityDefs.Opportunity.fields.stage.options` gives one path of the metadata; "some data is stripped"
(docs.espocrm.com/development/api/metadata/, 2026-11-29), so that what is not shown may be there and hidden from the
API user: either must be mended.  That a path which is not there is `null` is inferred.  A version before 8.2 shows all
of it, whatever is asked, and tells nothing here.  Indexes are no part of what is shown, as far as anybody said.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from crm_clients import answers, readiness
from crm_clients.abilities import Aim, Question, Told
from crm_clients.base import Kind, Request, Response

WITH_FIELD = (Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK)
NOTHING = b"null"


def questions(entities: Mapping[Kind, str], reference: str, aim: Aim) -> tuple[Question, ...]:
    """The reference's field of each kind, and the options of stage and priority."""
    words = (
        ("stage", f"{entities[Kind.OPPORTUNITY]}.fields.stage.options", aim.stage),
        ("task type", f"{entities[Kind.TASK]}.fields.priority.options", aim.task_type),
    )
    return (
        *(
            Question(
                _metadata(f"{entities[kind]}.fields.{reference}"), partial(_field, kind, entities[kind], reference)
            )
            for kind in WITH_FIELD
        ),
        *(Question(_metadata(path), partial(_options, what, wanted)) for what, path, wanted in words if wanted),
    )


def _metadata(path: str) -> Request:
    return Request("GET", "/Metadata", (("key", f"entityDefs.{path}"),))


def _field(kind: Kind, entity: str, reference: str, response: Response) -> tuple[Told, ...]:
    if not answers.succeeded(response):
        return ()
    if response.body.strip() == NOTHING:
        remedy = f"make the field (Entity Manager, {entity}, Varchar), and let the API user's role see it"
        return (readiness.lacks_field(kind, reference, remedy),)
    is_field = isinstance((answers.json_object(response) or {}).get("type"), str)
    return (readiness.has_field(kind, reference),) if is_field else ()


def _options(what: str, wanted: str, response: Response) -> tuple[Told, ...]:
    listed = answers.json_value(response)
    if not answers.succeeded(response) or not isinstance(listed, list):
        return ()
    return readiness.one_of(what, wanted, (answers.text(each) for each in listed))
