"""JSON Pointers (RFC 6901) into an answer, and conditions made of a status and a pointer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Response
from crm_clients.options import BadSetting

_POINTER = re.compile(r"(/([^~/]|~[01])*)*")
_CONDITION = re.compile(r"(?P<status>[1-5][0-9]{2})(\s+(?P<pointer>/[^=\s]*)=(?P<value>.+))?")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


class Missing:
    """What a pointer finds where there is nothing."""


MISSING = Missing()


def pointer(written: str, option: str) -> str:
    """A pointer that can be one; "" is the whole answer.  Raises BadSetting."""
    if not _POINTER.fullmatch(written):
        raise BadSetting(f"{option} is no JSON Pointer, as /data/id is: {written!r}")
    return written


def at(value: object, path: str) -> object:
    """What stands there, MISSING where nothing does."""
    for step in path.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        match value:
            case dict() if name in value:
                value = value[name]
            case list() if _INDEX.fullmatch(name) and int(name) < len(value):
                value = value[int(name)]
            case _:
                return MISSING
    return value


def word(value: object) -> str:
    """A text, a number or a truth as a word to compare; "" for all else."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return answers.amount(value) or ""
        case _:
            return answers.text(value)


@dataclass(frozen=True, slots=True)
class Condition:
    """An answer with this status whose JSON has this value there; without a path, any JSON object."""

    status: int
    path: str | None = None
    value: str = ""

    def holds(self, response: Response) -> bool:
        """Whether it is such an answer.  What is no JSON object is some other server's."""
        body = answers.json_object(response)
        if response.status != self.status or body is None:
            return False
        return self.path is None or word(at(body, self.path)) == self.value


def conditions(written: str, option: str) -> tuple[Condition, ...]:
    """`422 /error=validation; 400 /code=invalid`; () where nothing is written.  Raises BadSetting."""
    return tuple(_condition(each.strip(), option) for each in written.split(";") if each.strip())


def _condition(written: str, option: str) -> Condition:
    found = _CONDITION.fullmatch(written)
    if found is None or int(found["status"]) not in _REFUSALS:
        raise BadSetting(f"{option} is no condition, as 422 /error=validation is, with a status of 4xx: {written!r}")
    path = None if found["pointer"] is None else pointer(found["pointer"], option)
    return Condition(int(found["status"]), path, (found["value"] or "").strip())


# A 408 and a 5xx are never a refusal, whoever says it.
_REFUSALS = frozenset(range(400, 500)) - {int(HTTPStatus.REQUEST_TIMEOUT)}
