"""Google Ads lead forms: a flat list of columns, and the key that proves the sender in the body itself.

The key must not be stored.  A press on "Send test data" is no lead.  Ids are 64-bit numbers and stay text.
Source: developers.google.com/google-ads/webhook/docs/implementation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from intake.sources.decoding import Json, identifier, mapping, sequence, text
from intake.sources.leaves import Leaf
from intake.sources.questions import Question, answers
from intake.sources.scrubbing import without
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, pointer

# Where the lead came from: kept beside the answers, and alone no lead.  0 means that Google does not say.
ORIGIN = ("campaign_id", "adgroup_id", "creative_id", "form_id")
KEY = "google_key"


@dataclass(frozen=True, slots=True)
class GoogleAds(FormTool):
    """One delivery is one lead.  A column's pointer is `/user_column_data/<column id>/value`."""

    name: str = "google_ads"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission | None:  # noqa: ARG002
        if body.get("is_test") is True or (text(body.get("is_test")) or "").lower() == "true":
            return None
        written = answers(_columns(body))
        told = (*written, *_origin(body)) if written else ()
        return Submission(told, identifier(body.get("lead_id")), moment(body.get("lead_submit_time")))

    def scrub(self, body: bytes) -> bytes:
        return without(body, KEY)


def _columns(body: dict[str, Json]) -> Iterator[Question]:
    """`column_name` is not always there, and a question of the advertiser's own has its words only in it."""
    for column in (mapping(one) for one in sequence(body.get("user_column_data"))):
        column_id, name = text(column.get("column_id")) or "", text(column.get("column_name")) or ""
        if answer := text(column.get("string_value")):
            where = pointer("user_column_data", column_id or name, "value")
            yield Question(where, name or column_id, answer, (column_id,))


def _origin(body: dict[str, Json]) -> Iterator[Leaf]:
    if click := text(body.get("gcl_id")):
        yield Leaf("/gcl_id", "gclid", click)
    for name in ORIGIN:
        if (known := text(body.get(name))) and known != "0":
            yield Leaf(pointer(name), name, known)
