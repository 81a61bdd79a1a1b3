"""What Salesforce can be asked about an org.

`GET …/sobjects/X/describe` tells the fields that the token may see, with `externalId`, `unique` and `picklistValues`,
and the record types ("sObject Describe", developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/
resources_sobject_describe.htm; the members from memory).  Fields are made in Setup, or by another API than this one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial

from crm_clients import answers, readiness
from crm_clients.abilities import Aim, Question, Told
from crm_clients.base import Kind, Request, Response

WITH_FIELD = (Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK)
ID = 15  # the digits of an id that count; three more only check them

Fields = Mapping[str, Mapping[str, object]]


def questions(
    root: str, objects: Mapping[Kind, str], reference: str, enforced: Collection[Kind], aim: Aim
) -> tuple[Question, ...]:
    """The description of each object that keeps a reference."""
    return tuple(
        Question(
            Request("GET", f"{root}/sobjects/{objects[kind]}/describe"),
            partial(_described, kind, reference, kind in enforced, aim),
        )
        for kind in WITH_FIELD
    )


def _described(kind: Kind, reference: str, must_be_unique: bool, aim: Aim, response: Response) -> tuple[Told, ...]:
    body = answers.json_object(response) or {}
    rows = answers.rows(body.get("fields"))
    if not rows or not answers.succeeded(response):
        return ()
    named = {answers.text(row.get("name")): row for row in rows}
    types = answers.rows(body.get("recordTypeInfos")) or ()
    return (_reference(kind, reference, must_be_unique, named), *_words(kind, aim, named), *_types(kind, aim, types))


def _reference(kind: Kind, reference: str, must_be_unique: bool, named: Fields) -> Told:
    if reference not in named:
        remedy = f"make the text field {reference} (64, External ID, Unique), and let the token's user see it"
        return readiness.lacks_field(kind, reference, remedy)
    if must_be_unique and named[reference].get("unique") is not True:
        remedy = "tick Unique in the field's definition, or take the kind out of `enforced`"
        return readiness.wrong_field(kind, f"{reference} is not unique", remedy)
    return readiness.has_field(kind, reference)


def _words(kind: Kind, aim: Aim, named: Fields) -> Iterator[Told]:
    asked: Mapping[Kind, tuple[str, str, str | None]] = {
        Kind.OPPORTUNITY: ("stage", "StageName", aim.stage),
        Kind.TASK: ("task type", "Type", aim.task_type),
    }
    what, field, wanted = asked.get(kind, ("", "", None))
    listed = answers.rows(named.get(field, {}).get("picklistValues"))
    if listed:
        live = (each for each in listed if each.get("active") is not False)
        yield from readiness.one_of(what, wanted, (answers.text(each.get("value")) for each in live))


def _types(kind: Kind, aim: Aim, types: Collection[Mapping[str, object]]) -> Iterator[Told]:
    """What other CRMs call a pipeline is a record type; ids are compared without their check digits."""
    if kind is not Kind.OPPORTUNITY or not types or aim.pipeline is None:
        return
    ids = {answers.text(each.get("recordTypeId")): each for each in types if each.get("available") is not False}
    same = next((each for each in ids if each[:ID] == aim.pipeline[:ID]), None)
    yield from readiness.one_of("pipeline", aim.pipeline, [aim.pipeline] if same else list(ids))
