"""Meta Lead Ads: the webhook names a lead and holds no person.

Each lead is an event under its `leadgen_id`, flagged FETCH_PENDING: its answers are at Meta, behind
`GET /<leadgen_id>` with the page's token (`meta_answers`).  Fetching them is a step of its own before anything goes to
the CRM.
Source: Meta, "Webhooks: getting started" and "Lead retrieval"; fbsamples/lead-ads-webhook-sample @c084316.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from intake import authenticity
from intake.lead import FETCH_PENDING, Attribution, Contact, Lead
from intake.sources import meta
from intake.sources.base import Delivered, Incoming, Quarantined, Reading, SourceKind, Unreadable
from intake.sources.decoding import Json, identifier, mapping, read_json, sequence, text

NAMES = ("leadgen_id", "form_id", "page_id", "ad_id", "adgroup_id")
SECONDS = re.compile(r"[0-9]{1,11}")


@dataclass(frozen=True, slots=True)
class Ignored:
    """News of a page about something else than a lead, or the sample of the dashboard's "Test" button."""


Found = Incoming | Quarantined | Ignored


@dataclass(frozen=True, slots=True)
class MetaLeadAds:
    """A delivery may hold up to a thousand leads; one bad item does not stop the others."""

    name: str = "meta_lead_ads"
    kinds: frozenset[SourceKind] = frozenset({"form"})
    content_types: frozenset[str] = frozenset({"application/json"})

    def read(self, delivered: Delivered) -> Reading:
        decoded = read_json(delivered.body)
        body = mapping(decoded.value)
        if not isinstance(body.get("entry"), list):
            raise Unreadable("not_a_page_body", {"entry": "must be a list"})
        found = list(_found(body))
        # The same lead twice in one body is one; other ids under its id stay, to be seen.
        events = {tuple(item.content.items()): item for item in found if isinstance(item, Incoming)}
        return Reading(
            events=tuple(events.values()),
            quarantined=tuple(item for item in found if isinstance(item, Quarantined)),
            ignored=sum(isinstance(item, Ignored) for item in found),
        )

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:
        return meta.handshake(query, verify_token)

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        proof = authenticity.sign(self.name, secret=secret, body=body, url=url, now=now, delivery_id=delivery_id)
        return {"content-type": "application/json", **proof}


def _found(body: dict[str, Json]) -> Iterator[Found]:
    for entry in (mapping(one) for one in sequence(body.get("entry"))):
        if not isinstance(entry.get("changes"), list):
            yield Quarantined("unreadable_entry", {"changes": "must be a list"})
        for change in (mapping(one) for one in sequence(entry.get("changes"))):
            yield _in_change(change)


def _in_change(change: dict[str, Json]) -> Found:
    if change.get("field") != "leadgen":
        return Ignored()
    # Ids are numbers in some deliveries and texts in others: the same id either way.
    ids = {name: identifier(mapping(change.get("value")).get(name)) for name in NAMES}
    leadgen_id = ids["leadgen_id"]
    if leadgen_id is None:
        return Quarantined("lead_without_id", {"leadgen_id": "is required"})
    if _is_sample(leadgen_id):
        return Ignored()
    # What else a delivery tells of a lead is no other lead: who asks for it again is told less.
    content = {name: ids[name] for name in ("leadgen_id", "form_id")}
    return Incoming("form", leadgen_id, _lead(ids, mapping(change.get("value")).get("created_time")), content)


def _is_sample(leadgen_id: str) -> bool:
    """The dashboard's "Test" button sends an id of nothing but fours."""
    return set(leadgen_id) == {"4"}


def _lead(ids: Mapping[str, str | None], created: Json) -> Lead:
    return Lead(
        contact=Contact(),
        attribution=Attribution(ad_id=ids["ad_id"]),
        answers=tuple((name, known) for name in ("leadgen_id", "form_id", "page_id") if (known := ids[name])),
        flags=(FETCH_PENDING,),
        occurred_at=_moment(created),
    )


def _moment(created: Json) -> datetime | None:
    """Unix seconds, up to the year 5138."""
    written = text(created) or ""
    return datetime.fromtimestamp(int(written), UTC) if SECONDS.fullmatch(written) else None
