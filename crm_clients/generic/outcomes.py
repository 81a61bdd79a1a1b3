"""What the answers of a CRM of one's own to writes mean: only what its owner names is a refusal.

A 401 says that the request was not applied (RFC 9110, section 15.5.2), a 429 that it was one too many (RFC 6585,
section 4).  A refusal is a JSON object of the CRM's own; the same number in HTML is a proxy's, and doubt.
"""

from __future__ import annotations

from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Duplicate, Kind, Rejected, Response, Retry, Written
from crm_clients.generic.plan import Plan
from crm_clients.generic.pointers import Condition, at


def created(plan: Plan, kind: Kind, response: Response) -> Written:
    """Made, if the answer is a success and names the record."""
    crm_id = _named(plan, kind, response)
    return _unwritten(plan, response) if crm_id is None else Confirmed(crm_id)


def updated(plan: Plan, kind: Kind, crm_id: str, response: Response) -> Written:
    """Changed, if the answer is a success that names the same record."""
    return Confirmed(crm_id) if _named(plan, kind, response) == crm_id else _unwritten(plan, response)


def _named(plan: Plan, kind: Kind, response: Response) -> str | None:
    told = plan.of[kind].at
    if not answers.succeeded(response) or told.id is None:
        return None
    record = at(answers.json_value(response), told.record or "")
    return answers.record_id(at(record, told.id))


def _unwritten(plan: Plan, response: Response) -> Written:
    if response.status == HTTPStatus.TOO_MANY_REQUESTS:
        return answers.rate_limited(response)
    if response.status == HTTPStatus.UNAUTHORIZED:
        return Retry("bad_credential", scope="account")
    if _any(plan.denied, response):
        return Retry("forbidden", scope="account")
    if _any(plan.duplicate, response):
        return Duplicate("other", answers.record_id(at(answers.json_object(response), plan.duplicate_id)))
    if _any(plan.gone, response):
        return Rejected("gone")
    return _refused(plan, response) if _any(plan.refused, response) else answers.doubtful(response)


def _refused(plan: Plan, response: Response) -> Rejected:
    """With the fields, if the answer has an object of them: each with what is wrong."""
    told = answers.mapping(at(answers.json_object(response), plan.refused_fields))
    return Rejected("validation", tuple((answers.text(name), answers.rule(rule)) for name, rule in told.items()))


def _any(conditions: tuple[Condition, ...], response: Response) -> bool:
    return any(each.holds(response) for each in conditions)
