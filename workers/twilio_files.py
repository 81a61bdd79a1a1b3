"""A file of Twilio: asked for by its ids with the account's credential, which goes to Twilio's API and nowhere else.

Twilio sends on to a signed address of its CDN, which wants no credential and gets none.
Source: www.twilio.com/docs/messaging/api/media-resource (HTTP Basic for all media: an API key and its secret, or the
account and its auth token).
"""

from __future__ import annotations

import base64
import re
from http import HTTPStatus
from typing import assert_never

from crm_clients.answers import retry_after, succeeded
from crm_clients.base import Account, Request, Response
from crm_clients.transport import Answered, NotSent, Unanswered
from intake.config import Source
from intake.lead import Media
from workers import graph
from workers.addresses import ANY_TYPE, mime_type, place
from workers.desk import Desk

# As `intake.sources.twilio_content` names it.
IDS = re.compile(r"(AC[0-9a-zA-Z]{32})/([A-Z]{2}[0-9a-zA-Z]{32})/(ME[0-9a-zA-Z]{32})", re.ASCII)
MOST_HOPS = 3
REDIRECTS = frozenset({HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.FOUND, HTTPStatus.SEE_OTHER,
                       HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT})  # fmt: skip
REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})

FileRead = graph.Read | graph.GotFile | graph.Never


def read(desk: Desk, source: Source, file: Media) -> FileRead:
    """The file that has these ids."""
    ids = IDS.fullmatch(file.id or "")
    if ids is None:
        return graph.Never("media_elsewhere")
    account, message, name = ids.groups()
    there = Account(source.name, source.media_url, (("Authorization", _basic(source, account)),))
    request = Request("GET", f"/2010-04-01/Accounts/{account}/Messages/{message}/Media/{name}", headers=ANY_TYPE)
    found = _ask(desk, there, request)
    for _ in range(MOST_HOPS):
        if not isinstance(found, Response) or found.status not in REDIRECTS:
            break
        lies = place(found.headers.get("location", ""), source.media_hosts)
        if lies is None:
            return graph.Never("media_elsewhere")
        there = Account(source.name, lies.base_url)
        found = _ask(desk, there, lies.request)
    return _meaning(source, there, found, file) if isinstance(found, Response) else found


def _basic(source: Source, account: str) -> str:
    """The auth token alone is the account's; an API key comes with its secret, as `SK…:secret`."""
    told = (source.media_token.value if source.media_token else None) or ""
    pair = told if ":" in told else f"{account}:{told}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _ask(desk: Desk, there: Account, request: Request) -> Response | graph.Again | graph.Never:
    sent = desk.transport.look(there, request, deadline=desk.clock() + desk.patience.call.total_seconds())
    match sent:
        case Answered(response):
            return response
        case Unanswered("oversized"):
            return graph.Never("media_too_large")  # It says its size nowhere else.
        case NotSent(reason) | Unanswered(reason):
            return graph.Again(f"fetch_{reason}")
        case _:
            assert_never(sent)


def _meaning(source: Source, there: Account, found: Response, file: Media) -> FileRead:
    if succeeded(found):
        told = mime_type(found.headers.get("content-type") or file.mime_type)
        return graph.GotFile(told, found.body)
    if there.base_url != source.media_url:
        return graph.Again("fetch_address_refused")  # A signed address is old soon, and is asked for anew.
    if found.status in REFUSED:
        return graph.Locked("token")
    if found.status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
        return graph.Gone()
    return graph.Again(f"fetch_status_{found.status}", retry_after(found))
