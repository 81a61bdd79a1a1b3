"""What every CRM client needs to read an answer: JSON, ids, amounts, `Retry-After`, and plain doubt.

Nothing here raises, whatever the bytes are.  Nothing here calls a write undone either: only a client may,
with its vendor's page cited beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from crm_clients.base import (
    Absent,
    ContactDraft,
    Found,
    Looked,
    Response,
    Retry,
    Seen,
    Several,
    Uncertain,
    Unsure,
)

DEEPEST = 32  # levels of nesting; no CRM answer comes near, and deeper ones are made to exhaust a stack
LONGEST_ID = 200
LONGEST_RULE = 200
MOST_DIGITS = 40
FEWEST_DIGITS = 8  # of two telephone numbers; a shorter run at the end of both may be chance
LONGEST_WAIT = timedelta(days=1)  # callers cap lower; this one keeps timedelta and the database from overflowing

_MARKER = re.compile(r"(?<!\s)\s*\[ref:([a-z0-9-]{1,64})\]\s*\Z")
_QUOTE = re.compile(r"""(?:^|(?<=[\s(=:]))["'`«“]""")
_AMOUNT = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", re.ASCII)


def json_object(response: Response) -> Mapping[str, object] | None:
    """The JSON object that the body is, decimals as Decimal; None for all else, NaN and deep nesting too."""
    value = json_value(response)
    return {key: item for key, item in value.items() if isinstance(key, str)} if isinstance(value, dict) else None


def json_rows(response: Response) -> tuple[Mapping[str, object], ...] | None:
    """The JSON list of objects that the body is; None for all else."""
    return rows(json_value(response))


def json_value(response: Response) -> object:
    """The JSON value that the body is, decimals as Decimal; None for `null` and all else, NaN and deep nesting too."""
    try:
        value: object = json.loads(response.body, parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return None if _depth(value) > DEEPEST else value


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def _depth(value: object) -> int:
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        level = [child for item in level for child in _children(item)]
        depth += 1
    return depth


def _children(value: object) -> Iterator[object]:
    match value:
        case dict():
            yield from value.values()
        case list():
            yield from value
        case _:
            return


def mapping(value: object) -> Mapping[str, object]:
    """A JSON object inside an answer, {} for anything else."""
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def rows(value: object) -> tuple[Mapping[str, object], ...] | None:
    """A JSON list of objects inside an answer; None if it is no list, or anything in it is no object."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    return tuple(mapping(item) for item in value)


def record_id(value: object) -> str | None:
    """An id as text, from a JSON string or whole number; None if it can be no id (empty, padded, huge...)."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    if isinstance(value, int):
        return str(value) if 0 < value < 10**18 else None
    readable = 0 < len(value) <= LONGEST_ID and value.isprintable() and value.strip() == value
    return value if readable else None


def text(value: object) -> str:
    """A JSON string that every database can keep (no NUL, no half surrogate pairs), "" for anything else."""
    if not isinstance(value, str):
        return ""
    return value.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def rule(message: object) -> str:
    """What a refusal says, up to the first value that it quotes: that may be a person's."""
    told, *quoted = _QUOTE.split(text(message).strip(), maxsplit=1)
    return f"{told[:LONGEST_RULE].rstrip()} …" if quoted else told[:LONGEST_RULE]


def full_name(*parts: object) -> str | None:
    """What a CRM shows of a person's name, as one text; None: nothing."""
    return " ".join(filter(None, (text(each).strip() for each in parts))) or None


def amount(value: object) -> str | None:
    """An amount in one canonical form, so that "1200.50" equals "1200.5"; None if it is no plain decimal."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return None
    written = format(value, "f") if isinstance(value, Decimal) and _plain(value) else str(value).strip()
    if not _AMOUNT.fullmatch(written):
        return None
    whole, _, fraction = written.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    number = ".".join(filter(None, (digits.lstrip("0") or "0", fraction.rstrip("0"))))
    return number if number == "0" else sign + number


def _plain(value: Decimal) -> bool:
    """Whether writing the number out in full stays short: 1E+999999 would be a megabyte of zeros."""
    return value.is_finite() and abs(value.adjusted()) < MOST_DIGITS and len(value.as_tuple().digits) < MOST_DIGITS


def retry_after(response: Response) -> timedelta | None:
    """What `Retry-After` asks for (RFC 9110, section 10.2.3), at most a day; None: nothing readable.

    A date is read against the answer's own `Date`, so that our clock and the server's need not agree.
    """
    asked = response.headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return min(timedelta(seconds=int(asked[:9])), LONGEST_WAIT)
    until, now = _http_date(asked), _http_date(response.headers.get("date", ""))
    if until is None or now is None:
        return None
    return min(max(until - now, timedelta(0)), LONGEST_WAIT)


def _http_date(value: str) -> datetime | None:
    try:
        read = parsedate_to_datetime(value)
        return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def doubtful(response: Response, *candidates: str) -> Uncertain:
    """An answer that leaves open whether the write was executed."""
    return Uncertain(reason=_status(response), candidates=candidates)


def no_look(response: Response) -> Unsure:
    """An answer that tells nothing about a record; 401, 403 and 429 are about the account."""
    match response.status:
        case 401 | 403:
            return Unsure("bad_credential", scope="account")
        case 429:
            return Unsure("rate_limited", after=retry_after(response), scope="account")
        case _:
            return Unsure(_status(response), after=retry_after(response))


def _status(response: Response) -> str:
    """The reason word for an answer: its status, or "unreadable" for a success that tells nothing."""
    return "unreadable" if succeeded(response) else f"status_{response.status}"


def rate_limited(response: Response) -> Retry:
    """A refusal that goes by itself: the limit of calls is used up."""
    return Retry("rate_limited", retry_after(response), scope="account", passing=True)


def succeeded(response: Response) -> bool:
    """Whether the status is a 2xx."""
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


# --- whose a record is -------------------------------------------------------------------------------------------


def under(reference: str, seen: Sequence[Seen], *, complete: bool) -> Looked:
    """What stands under a reference, of the records that a look showed; `complete`: it showed all that there are.

    One that lives outranks those that do not; two that live are an incident.
    """
    ours = [one for one in seen if one.reference == reference]
    alive = [one for one in ours if one.live]
    if len(alive) > 1:
        return Several(tuple(one.crm_id for one in alive))
    if ours:
        return Found((alive or ours)[0])
    return Absent() if complete else Unsure("more_than_one_page")


def marked(said: str, reference: str) -> str:
    """A text that ends with its reference, for records that have no field for it."""
    return f"{text(said)}\n\n[ref:{reference}]"


def unmarked(written: str) -> tuple[str, str | None]:
    """A text without its reference, and the reference; None: it has none at its end."""
    marker = _MARKER.search(written)
    return (written, None) if marker is None else (written[: marker.start()], marker.group(1))


def is_same_person(draft: ContactDraft, *, phones: Iterable[object], emails: Iterable[object]) -> bool:
    """Whether one of the phones or e-mails of a contact really is the draft's, however it is written."""
    phone, email = draft.phone, (draft.email or "").strip().casefold()
    return (phone is not None and any(is_same_phone(phone, text(each)) for each in phones)) or (
        bool(email) and any(text(each).strip().casefold() == email for each in emails)
    )


def is_same_phone(ours: str, theirs: str) -> bool:
    """Equal in digits, or one is the other without its country."""
    longer, shorter = sorted((digits(ours), digits(theirs).lstrip("0")), key=len, reverse=True)
    return len(shorter) >= FEWEST_DIGITS and longer.endswith(shorter)


def digits(phone: str) -> str:
    """The digits of a telephone number, without anything that people write between them."""
    return re.sub(r"[^0-9]", "", phone)
