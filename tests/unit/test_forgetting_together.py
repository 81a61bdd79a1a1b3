"""Whoever is found when payloads are read for one person alone is found when they are read for many, and nobody else.

The reading for one person is told here as simply as it can be: every lead loaded by its schema, every way of writing
looked for in every text.  What the product leaves out of that, to be fast, may change nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import quote_plus, unquote_plus
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from intake import contacts, kept, lead_schema, phones
from intake.forgetting.finding import Body, Found, look
from intake.forgetting.ledger import Forgetting
from intake.forgetting.people import ADDRESS, BETWEEN, DIGITS, ESCAPED, people_of
from intake.identity import IdentityKey
from intake.kept import Broken, Kept
from intake.lead import Contact, Enquiry, Lead, Phone
from intake.lead_schema import NotALead
from intake.reading import Post
from intake.sealing import Sealed, new_key, of_keys

KEY = IdentityKey(b"k" * 32)
SEAL = of_keys([new_key()])
OTHER_SEAL = of_keys([new_key()])
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


# --- one person alone -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alone:
    keys: frozenset[bytes]
    until: datetime

    def is_contact(self, contact: Contact) -> bool:
        mine = {each.key for each in contacts.keys_of(contact, "live", KEY)}
        return bool(mine & self.keys) or (contact.phone is not None and self.is_named_in(contact.phone.raw))

    def is_named_in(self, text: str) -> bool:
        for escape, plain in ESCAPED.items():
            text = text.replace(escape, plain)
        forms = {text, unquote_plus(text, errors="replace")}
        return any(KEY.mac("contact", *each) in self.keys for form in forms for each in ids(form))


def ids(text: str) -> Iterator[tuple[str, str]]:
    for address in set(ADDRESS.findall(text)):
        yield "email", address.strip(".").casefold()
    for digits in {*DIGITS.findall(text), *DIGITS.findall(BETWEEN.sub("", text))}:
        yield "phone", "+" + digits
        yield "phone", "+" + digits.lstrip("0")
        yield "phone", f"+51{digits.lstrip('0')}"


def look_alone(body: Body, person: Alone, found: Found) -> None:
    text = body.content.decode("utf-8", "replace")
    if body.at is not None and body.at > person.until:
        return
    match body.what:
        case "lead":
            assert body.event_id
            found.unopened += not body.content.startswith(b"{")
            contact = loaded(body.content)
            if contact is not None and person.is_contact(contact):
                found.events.add(body.event_id)
                found.names |= {x for x in (contact.name, contact.document, contact.username, contact.bsuid) if x}
            elif person.is_named_in(text):
                found.mentions.add(body.event_id)
        case "sealed":
            assert body.receipt_id
            try:
                post = kept.unpack(SEAL.open(body.content)).post
            except (Sealed, Broken):
                found.unopened += 1
            else:
                if person.is_named_in(post.body.decode("utf-8", "replace")):
                    found.refused.add(body.receipt_id)
        case "raw":
            assert body.receipt_id
            if person.is_named_in(text):
                found.receipts.add(body.receipt_id)
        case "answer":
            if person.is_named_in(text):
                found.answers.add(body.body_id)


def loaded(content: bytes) -> Contact | None:
    try:
        return lead_schema.load(content).contact
    except NotALead:
        return None


# --- anybody, and anything of them ----------------------------------------------------------------------------------

NUMBERS = ("987654321", "987654322", "912345678")
ADDRESSES = ("ana@example.com", "Luis+crm@example.com", "x.y@example.com")
IDS = ("PE.Ab12", "US.51987654321", "51987654321", "51912345678")

WAYS = (
    lambda number: number,
    lambda number: "+51" + number,
    lambda number: "0051" + number,
    lambda number: f"+51 {number[:3]}-{number[3:6]}.{number[6:]}",
    " ".join,
    lambda number: "+".join((number[:3], number[3:6], number[6:])),
    lambda number: f"({number})\n",
)
numbers = st.builds(lambda way, number: way(number), st.sampled_from(WAYS), st.sampled_from(NUMBERS))
addresses = st.builds(
    lambda change, address: change(address),
    st.sampled_from((str, str.upper, lambda text: f"<{text}>.", lambda text: "+" + text, lambda text: "\t" + text)),
    st.sampled_from(ADDRESSES),
)
pieces = st.one_of(numbers, addresses, st.sampled_from(IDS), st.text("aé1+%@\\/\" .\n\t'(", max_size=6))
words = st.lists(pieces, max_size=4).map("".join) | st.lists(pieces, max_size=4).map(" ".join)
maybe = st.none() | words

phone_fields = st.builds(
    Phone,
    words,
    st.none() | st.sampled_from(NUMBERS).map("+51{}".format) | words,
    variants=st.tuples() | st.tuples(words),
) | words.map(lambda typed: phones.read(typed, "PE"))
contact_fields = st.builds(
    Contact,
    name=maybe, phone=st.none() | phone_fields, email=st.none() | st.sampled_from(ADDRESSES) | words, document=maybe,
    wa_id=st.none() | st.sampled_from(IDS) | words, bsuid=st.none() | st.sampled_from(IDS) | words, username=maybe,
)  # fmt: skip
leads = st.builds(Lead, contact_fields, st.builds(Enquiry, words))


MISSING = object()


def spoiled(lead: Lead, field: str, value: object, where: Literal["lead", "contact", "phone"]) -> bytes:
    """A lead in which something is not as its schema wants it."""
    document = json.loads(lead_schema.dump(lead))
    inside = {"lead": document, "contact": document["contact"], "phone": document["contact"]["phone"] or {}}[where]
    inside[field] = value
    if value is MISSING:
        del inside[field]
    return json.dumps(document).encode()


FIELDS = ("contact", "phone", "raw", "e164", "variants", "email", "wa_id", "bsuid", "flags", "consent", "newer")
ODD: st.SearchStrategy[object] = st.one_of(
    st.just(MISSING),
    st.none(),
    st.integers(),
    words,
    st.lists(st.one_of(words, st.integers()), max_size=2),
    st.just({}),
    st.just([[]]),
)
lead_contents = st.one_of(
    leads.map(lead_schema.dump),
    st.builds(spoiled, leads, st.sampled_from(FIELDS), ODD, st.sampled_from(("lead", "contact", "phone"))),
    st.sampled_from((b"", b"xxxx", b"[]", b'"x"', b"{}", b"[" * 20_000, b"\xff\xfe")),
    words.map(str.encode),
)
texts = st.one_of(
    words.map(str.encode),
    words.map(lambda text: json.dumps({"a": text, "b": [text]}).encode()),
    words.map(lambda text: json.dumps(text).replace("@", "\\u0040").replace("+", "\\u002b").encode()),
    words.map(lambda text: f"a={quote_plus(text)}&b=1".encode()),
    st.builds(lambda text, end: text.encode("utf-16") + end, words, st.binary(max_size=3)),
)
times = st.integers(-2, 2).map(lambda hours: NOON + timedelta(hours=hours))


def sealed(body: bytes, *, ours: bool) -> bytes:
    packed = kept.pack(Kept(UUID(int=1), NOON, Post("web", "live", "application/json", {}, body, url="")))
    return (SEAL if ours else OTHER_SEAL).close(packed)


bodies = st.one_of(
    st.builds(Body, st.just(0), st.just("lead"), st.builds(uuid4), st.none(), times, lead_contents),
    st.builds(Body, st.just(0), st.just("raw"), st.none(), st.builds(uuid4), times, texts),
    st.builds(Body, st.integers(), st.just("answer"), st.none(), st.none(), st.none(), texts),
    st.builds(
        Body, st.just(0), st.just("sealed"), st.none(), st.builds(uuid4), times,
        st.builds(sealed, texts, ours=st.booleans()),
    ),
)  # fmt: skip
asked_for = st.one_of(
    st.sampled_from(NUMBERS).map(lambda number: Contact(phone=phones.read(number, "PE"))),
    st.sampled_from(ADDRESSES).map(lambda address: Contact(email=address)),
    st.sampled_from(IDS).map(lambda known: Contact(wa_id=known) if known.isdecimal() else Contact(bsuid=known)),
)
everybody = st.lists(st.tuples(st.lists(asked_for, min_size=1, max_size=3), times), min_size=1, max_size=5)


def forgettings(wanted: Sequence[tuple[Sequence[Contact], datetime]]) -> list[Forgetting]:
    return [
        Forgetting(
            UUID(int=number), until, "rosa", "asked to be",
            tuple(sorted({key for each in person for key in contacts.digests_of(each, KEY)})),
        )
        for number, (person, until) in enumerate(wanted)
    ]  # fmt: skip


@given(st.lists(bodies, max_size=5), everybody)
def test_reading_once_for_many_finds_what_reading_for_each_alone_finds(
    stored: list[Body], wanted: list[tuple[list[Contact], datetime]]
) -> None:
    listed = forgettings(wanted)
    together = [Found() for _ in listed]
    for body in stored:
        look(body, people_of(listed, KEY, "PE"), SEAL, together)
    assert together == [alone(stored, Alone(frozenset(each.keys), each.at)) for each in listed]


def alone(stored: Sequence[Body], person: Alone) -> Found:
    found = Found()
    for body in stored:
        look_alone(body, person, found)
    return found
