"""What Odoo's answers to writes mean.

An exception discards the transaction of its call ("Transaction" in the 19.0 documentation; `odoo/service/model.py` of
17.0, `retrying`), so that it is surely not executed, if it is Odoo that says so.  A 5xx is doubt all the same: the same
number comes from a proxy, and what an exception outside the call's transaction leaves behind is nowhere documented.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Duplicate, Rejected, Response, Retry, Unsure, Written
from crm_clients.odoo.wire import Raised, Told, Value, Wire

# Full names of exceptions (odoo/exceptions.py; json2.py and ir_http.py of 19.0; seen on 17.0 and 11.0, 2026-11-29).
CREDENTIAL = frozenset({
    "odoo.exceptions.AccessDenied", "werkzeug.exceptions.Unauthorized", "odoo.http.SessionExpiredException",
})  # fmt: skip
RIGHTS = frozenset({"odoo.exceptions.AccessError", "werkzeug.exceptions.Forbidden"})
INVALID: Mapping[str, str] = {
    "odoo.exceptions.ValidationError": "validation",
    "odoo.exceptions.UserError": "validation",
    "odoo.exceptions.RedirectWarning": "validation",
    "odoo.exceptions.MissingError": "gone",
    "werkzeug.exceptions.UnprocessableEntity": "validation",
    "werkzeug.exceptions.BadRequest": "validation",
    "builtins.ValueError": "validation",
    "builtins.TypeError": "validation",
    "builtins.KeyError": "validation",
    "psycopg2.IntegrityError": "validation",
    "psycopg2.errors.NotNullViolation": "validation",
    "psycopg2.errors.ForeignKeyViolation": "validation",
}
# The whole account is not there: the database, or the CRM app in it.
ABSENT_ACCOUNT = frozenset({"psycopg2.OperationalError", "werkzeug.exceptions.NotFound"})
PASSING = frozenset({
    "psycopg2.errors.SerializationFailure", "psycopg2.errors.LockNotAvailable", "psycopg2.errors.DeadlockDetected",
    "odoo.exceptions.LockError",
})  # fmt: skip

# Texts of `load`, which catches PostgreSQL's errors itself (seen on 17.0 and 11.0, 2026-11-29).
CONCURRENT = "could not serialize access"
TAKEN = "ir_model_data"  # the unique index of external ids: somebody else's call made it just now


def created(wire: Wire, response: Response) -> Written:
    """`load` tells the ids, or `false` and why; with an external id that stands already, the id of what stands."""
    told = wire.read(response)
    if not isinstance(told, Value):
        return _unwritten(told, response)
    body = answers.mapping(told.value)
    ids = body.get("ids")
    if isinstance(ids, list) and len(ids) == 1 and (crm_id := answers.record_id(ids[0])):
        return Confirmed(crm_id)
    errors = _errors(body) if ids is False else ()
    return _not_loaded(errors) if errors else answers.doubtful(response)


def _errors(body: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    listed = answers.rows(body.get("messages")) or ()
    wrong = [each for each in listed if each.get("type") == "error" and isinstance(each.get("message"), str)]
    return tuple((answers.text(each.get("field")) or "record", answers.text(each.get("message"))) for each in wrong)


def _not_loaded(errors: tuple[tuple[str, str], ...]) -> Written:
    for _, rule in errors:
        if CONCURRENT in rule:
            return Retry("concurrent_update", passing=True)
        if TAKEN in rule:
            return Duplicate("reference")
    return Rejected("validation", tuple((name, answers.rule(rule)) for name, rule in errors))


def updated(wire: Wire, crm_id: str, response: Response) -> Written:
    """`write` returns true."""
    told = wire.read(response)
    if isinstance(told, Value):
        return Confirmed(crm_id) if told.value is True else answers.doubtful(response)
    return _unwritten(told, response)


def _unwritten(told: Told, response: Response) -> Written:
    if response.status == HTTPStatus.TOO_MANY_REQUESTS:
        # Odoo has no limit of its own; a proxy that says so has handed nothing on (RFC 6585, section 4).
        return answers.rate_limited(response)
    if not isinstance(told, Raised):
        return answers.doubtful(response)
    if told.name in INVALID:
        return Rejected(INVALID[told.name], (("message", answers.rule(told.message)),))
    if told.name in PASSING or CONCURRENT in told.message:
        return Retry("concurrent_update", passing=True)
    reason = _of_account(told)
    return answers.doubtful(response) if reason is None else Retry(reason, scope="account")


def _of_account(told: Raised) -> str | None:
    if told.name in CREDENTIAL:
        return "bad_credential"
    if told.name in RIGHTS:
        return "forbidden"
    return "account_missing" if told.name in ABSENT_ACCOUNT else None


def no_look(told: Told, response: Response) -> Unsure:
    """An answer that tells nothing about a record."""
    reason = _of_account(told) if isinstance(told, Raised) else None
    if reason is not None:
        return Unsure(reason, scope="account")
    return Unsure("refused") if isinstance(told, Raised) else answers.no_look(response)
