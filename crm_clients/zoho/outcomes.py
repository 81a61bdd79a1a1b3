"""What Zoho's answers to writes mean.

Zoho's own answers are known by their `code`, inside `data[0]` or at the top; the codes are those of `API_Exception` in
`crm-oas`, v8.0 `record.json` (45dff2c, 2025-06-27).  That description knows the status 200 only; 201, 202, 207, 400,
401, 403 and 404 were met by public programs, so that the code decides, whichever of these it comes with.

    code                                              meaning                            here
    SUCCESS                                           the id stands in `details`         Confirmed
    DUPLICATE_DATA                                    a unique value is another's        Duplicate, by whose value
    INVALID_DATA, MANDATORY_NOT_FOUND, ... (REFUSED)  a value that is not valid          Rejected validation
    RECORD_IN_BLUEPRINT, ... (STANDING)               the record's state forbids it      Rejected record_locked
    INVALID_DATA "the id given seems to be invalid"   no such record                     Rejected gone (updates)
    OAUTH_SCOPE_MISMATCH                              the token may not do this          Rejected token_scope
    INVALID_TOKEN, AUTHENTICATION_FAILURE             the token is over                  Retry, account
    NO_PERMISSION                                     forbidden                          Retry, account
    LIMIT_EXCEEDED, ... (LIMITS)                      limits of the account              Retry, account
    status 429 (credits, or calls at once: not told)  limit of calls                     Retry, passing
    INTERNAL_ERROR, any other code or status, none                                       doubt

That a refusal with a code comes before anything is written is inferred from its words.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from crm_clients import answers
from crm_clients.base import Confirmed, Duplicate, Kind, Rejected, Response, Retry, Written

# Statuses with which Zoho's own codes come.
SPOKEN = frozenset({200, 201, 202, 207, 400, 401, 403, 404})

REFUSED = frozenset(
    {"INVALID_DATA", "MANDATORY_NOT_FOUND", "PATTERN_NOT_MATCHED", "DEPENDENT_FIELD_MISSING", "DATA_MISMATCH"}
    | {"MAPPING_MISMATCH", "EXPECTED_FIELD_MISSING", "REQUIRED_PARAM_MISSING", "INVALID_MODULE", "NOT_SUPPORTED"}
)
STANDING = frozenset(
    {"RECORD_IN_BLUEPRINT", "RECORD_LOCKED", "NOT_APPROVED", "CONVERTED_RECORD", "ID_ALREADY_CONVERTED", "NOT_ALLOWED"}
    | {"CANNOT_PERFORM_ACTION"}
)
TOKEN = frozenset({"INVALID_TOKEN", "AUTHENTICATION_FAILURE"})
LIMITS = frozenset({"LIMIT_EXCEEDED", "LIMIT_REACHED", "STORAGE_SPACE_EXCEEDED"})

NO_SUCH_ID = frozenset(
    {"the id given seems to be invalid", "the id given seems to be invalid.", "given id is invalid"}
    | {"the given id seems to be invalid"}
)
# There is no such record: by id, or by the value of an external field.
NOBODY = NO_SUCH_ID | {
    "The value of the external field is invalid.",
    "There is no data for the ID specified or there is no matching record in the given module.",
    "no record found to update",
}
NOTHING = frozenset({"NO_CONTENT", "NO_RECORDS_FOUND"})

# Fields by which a duplicate of Zoho's own rules is known.
RULES = {"Email": "email", "Phone": "phone", "Mobile": "phone"}


def told(response: Response) -> Mapping[str, object]:
    """What Zoho says of the one record: `data[0]`, or the whole answer; {} where it is not Zoho's own."""
    body = answers.json_object(response)
    if body is None or response.status not in SPOKEN:
        return {}
    rows = answers.rows(body.get("data"))
    one = body if rows is None else (rows[0] if len(rows) == 1 else {})
    return one if answers.text(one.get("code")) else {}


def code_of(response: Response) -> str:
    """Zoho's word for the outcome, "" where the answer is not its own."""
    return answers.text(told(response).get("code"))


def created(kind: Kind, response: Response, reference: str) -> Written:  # noqa: ARG001 - all kinds answer alike
    """The id stands in `details`, whatever the status."""
    said = told(response)
    crm_id = answers.record_id(answers.mapping(said.get("details")).get("id"))
    if _is_done(said, response) and crm_id is not None:
        return Confirmed(crm_id)
    return _unwritten(response, said, reference)


def updated(kind: Kind, crm_id: str, response: Response, reference: str) -> Written:
    """As a create, of the record that was asked for."""
    if code_of(response) == "INVALID_DATA" and is_gone(response):
        return Rejected("gone")
    written = created(kind, response, reference)
    if isinstance(written, Confirmed) and written.crm_id != crm_id:
        return answers.doubtful(response, written.crm_id)
    return written


def is_gone(response: Response) -> bool:
    """Whether Zoho itself says that there is no such record, or none that is not in the recycle bin."""
    if response.status == HTTPStatus.NO_CONTENT and not response.body:
        return True
    said = told(response)
    code, message = answers.text(said.get("code")), answers.text(said.get("message"))
    return code in NOTHING or (code == "INVALID_DATA" and message in NOBODY)


def _is_done(said: Mapping[str, object], response: Response) -> bool:
    return answers.succeeded(response) and said.get("code") == "SUCCESS" and said.get("status") == "success"


def _unwritten(response: Response, said: Mapping[str, object], reference: str) -> Written:
    code = answers.text(said.get("code"))
    means: Written = answers.doubtful(response)
    if response.status == HTTPStatus.TOO_MANY_REQUESTS and answers.json_object(response) is not None:
        means = answers.rate_limited(response)
    elif code == "DUPLICATE_DATA":
        means = _duplicate(said, reference)
    elif code in REFUSED:
        means = Rejected("validation", ((_field(said) or "data", code),))
    elif code in STANDING:
        means = Rejected("record_locked", (("code", code),))
    elif code == "OAUTH_SCOPE_MISMATCH":
        means = Rejected("token_scope", (("detail", code),))
    elif code in TOKEN:
        means = Retry("bad_credential", scope="account")
    elif code == "NO_PERMISSION":
        means = Retry("forbidden", scope="account")
    elif code in LIMITS:
        means = Retry("plan_limit", scope="account")
    return means


def _field(said: Mapping[str, object]) -> str:
    details = answers.mapping(said.get("details"))
    return answers.text(details.get("api_name")) or answers.text(details.get("param_name"))


def _duplicate(said: Mapping[str, object], reference: str) -> Duplicate:
    """The record that has the value is named in either of two places."""
    details = answers.mapping(said.get("details"))
    first = answers.mapping(details.get("duplicate_record"))
    crm_id = answers.record_id(first.get("id")) or answers.record_id(details.get("id"))
    field = _field(said)
    if field == reference or answers.text(said.get("message")) == "The external field contains duplicate data.":
        return Duplicate("reference", crm_id)
    match RULES.get(field):
        case "email":
            return Duplicate("email", crm_id)
        case "phone":
            return Duplicate("phone", crm_id)
        case _:
            return Duplicate("other", crm_id)
