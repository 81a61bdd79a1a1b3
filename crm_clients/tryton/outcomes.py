"""What Tryton's answers to writes mean.

- 400 with a JSON `message` is a rule of Tryton's that was broken: it is raised inside the transaction, which is then
  rolled back (`user_application` and `with_transaction` in trytond/protocols/wrappers.py of 8.2.1, 2026-11-29).
- 401 comes before the model is called (the same); RFC 9110, section 15.5.2, says as much of any 401.
- 404 is HTML, whoever says it, and so is 500, which also comes after the commit, when a task that the write queued
  fails (`run_task`).
- 204 is "done, and you may not read it" (`create` in trytond/protocols/rest.py).
"""

from __future__ import annotations

import re
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Duplicate, Rejected, Response, Retry, Written

# The whole message where a party's code exists; in English, which every request asks for.
TAKEN = "The code on party must be unique."

_FIELD = re.compile(r'\bfield "([\w ]{1,60})"')


def created(response: Response) -> Written:
    """A create answers with the record."""
    body = answers.json_object(response) or {}
    crm_id = answers.record_id(body.get("id"))
    if response.status == HTTPStatus.OK and crm_id is not None:
        return Confirmed(crm_id)
    return _unwritten(response)


def updated(crm_id: str, response: Response) -> Written:
    """An update answers with the record, too."""
    body = answers.json_object(response) or {}
    if response.status == HTTPStatus.OK and answers.record_id(body.get("id")) == crm_id:
        return Confirmed(crm_id)
    return _unwritten(response)


def _unwritten(response: Response) -> Written:
    match response.status:
        case HTTPStatus.BAD_REQUEST:
            return _refused(response)
        case HTTPStatus.UNAUTHORIZED:
            return Retry("bad_credential", scope="account")
        case HTTPStatus.TOO_MANY_REQUESTS:
            return answers.rate_limited(response)
        case _:
            return answers.doubtful(response)


def _refused(response: Response) -> Written:
    """The message names the field in words, and quotes values, which may be a person's."""
    body = answers.json_object(response) or {}
    said = answers.text(body.get("message"))
    if body.get("status") != HTTPStatus.BAD_REQUEST or not said:
        return answers.doubtful(response)
    if said == TAKEN:
        return Duplicate("reference")
    field = _FIELD.search(said)
    return Rejected("validation", ((field.group(1) if field else "message", answers.rule(said)),))
