"""What Tryton can be asked about a database: whether the modules are activated that records are made in.

A model that is not there is answered with 500, and its name as the text of a page (seen on 8.2, 2026-11-29).  Fields of
its own for the reference are not needed, and words are not looked up: its API does not describe fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from crm_clients import answers
from crm_clients.abilities import Question, Told
from crm_clients.base import Kind, Request, Response

MODULES: Mapping[Kind, str] = {
    Kind.CONTACT: "party",
    Kind.OPPORTUNITY: "sale_opportunity",
    Kind.TASK: "project",
    Kind.NOTE: "ir",
}


def questions(nothing_of: Mapping[Kind, Request]) -> tuple[Question, ...]:
    """A search in each model that finds nothing."""
    return tuple(Question(request, partial(_module, kind)) for kind, request in nothing_of.items())


def _module(kind: Kind, response: Response) -> tuple[Told, ...]:
    module, what = MODULES[kind], f"module {MODULES[kind]}"
    if response.status == 200 and answers.json_rows(response) is not None:  # noqa: PLR2004 - a list is 200 or none
        return (Told(what, ok=True, detail="is activated"),)
    model = {Kind.CONTACT: b"party.party", Kind.OPPORTUNITY: b"sale.opportunity", Kind.TASK: b"project.work"}.get(kind)
    if response.status == 500 and model is not None and model in response.body:  # noqa: PLR2004 - as seen
        return (Told(what, ok=False, detail="is not activated", remedy=f"activate the module {module} in Tryton"),)
    return ()
