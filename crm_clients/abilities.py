"""What some CRMs can do besides, and most cannot: a client that can has the methods, and is asked whether it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Protocol, TypeGuard, runtime_checkable

from crm_clients.base import Account, Client, Kind, Request, Response, Seen


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a CRM's records of one kind.  `after` is where the next page begins, None: this is the last."""

    seen: tuple[Seen, ...]
    after: str | None


@runtime_checkable
class ListsReferences(Protocol):
    """A client whose CRM can list all records of a kind with the references that they bear.  Most cannot."""

    def all_of(self, kind: Kind, *, after: str | None) -> Request | None:
        """A page of all records of a kind; None: not of this kind.  `after`: `Page.after`, None: the first page."""

    def page_of(self, kind: Kind, response: Response, *, after: str | None) -> Page:
        """What stands on that page; a record without a reference may be left out.

        Raises UnreadableAnswer where the answer is no such page.
        """


@runtime_checkable
class FormsAccount(Protocol):
    """A client whose CRM takes a credential otherwise than as `Authorization: Bearer …`."""

    def account(self, name: str, base_url: str, credential: str) -> Account:
        """The account that requests go to.

        Raises ValueError, which does not show the credential, where it has not the form that the client's page names.
        """


@runtime_checkable
class TakesTokens(Protocol):
    """A client whose CRM takes an OAuth token otherwise than as `Authorization: Bearer …`."""

    def with_token(self, account: Account, token: str) -> Account:
        """The same account, to which requests go as whoever the token is of."""


@runtime_checkable
class KnowsUsers(Protocol):
    """A client that can ask whether a user of the CRM is still there to own something."""

    def user(self, owner: str) -> Request:
        """The request that tells it; `owner` as in the drafts."""

    def is_there(self, owner: str, response: Response) -> bool | None:
        """None: this answer does not tell."""


@runtime_checkable
class NamesPeople(Protocol):
    """A client that can ask how a contact is called: two people may have one telephone."""

    def asks_name(self, contact_id: str) -> Request:
        """The request that tells it."""

    def name_in(self, response: Response) -> str | None:
        """The whole name in a successful answer; None: it does not tell."""


@runtime_checkable
class Removes(Protocol):
    """A client that can take away what the contract probe made; no lead's record is ever removed."""

    def remove(self, kind: Kind, crm_id: str) -> Request | None:
        """The request that deletes one record, or puts it into the trash; None: not of this kind."""

    def removed(self, kind: Kind, response: Response) -> bool:
        """Whether it is away now, or was before."""


@runtime_checkable
class CancelsFirst(Protocol):
    """A client whose CRM removes some records only once they were cancelled."""

    def cancel(self, kind: Kind, crm_id: str) -> Request | None:
        """The request that does it; None: not needed for this kind."""


@runtime_checkable
class HasPages(Protocol):
    """A client whose CRM shows a record to people at an address that can be told from its id."""

    def page(self, kind: Kind, base_url: str) -> str | None:
        """That address, with "{id}" where the record's id goes; None: it has none, or nobody knows it.

        `base_url` is the account's, without a slash at its end.  No secret is in what comes out.
        """


@dataclass(frozen=True, slots=True)
class Aim:
    """What a destination names in its CRM, by the CRM's own ids and words.  None: it names none."""

    pipeline: str | None = None
    stage: str | None = None
    task_type: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that an answer tells of an account.

    `ok` False: `remedy` says what to do.  `mends`: the request that does it, None: a person must.
    """

    what: str
    ok: bool
    detail: str
    remedy: str = ""
    mends: Request | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A request that changes nothing, and what its answer tells.

    `read` takes whatever an HTTP server can answer, raises nothing, and gives () where that tells nothing.
    """

    request: Request
    read: Callable[[Response], tuple[Told, ...]]


@runtime_checkable
class Preflight(Protocol):
    """A client that can ask whether an account is ready: what the token sees, whether fields and words are there."""

    def questions(self, aim: Aim) -> tuple[Question, ...]:
        """All that the CRM can be asked about this; what it cannot tell is left out."""


CALLS = "calls"  # the bucket of every request that has none of its own


@dataclass(frozen=True, slots=True)
class Limit:
    """At most so many requests of one bucket in any `per`, by the vendor's own page."""

    calls: int
    per: timedelta
    bucket: str = CALLS


@runtime_checkable
class HasLimits(Protocol):
    """A client whose vendor publishes how many requests an account may send.  They only spare calls."""

    def limits(self) -> tuple[Limit, ...]:
        """The smallest that any plan has, where plans differ."""

    def bucket(self, request: Request) -> str:
        """The bucket in which this request counts."""


def has_limits(client: Client) -> TypeGuard[HasLimits]:
    """Whether its vendor publishes limits.  Asked around every call: a Protocol takes long to compare with."""
    return _of_those_with_limits(type(client))


@cache
def _of_those_with_limits(of: type[Client]) -> bool:
    return issubclass(of, HasLimits)
