"""What every provider keeps, over its own samples: counts, signature, fingerprint, and hostile bytes.

A provider is under the contract by standing in PROVIDERS; its samples are listed in samples/EXPECTED.tsv.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intake import paste_texts
from intake.authenticity import RULES, NotAuthentic, verify
from intake.authenticity.origin import Origin
from intake.authenticity.tokens import Basic, Bearer, BodyKey, Token
from intake.lead_schema import dump, load
from intake.sources import PROVIDERS, UnknownProvider, find
from intake.sources.base import Delivered, Reading, Unreadable

SAMPLES = Path(__file__).parent / "samples"
NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
URL = "https://intake.example/hooks/some-source"
SECRET = "whsec_c29tZS1zZWNyZXQtb2YtdGhpcy1zb3VyY2U="
with (SAMPLES / "EXPECTED.tsv").open(encoding="utf-8") as listed:
    EXPECTED = {row.pop("sample"): row for row in csv.DictReader(listed, delimiter="\t")}


def provider_of(sample: str) -> str:
    return sample.partition("/")[0]


# The others carry a token or key, which proves the sender and not the body; and what browsers send proves nothing.
BARE: Final = (Token, Bearer, Basic, BodyKey, Origin)
SIGNED = [sample for sample in EXPECTED if not isinstance(RULES[provider_of(sample)][0], BARE)]
JSON_SAMPLES = sorted(sample for sample in EXPECTED if sample.endswith(".json"))


def delivered(sample: str) -> Delivered:
    body = (SAMPLES / sample).read_bytes()
    headers = find(provider_of(sample)).sign(body, secret=SECRET, url=URL, now=NOW, delivery_id="msg_1")
    return Delivered(body, headers["content-type"], headers, NOW, "PE")


def read(sample: str) -> Reading:
    return find(provider_of(sample)).read(delivered(sample))


def texts(value: object) -> Iterator[str]:
    """Every text anywhere in a value."""
    match value:
        case str():
            yield value
        case Mapping():
            for item in (*value.keys(), *value.values()):
                yield from texts(item)
        case list() | tuple():
            for item in value:
                yield from texts(item)
        case _ if is_dataclass(value):
            for one in fields(value):
                yield from texts(getattr(value, one.name))


def test_every_provider_has_samples() -> None:
    assert {provider_of(sample) for sample in EXPECTED} == set(PROVIDERS)


def test_every_sample_is_expected() -> None:
    stored = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.glob("*/*")}
    assert stored == set(EXPECTED)


def test_what_to_paste_is_told_of_no_provider_that_is_gone() -> None:
    assert paste_texts.PASTE.keys() <= PROVIDERS.keys()


def test_unknown_provider_is_told_the_known_ones() -> None:
    with pytest.raises(UnknownProvider, match="whatsapp_cloud"):
        find("carrier-pigeon")


@pytest.mark.parametrize("sample", EXPECTED)
def test_sample_reads_to_its_counts(sample: str) -> None:
    found = read(sample)
    counts = {
        "events": len(found.events),
        "updates": len(found.updates),
        "quarantined": len(found.quarantined),
        "ignored": found.ignored,
    }
    assert counts == {name: int(count) for name, count in EXPECTED[sample].items()}


@pytest.mark.parametrize("sample", EXPECTED)
def test_kind_of_an_event_is_one_of_its_provider(sample: str) -> None:
    assert {event.kind for event in read(sample).events} <= find(provider_of(sample)).kinds


@pytest.mark.parametrize("sample", EXPECTED)
def test_signed_sample_is_authentic(sample: str) -> None:
    sent = delivered(sample)
    verify(provider_of(sample), secrets=(SECRET,), headers=sent.headers, body=sent.body, url=URL, now=NOW)


@pytest.mark.parametrize("sample", SIGNED)
def test_sample_with_one_byte_changed_is_not(sample: str) -> None:
    sent = delivered(sample)
    changed = bytes([sent.body[0] ^ 1]) + sent.body[1:]
    with pytest.raises(NotAuthentic):
        verify(provider_of(sample), secrets=(SECRET,), headers=sent.headers, body=changed, url=URL, now=NOW)


@pytest.mark.parametrize("sample", EXPECTED)
def test_redelivery_has_the_same_fingerprint_and_identity(sample: str) -> None:
    again = replace(delivered(sample), received_at=NOW + timedelta(hours=7), region="US")
    first = [(event.request_id, event.version, event.content) for event in read(sample).events]
    assert [(e.request_id, e.version, e.content) for e in find(provider_of(sample)).read(again).events] == first


@pytest.mark.parametrize("sample", EXPECTED)
def test_fingerprint_is_made_of_json_values(sample: str) -> None:
    for event in read(sample).events:
        assert json.loads(json.dumps(event.content)) == event.content


@pytest.mark.parametrize("sample", EXPECTED)
def test_fingerprint_holds_no_url_of_media(sample: str) -> None:
    assert not [text for event in read(sample).events for text in texts(event.content) if "://" in text]


@pytest.mark.parametrize("sample", EXPECTED)
def test_lead_survives_its_stored_form(sample: str) -> None:
    assert [load(dump(event.lead)) for event in read(sample).events] == [event.lead for event in read(sample).events]


@pytest.mark.parametrize("sample", EXPECTED)
def test_texts_of_an_event_can_be_stored(sample: str) -> None:
    for text in texts(read(sample).events):
        assert "\x00" not in text
        text.encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def names_in(value: object) -> Iterator[str]:
    match value:
        case dict():
            yield from value
            for inner in value.values():
                yield from names_in(inner)
        case list():
            for inner in value:
                yield from names_in(inner)


def decoded(sample: str) -> object:
    return json.loads((SAMPLES / sample).read_bytes().decode("utf-8-sig", "replace"))


@settings(deadline=None)
@given(provider=st.sampled_from(sorted(PROVIDERS)), body=st.binary(), content_type=st.text())
def test_arbitrary_bytes_are_only_unreadable(provider: str, body: bytes, content_type: str) -> None:
    with suppress(Unreadable):
        find(provider).read(Delivered(body, content_type, {}, NOW, "PE"))


@settings(deadline=None)
@given(sample=st.sampled_from(JSON_SAMPLES), data=st.data())
def test_samples_with_any_part_replaced_are_only_unreadable(sample: str, data: st.DataObject) -> None:
    body = decoded(sample)
    name = data.draw(st.sampled_from(sorted(set(names_in(body)))))
    spoiled = json.dumps(with_replaced(body, name, data.draw(JSON))).encode()
    with suppress(Unreadable):
        reading = find(provider_of(sample)).read(Delivered(spoiled, "application/json", {}, NOW, "PE"))
        assert [load(dump(event.lead)) for event in reading.events] == [event.lead for event in reading.events]
        json.dumps([event.content for event in reading.events], allow_nan=False).encode()


def with_replaced(value: object, name: str, by: object) -> object:
    match value:
        case dict():
            return {key: by if key == name else with_replaced(inner, name, by) for key, inner in value.items()}
        case list():
            return [with_replaced(inner, name, by) for inner in value]
        case _:
            return value
