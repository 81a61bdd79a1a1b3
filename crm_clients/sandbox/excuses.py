"""What is answered instead of the truth, fault by fault."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import format_datetime

from crm_clients.sandbox.faults import FAULTS, Asked, Rule
from crm_clients.sandbox.wire import Answer, as_json

HTML = {"Content-Type": "text/html; charset=utf-8"}
GARBAGE = Answer(200, b"<html><body>Maintenance</body></html>", HTML)
ELSEWHERE = Answer(302, b"", HTML | {"Location": "/elsewhere"})


def excuse(rule: Rule, asked: Asked, answer: Answer, now: datetime) -> Answer:
    """The answer under a fault; `answer` is what the execution gave, `now` what its `Date` header will say."""
    match rule.fault:
        case "garbage":
            return GARBAGE
        case "redirect":
            return ELSEWHERE
        case "no_id":
            return _without_id(answer)
        case "false_absent":
            return _absent(asked)
        case _:
            return _error(rule, answer, now)


def _without_id(answer: Answer) -> Answer:
    body = json.loads(answer.body)
    body.pop("id", None)
    return as_json(answer.status, body)


def _absent(asked: Asked) -> Answer:
    if asked.what == "find":
        return as_json(200, {"results": [], "more": False})
    return as_json(404, {"error": "not_found"})


def _error(rule: Rule, answer: Answer, now: datetime) -> Answer:
    match rule.fault:
        case "422":
            return as_json(422, {"error": "validation", "fields": dict(rule.fields) or {"title": "Refused."}})
        case "refuse_reference":
            return as_json(422, {"error": "validation", "fields": {"reference": "Refused."}})
        case "429":
            return as_json(429, {"error": "rate_limited"}).with_headers(_retry_after(rule, now))
        case _:
            status = FAULTS[rule.fault].status
            return answer if status is None else as_json(status, {"error": f"fault_{status}"})


def _retry_after(rule: Rule, now: datetime) -> Mapping[str, str]:
    if rule.retry_after is None:
        return {}
    if rule.retry_after_as == "seconds":
        return {"Retry-After": str(rule.retry_after)}
    return {"Retry-After": format_datetime(now + timedelta(seconds=rule.retry_after), usegmt=True)}
