"""The providers' cases through the real door: what each delivery gives, what its lead says, and that a retry is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from intake.app import build
from intake.config import load
from intake.lead import Lead
from intake.sources import PROVIDERS, find
from intake.sources.base import Delivered
from tests import unhurried
from tests.conftest import fresh_database
from tests.contract.sources.telling import COUNTS, Case, Sent, cases, told
from tests.doorway import ENVIRON, STANDARD, Doorway, Json, events, write_config

CASES = cases()
STANDARD_SIGNED = {"standard_webhooks", "formbricks", "quote"}
KIND_OF = {"whatsapp_cloud": "whatsapp", "whatsapp_360dialog": "whatsapp", "quote": "quote"}
PAGE = "https://www.example.com"
NOW = datetime(2026, 3, 2, 16, 0, tzinfo=UTC)


def source_of(case: Case) -> str:
    secret = "STANDARD" if case.provider in STANDARD_SIGNED else "TOKEN"
    proof = f'allowed_origins = ["{PAGE}"]' if case.provider == "web_snippet" else f'secrets = ["env:{secret}"]'
    kind = KIND_OF.get(case.provider, "form")
    return f'kind = "{kind}"\nprovider = "{case.provider}"\n{proof}\n{case.settings}\n'


@pytest.fixture(scope="module")
def door(postgres_server: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doorway]:
    file = write_config(tmp_path_factory.mktemp("door"), {case.source: source_of(case) for case in CASES})
    settings = load(file, ENVIRON, built_in=PROVIDERS.keys())
    with fresh_database(postgres_server, template=migrated_template) as (_, url):
        pool = unhurried.door_pool(url, size=4)
        try:
            made = unhurried.door(settings, pool)
            yield Doorway(url, settings, pool, build(made, hint=lambda: None).test_client())
        finally:
            pool.close()


def headers_of(door: Doorway, case: Case, sent: Sent) -> dict[str, str]:
    given = door.signed(case.source, sent.body, delivery_id=sent.delivery_id or f"msg_{case.source}")
    own = {"content-type": sent.content_type} if sent.content_type is not None else {}
    return given | own | dict(sent.headers)


def post(door: Doorway, case: Case, sent: Sent) -> tuple[int, Json]:
    answer = door.post(case.source, sent.body, headers=headers_of(door, case, sent))
    document = answer.get_json(silent=True)
    return answer.status_code, document if isinstance(document, dict) else {}


def counted(document: Json) -> dict[str, int]:
    kinds = Counter(
        "duplicate" if one["duplicate"] else "conflict" if one["conflict"] else "event" for one in events(document)
    )
    counts = {"update": "updates", "ignored": "ignored", "quarantined": "quarantined"}
    return {name: kinds[name] + int(str(document.get(counts.get(name, ""), 0))) for name in COUNTS}


def read(case: Case, sent: Sent) -> Lead:
    """The first event's lead."""
    headers = find(case.provider).sign(
        sent.body, secret=STANDARD, url="https://intake.example", now=NOW, delivery_id=sent.delivery_id or "msg_1"
    )
    content_type = sent.content_type if sent.content_type is not None else headers["content-type"]
    delivered = Delivered(sent.body, content_type, {**headers, **sent.headers}, NOW, "PE", case.pointers)
    return find(case.provider).read(delivered).events[0].lead


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_delivery_gives_what_it_must(door: Doorway, case: Case) -> None:
    for number, sent in enumerate(case.deliveries):
        status, document = post(door, case, sent)
        if isinstance(sent.gives, int):
            assert (number, status) == (number, sent.gives)
        else:
            assert (number, status, counted(document)) == (number, 200, sent.counts)


@pytest.mark.parametrize("case", [case for case in CASES if not isinstance(case.deliveries[0].gives, int)], ids=str)
def test_the_same_bytes_again_are_the_same_events(door: Doorway, case: Case) -> None:
    first, again = (post(door, case, case.deliveries[0])[1] for _ in range(2))
    ids = [one["event_id"] for one in events(first)]
    assert [(one["event_id"], one["duplicate"]) for one in events(again)] == [(known, True) for known in ids]


@pytest.mark.parametrize("case", [case for case in CASES if case.lead is not None], ids=str)
def test_lead_says_what_was_sent(case: Case) -> None:
    (first, *_) = case.deliveries
    found = told(read(case, first))
    wanted = case.lead or {}
    assert {name: found.get(name, type(value)()) for name, value in wanted.items()} == wanted
