"""Every route of the API: its path, what it reads and answers, and what it needs; OpenAPI is made of this table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from flask import Response, request
from marshmallow import Schema, ValidationError

from intake.api.gate import Document, needs
from intake.api.problems import Problem
from intake.desk.roles import Permission

# What a schema gives; each is read by its name at once.
Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Route:
    """`path` as Flask writes it.  `asks`: its query (GET) or body (POST), which `view` takes with the arguments."""

    method: str
    path: str
    name: str
    summary: str
    needs: Permission
    asks: Schema
    answers: Schema
    view: Callable[..., object]

    def serve(self) -> Callable[..., Response]:
        """The view, behind the gate, between its schemas."""

        @needs(self.needs)
        def served(**arguments: object) -> Document:
            document: Document = self.answers.dump(self.view(self._given(), **arguments))
            return document

        return served

    def _given(self) -> Given:
        """What was asked, checked.  Raises Problem."""
        try:
            given: Given = self.asks.load(_query() if self.method == "GET" else _body())
        except ValidationError as wrong:
            messages = wrong.messages if isinstance(wrong.messages, dict) else {"body": wrong.messages}
            rules = {str(name): _rule(said) for name, said in messages.items()}
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", more={"fields": rules}) from None
        return given


def _rule(said: object) -> str:
    """The first rule that a field breaks, without its value."""
    while isinstance(said, list | dict) and said:
        said = next(iter(said.values())) if isinstance(said, dict) else said[0]
    return str(said)


def _query() -> Mapping[str, Any]:
    document = request.args.to_dict()
    _must_be_storable(document)
    return document


def _body() -> Mapping[str, Any]:
    try:
        document = request.get_json(silent=True)
    except RecursionError:
        document = None
    if not isinstance(document, dict):
        raise Problem(HTTPStatus.BAD_REQUEST, "bad_request", "The body is a JSON object, sent as application/json.")
    _must_be_storable(document)
    return document


def _must_be_storable(document: Mapping[str, object]) -> None:
    """Neither can stand in a database's text.  Raises Problem."""
    waiting: list[object] = list(document.values())
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and ("\x00" in value or any("\ud800" <= each <= "\udfff" for each in value)):
            raise Problem(HTTPStatus.BAD_REQUEST, "bad_request", "A text holds what no text may.")
