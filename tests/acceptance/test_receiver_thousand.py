"""A thousand deliveries of ten providers in any order, every third one twice: one event, one need, one opportunity."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from tests.doorway import as_json, message, quote, whatsapp
from tests.lab import SECRET, Json, Lab, lab
from tests.simulation.world import ledger
from workers import clock, drain

SAMPLES = Path(__file__).parent.parent / "contract" / "sources" / "samples"
KEY_IN_SAMPLE = "whsec_c29tZS1zZWNyZXQtb2YtdGhpcy1zb3VyY2U="

# By provider: its kind, a sample of it, and the words in the sample that are another person's each time.
FORMS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "typeform": ("form", "response.json", ("tok-1", "ev-1")),
    "tally": ("form", "choices.json", ("r8Xq2", "7a1c3d52")),
    "google_ads": ("form", "lead.json", ("TeSt-1",)),
    "elementor": ("form", "advanced.txt", ()),  # Neither of these two gives an id.
    "cf7": ("form", "form.json", ()),
    "woocommerce": ("quote", "order.json", ("727",)),
}
OTHERS = {"standard_webhooks": "form", "quote": "quote", "whatsapp_cloud": "whatsapp", "twilio": "whatsapp"}
KINDS = {**{name: kind for name, (kind, _, _) in FORMS.items()}, **OTHERS}
PROVIDERS = tuple(KINDS)
TALKING = ("quote", "whatsapp_cloud", "twilio")

# Of each form, and of what comes in conversations or versions, so many of one person.
FORMS_EACH, OTHERS_EACH, TOGETHER = 45, 145, 5

# How many come one after another, before as many come at once.
TURN = 50

# Seconds; only a failure takes so long.
DELIVERED_WITHIN = 300.0
OPEN = "SELECT state, reason, count(*) FROM deliveries WHERE state NOT IN ('confirmed', 'superseded') GROUP BY 1, 2"


def events_of(provider: str) -> int:
    return OTHERS_EACH if provider in TALKING else FORMS_EACH


def needs_of(provider: str) -> int:
    return OTHERS_EACH // TOGETHER if provider in TALKING else FORMS_EACH


def source(provider: str) -> str:
    """The name of its source."""
    return provider.replace("_", "-")


SOURCES = '[intake]\npublic_base_url = "https://intake.example"\n' + "\n".join(
    f'[[sources]]\nname = "{source(name)}"\nkind = "{kind}"\nprovider = "{name}"\n'
    'secrets = ["env:WEB_SECRET"]\ndebounce_seconds = 0\n'
    for name, kind in KINDS.items()
)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One of one provider."""

    provider: str
    number: int
    body: bytes = field(repr=False)

    @property
    def source(self) -> str:
        return source(self.provider)


def body(provider: str, number: int) -> bytes:
    """What one person sends, or one of the things that one person sends one after another."""
    person, place = divmod(number, TOGETHER)
    match provider:
        case "standard_webhooks":
            return as_json({"name": f"Ana {number}", "email": f"ana{number}@example.com", "message": "Hola"})
        case "quote":
            contact = {"name": f"Lucía {person}", "email": f"lucia{person}@example.com", "phone": ""}
            return as_json(quote(number=f"COT-{person}", version=place + 1, amount=f"{place + 1}.00", contact=contact))
        case "whatsapp_cloud":
            words = message(
                f"wamid.{number}", f"texto {place}", sender=f"5197000{person:04d}", at=1_790_000_000 + place
            )
            return whatsapp(words)
        case "twilio":
            text = (SAMPLES / "twilio" / "whatsapp.txt").read_text()
            return text.replace("SM01", f"SM{number:04d}").replace("51912345678", f"5196000{person:04d}").encode()
        case _:
            return of_sample(provider, number)


def of_sample(provider: str, number: int) -> bytes:
    """The sample as another person fills it in."""
    _, sample, names = FORMS[provider]
    text = (SAMPLES / provider / sample).read_text().replace(KEY_IN_SAMPLE, SECRET)
    phone = f"9{PROVIDERS.index(provider)}{number:07d}"
    text = text.replace("912345678", phone).replace("912 345 678", phone).replace("912+345+678", phone)
    text = text.replace("rosa", f"rosa-{provider}-{number}")
    for name in names:
        text = text.replace(name, f"{900000 + number}")
    return text.encode()


def deliveries(chance: random.Random) -> list[Delivery]:
    """All of them, every third one twice, in any order."""
    once = [Delivery(name, number, body(name, number)) for name in PROVIDERS for number in range(events_of(name))]
    every = once + once[::3]
    chance.shuffle(every)
    return every


def send(made: Lab, delivery: Delivery) -> str:
    """The id of its event."""
    own = replace(made, door=made.door.application.test_client())
    answer = own.post(delivery.source, delivery.body, delivery_id=f"{delivery.provider}-{delivery.number}")
    assert answer.status_code == 200, answer.get_data()
    (event,) = told_in(answer)
    assert not event["conflict"]
    return str(event["event_id"])


def send_all(made: Lab, every: Sequence[Delivery]) -> Mapping[Delivery, set[str]]:
    """Half of them sixteen at a time, in turns with the others; returns the events that each was said to be."""
    found: dict[Delivery, set[str]] = {}
    with ThreadPoolExecutor(16) as pool:
        for begin in range(0, len(every), 2 * TURN):
            alone, at_once = every[begin : begin + TURN], every[begin + TURN : begin + 2 * TURN]
            ids = [*(send(made, each) for each in alone), *pool.map(lambda each: send(made, each), at_once)]
            for each, event_id in zip([*alone, *at_once], ids, strict=True):
                found.setdefault(each, set()).add(event_id)
    return found


def told_in(answer: TestResponse) -> list[Json]:
    """Also where the sender reads something else than JSON."""
    own = answer.headers.get("Intake-Events")
    found: list[Json] = answer.get_json()["events"] if own is None else json.loads(own)
    return found


def deliver_all(made: Lab) -> None:
    """Until nothing is left that the workers could do by themselves."""
    limit = time.monotonic() + DELIVERED_WITHIN
    while open_ones := made.rows(OPEN):
        assert time.monotonic() < limit, open_ones
        clock.tick(made.pool, name="lab")
        if not drain.drain(made.desk, threads=4):
            made.pass_time(timedelta(seconds=31))


@pytest.fixture
def everything(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path, sources=SOURCES) as made:
        yield made


def test_a_thousand_deliveries_in_any_order_are_one_event_and_one_opportunity_each(everything: Lab) -> None:
    every = deliveries(random.Random(20261129))
    told = send_all(everything, every)
    assert len(every) == 1000
    assert [len(ids) for ids in told.values()] == [1] * len(told)
    events = everything.rows("SELECT source, count(*)::int AS n FROM events GROUP BY 1")
    assert {str(row["source"]): row["n"] for row in events} == {source(name): events_of(name) for name in PROVIDERS}
    needs = everything.rows("SELECT DISTINCT d.source, n.reference FROM needs n JOIN deliveries d USING (need_id)")
    assert Counter(str(row["source"]) for row in needs) == {source(name): needs_of(name) for name in PROVIDERS}
    deliver_all(everything)
    opportunities = [str(each["reference"]) for each in everything.in_crm("opportunity")]
    assert sorted(opportunities) == sorted(f"{row['reference']}-o" for row in needs)
    assert ledger(everything)["opportunity"] == ledger(everything)["task"] == len(needs)
    assert everything.dials.doubles() == []
