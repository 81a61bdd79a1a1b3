"""All records of a CRM with the references that they bear, page by page."""

from __future__ import annotations

import json

import pytest

from crm_clients.abilities import ListsReferences, Page
from crm_clients.base import Kind, Response, UnreadableAnswer
from crm_clients.bottlecrm import BottleCRM
from crm_clients.sandbox import crm
from crm_clients.sandbox.client import SandboxClient
from crm_clients.sandbox.server import running
from tests.integration.sandbox_calls import Caller


def ask(caller: Caller, client: SandboxClient, kind: Kind, after: str | None) -> Page:
    request = client.all_of(kind, after=after)
    assert request is not None
    query = "&".join(f"{name}={value}" for name, value in request.query)
    answer = caller.call("GET", f"{request.path.removeprefix('/api/')}?{query}")
    return client.page_of(kind, Response(answer.status_code, {}, answer.content), after=after)


def test_the_sandbox_lists_everything_once_over_its_pages() -> None:
    client, listed, after = SandboxClient(), [], None
    with running() as sandbox:
        caller = Caller(sandbox.url)
        made = [str(caller.create("contacts", name="Ana", reference=f"c-{n}")["id"]) for n in range(crm.PAGE + 1)]
        while True:
            page = ask(caller, client, Kind.CONTACT, after)
            listed += [(each.crm_id, each.reference) for each in page.seen]
            after = page.after
            if after is None:
                break
    assert listed == [(crm_id, f"c-{n}") for n, crm_id in enumerate(made)]


def test_the_sandbox_lists_what_is_in_the_trash_as_dead() -> None:
    with running() as sandbox:
        caller = Caller(sandbox.url)
        crm_id = str(caller.create("contacts", name="Ana", reference="c-1")["id"])
        caller.call("DELETE", f"contacts/{crm_id}")
        (seen,) = ask(caller, SandboxClient(), Kind.CONTACT, None).seen
    assert not seen.live


def test_the_sandbox_lists_children_by_their_markers() -> None:
    body = {"results": [{"id": "t-1", "live": True, "text": "x\n[ref:n-1]"}], "more": False, "after": None}
    page = SandboxClient("no_task_reference").page_of(
        Kind.TASK, Response(200, {}, json.dumps(body).encode()), after=None
    )
    assert [each.reference for each in page.seen] == ["n-1"]


def bottle(rows: int, count: int, after: str | None) -> Page:
    row = {"id": "9a", "is_active": True, "custom_fields": {"external_ref": "c-1"}}
    body = json.dumps({"results": [row] * rows, "count": count}).encode()
    return BottleCRM().page_of(Kind.CONTACT, Response(200, {}, body), after=after)


def test_bottlecrm_goes_on_until_the_count_is_reached() -> None:
    assert [bottle(2, 5, None).after, bottle(2, 5, "2").after, bottle(1, 5, "4").after] == ["2", "4", None]


def test_bottlecrm_ends_where_a_page_is_empty() -> None:
    assert bottle(0, 5, "4").after is None


def test_bottlecrm_lists_neither_tasks_nor_notes() -> None:
    assert [BottleCRM().all_of(kind, after=None) for kind in (Kind.TASK, Kind.NOTE)] == [None, None]


@pytest.mark.parametrize("client", [SandboxClient(), BottleCRM()])
@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"results": [1], "count": 1}', b'{"results": 1}'])
def test_an_answer_that_is_no_page_is_unreadable(client: ListsReferences, body: bytes) -> None:
    with pytest.raises(UnreadableAnswer):
        client.page_of(Kind.CONTACT, Response(200, {}, body), after=None)
