"""A credential that a CRM wants inside the path or the body is put there while sending, once."""

from __future__ import annotations

import json

import pytest

from crm_clients.base import Account, Request
from crm_clients.transport import Answered, NotSent, Sent, Transport
from crm_clients.watchdog import boot_clock
from tests.integration.raw_server import RawServer, serving
from tests.integration.sending import LONG, OK, answering

BODY = '{"args": ["◆key◆", "crm.lead"], "text": '.encode()


def write(transport: Transport, server: RawServer, request: Request, *places: tuple[str, str]) -> Sent:
    now = boot_clock()
    account = Account("crm", server.url, places=places)
    return transport.write(account, request, send_by=now + LONG, deadline=now + LONG)


def test_a_secret_takes_the_place_that_the_client_left_in_path_and_body() -> None:
    request = Request("POST", "/rest/@credential@/crm.item.add", body=BODY + b'"x"}')
    with serving(answering(OK)) as server, Transport() as transport:
        sent = write(transport, server, request, ("@credential@", "1/abc"), ('"◆key◆"', json.dumps('s"ecret')))
        assert isinstance(sent, Answered)
    assert server.seen.startswith(b"POST /rest/1/abc/crm.item.add ")
    assert b'["s\\"ecret", "crm.lead"]' in server.seen


def test_a_secret_is_never_put_where_a_person_wrote() -> None:
    request = Request("POST", "/jsonrpc", body=BODY + b'"' + '"◆key◆"'.encode() + b'"}')
    with serving(answering(OK)) as server, Transport() as transport:
        write(transport, server, request, ('"◆key◆"', '"secret"'))
    assert server.seen.count(b"secret") == 1
    assert server.seen.count('"◆key◆"'.encode()) == 1


def test_a_secret_of_the_path_is_never_put_into_the_body() -> None:
    request = Request("POST", "/rest/@credential@/crm.item.add", body=b'{"comments": "@credential@"}')
    with serving(answering(OK)) as server, Transport() as transport:
        write(transport, server, request, ("@credential@", "1/abc"))
    assert server.seen.endswith(b'{"comments": "@credential@"}')


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (b'{"id": 7}', b'{"auth": "t\\"oken", "id": 7}'),
        (b"{}", b'{"auth": "t\\"oken"}'),
        (b' { "id": {"auth": "x"} } ', b'{"auth": "t\\"oken", "id": {"auth": "x"} }'),
    ],
)
def test_a_secret_is_a_member_of_the_body_where_the_crm_wants_that(body: bytes, sent: bytes) -> None:
    with serving(answering(OK)) as server, Transport() as transport:
        now = boot_clock()
        account = Account("crm", server.url, members=(("auth", 't"oken'),))
        transport.write(account, Request("POST", "/rest/profile", body=body), send_by=now + LONG, deadline=now + LONG)
    assert server.seen.endswith(sent)


def test_a_secret_that_would_leave_the_base_url_is_not_sent() -> None:
    request = Request("POST", "/rest/@credential@/crm.item.add")
    with serving(answering(OK)) as server, Transport() as transport:
        assert write(transport, server, request, ("@credential@", "../../x")) == NotSent("malformed")
        assert server.connections == []


def test_an_account_does_not_show_its_secrets() -> None:
    secret = (("@credential@", "secret"),)
    assert "secret" not in repr(Account("crm", "https://crm.example.com", secret, secret, secret))
