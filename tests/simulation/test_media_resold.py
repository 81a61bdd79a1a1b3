"""Files that Twilio and 360dialog hold: each asked for at its own service, with a credential that goes nowhere else."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode
from uuid import UUID, uuid4

import pytest

from intake import media, sealing
from intake.app import build
from intake.config import Source
from intake.config.secret import Secret
from intake.receive import Door
from intake.sealing import Seal
from tests.graph_server import Answer, Graph, error, graph_server
from tests.lab import Lab, lab

ACCOUNT, MESSAGE = "AC" + "0a" * 16, "MM" + "1b" * 16
PHOTO, PDF = b"\xff\xd8" + bytes(200), b"%PDF-1.7 of the test"
TOKEN, KEY = "auth-token-of-the-test", "api-key-of-360dialog"
LOOKASIDE = "https://lookaside.fbsbx.com"


def name(number: int) -> str:
    return f"ME{number:032d}"


def path(number: int) -> str:
    return f"/2010-04-01/Accounts/{ACCOUNT}/Messages/{MESSAGE}/Media/{name(number)}"


def basic(pair: str) -> str:
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


@dataclass(slots=True)
class Resold:
    """The pipeline, the service that is asked (`api`), and where that sends on to (`cdn`)."""

    lab: Lab
    api: Graph
    cdn: Graph
    seal: Seal
    source: str

    def fetch(self) -> dict[str, object]:
        (row,) = self.lab.rows("SELECT reason, tries, mime_type, size, reference FROM fetches")
        return row

    def kept(self, event: UUID) -> bytes:
        with self.lab.pool.connection() as conn:
            found = media.of_event(conn, event)
        assert found is not None
        assert found.sealed is not None
        return self.seal.open(found.sealed)

    def twilio(self, *files: str, host: str = "https://api.twilio.com") -> UUID:
        """A message with these kinds of files, worked upon."""
        fields = {
            "MessageSid": MESSAGE, "AccountSid": ACCOUNT, "From": "whatsapp:+51987650001", "To": "whatsapp:+5111",
            "NumMedia": str(len(files)),
        }  # fmt: skip
        for number, kind in enumerate(files):
            fields |= {f"MediaUrl{number}": host + path(number), f"MediaContentType{number}": kind}
        answer = self.lab.post(self.source, urlencode(fields).encode())
        (event,) = json.loads(answer.headers["Intake-Events"])
        self.lab.work()
        return UUID(event["event_id"])

    def dialog(self) -> UUID:
        """A photo by 360dialog, worked upon."""
        image = {"id": "9001", "mime_type": "image/jpeg"}
        message = {"from": "51987650001", "id": "wamid.1", "timestamp": "1790000000", "type": "image", "image": image}
        value = {"metadata": {"phone_number_id": "100"}, "messages": [message]}
        body = {"object": "whatsapp_business_account", "entry": [{"changes": [{"field": "messages", "value": value}]}]}
        event = self.lab.only_event(self.lab.post(self.source, json.dumps(body).encode()))
        self.lab.work()
        return event


@contextmanager
def resold(database_url: str, folder: Path, provider: str, secret: str, **hosts: tuple[str, ...]) -> Iterator[Resold]:
    with graph_server() as api, graph_server() as cdn, lab(database_url, folder) as made:
        source = Source(
            "resold", "whatsapp", provider, (Secret("env:S", TOKEN),), "crm", media_token=Secret("env:M", secret),
            media_url=api.url, media_hosts=hosts.get("hosts", (cdn.url,)), media_megabytes=1, debounce_seconds=0,
        )  # fmt: skip
        settings = replace(made.settings, sources={**made.settings.sources, "resold": source})
        seal = sealing.of_keys([sealing.new_key()])
        made.settings, made.desk = settings, replace(made.desk, settings=settings, seal=seal)
        door = Door(settings, made.pool, now=lambda: datetime.now(UTC), new_id=uuid4)
        made.door = build(door, hint=lambda: made.hints.append("hint")).test_client()
        yield Resold(made, api, cdn, seal, "resold")


@pytest.fixture
def by_twilio(database_url: str, tmp_path: Path) -> Iterator[Resold]:
    with resold(database_url, tmp_path, "twilio", TOKEN) as made:
        made.api.tokens = {basic(f"{ACCOUNT}:{TOKEN}")}
        yield made


@pytest.fixture
def by_dialog(database_url: str, tmp_path: Path) -> Iterator[Resold]:
    with resold(database_url, tmp_path, "whatsapp_360dialog", KEY, hosts=(LOOKASIDE,)) as made:
        made.api.tokens = {KEY}
        made.api.objects["/9001"] = {
            "url": f"{LOOKASIDE}/whatsapp_business/attachments/?mid=9001&ext=1&hash=a%2Fb", "mime_type": "image/jpeg",
            "file_size": len(PHOTO),
        }  # fmt: skip
        made.api.raw["/whatsapp_business/attachments/"] = Answer(200, PHOTO, {"Content-Type": "image/jpeg"})
        yield made


# --- Twilio ---------------------------------------------------------------------------------------------------------


def sends_on(made: Resold, number: int = 0, to: str | None = None) -> None:
    made.api.raw[path(number)] = Answer(307, b"", {"Location": to or f"{made.cdn.url}/abc?Expires=1&Signature=x~y"})


def test_a_photo_is_kept_sealed_and_named_in_the_crm(by_twilio: Resold) -> None:
    sends_on(by_twilio)
    by_twilio.cdn.instead = [Answer(200, PHOTO, {"Content-Type": "image/jpeg"})]
    event = by_twilio.twilio("image/jpeg")
    fetch = by_twilio.fetch()
    assert (by_twilio.kept(event), fetch["mime_type"], fetch["size"]) == (PHOTO, "image/jpeg", len(PHOTO))
    (opportunity,) = by_twilio.lab.in_crm("opportunity")
    assert f"[image] guardado: {fetch['reference']}" in str(opportunity["text"])


def test_the_credential_goes_to_the_api_alone(by_twilio: Resold) -> None:
    sends_on(by_twilio)
    by_twilio.cdn.instead = [Answer(200, PHOTO)]
    by_twilio.twilio("image/jpeg")
    asked = [*by_twilio.api.asked, *by_twilio.cdn.asked]
    assert [each.token for each in asked] == [basic(f"{ACCOUNT}:{TOKEN}"), None]


def test_several_files_of_one_message_are_one_archive(by_twilio: Resold) -> None:
    by_twilio.api.raw[path(0)] = Answer(200, PHOTO, {"Content-Type": "image/jpeg"})
    by_twilio.api.raw[path(1)] = Answer(200, PDF, {"Content-Type": "application/pdf"})
    event = by_twilio.twilio("image/jpeg", "application/pdf")
    with zipfile.ZipFile(io.BytesIO(by_twilio.kept(event))) as archive:
        assert {each: archive.read(each) for each in archive.namelist()} == {"1.jpg": PHOTO, "2.pdf": PDF}


def test_nothing_is_read_where_twilio_has_no_files(by_twilio: Resold) -> None:
    sends_on(by_twilio, to="https://mms.twiliocdn.com.example.com/x")
    event = by_twilio.twilio("image/jpeg")
    assert (by_twilio.fetch()["reason"], by_twilio.lab.state(event)) == ("media_elsewhere", "confirmed")


def test_the_address_in_the_message_is_never_called(by_twilio: Resold) -> None:
    by_twilio.api.raw[path(0)] = Answer(200, PHOTO)
    by_twilio.twilio("image/jpeg", host=by_twilio.cdn.url.replace("http://", "https://"))
    assert (by_twilio.cdn.asked, [each.path for each in by_twilio.api.asked]) == ([], [path(0)])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(404), "media_gone"),
        (Answer(200, bytes(1024 * 1024 + 1)), "media_too_large"),
    ],
)
def test_a_lead_never_waits_for_what_twilio_does_not_give(by_twilio: Resold, answer: Answer, reason: str) -> None:
    by_twilio.api.instead = [answer] * 20
    event = by_twilio.twilio("image/jpeg")
    assert (by_twilio.lab.state(event), by_twilio.fetch()["reason"]) == ("confirmed", reason)


def test_redirects_without_end_are_given_up(by_twilio: Resold) -> None:
    sends_on(by_twilio)
    by_twilio.cdn.instead = [Answer(307, b"", {"Location": f"{by_twilio.cdn.url}/again"})] * 9
    by_twilio.twilio("image/jpeg")
    assert (by_twilio.fetch()["reason"], len(by_twilio.cdn.asked)) == ("fetch_address_refused", 3)


def test_an_api_key_comes_with_its_secret(database_url: str, tmp_path: Path) -> None:
    with resold(database_url, tmp_path, "twilio", "SK00:secret") as made:
        made.api.tokens = {basic("SK00:secret")}
        made.api.raw[path(0)] = Answer(200, PDF)
        assert made.kept(made.twilio("application/pdf")) == PDF


# --- 360dialog --------------------------------------------------------------------------------------------------------


def test_360dialogs_own_host_stands_in_the_place_of_metas(by_dialog: Resold) -> None:
    event = by_dialog.dialog()
    assert by_dialog.kept(event) == PHOTO
    assert [(each.path, each.token) for each in by_dialog.api.asked] == [
        ("/9001", KEY),
        ("/whatsapp_business/attachments/", KEY),
    ]
    assert by_dialog.api.asked[1].query == {"mid": ["9001"], "ext": ["1"], "hash": ["a/b"]}


def test_another_address_than_metas_is_not_asked_for(by_dialog: Resold) -> None:
    told = by_dialog.api.objects["/9001"]
    assert isinstance(told, dict)
    told["url"] = "https://files.example.com/9001"
    by_dialog.dialog()
    assert (by_dialog.fetch()["reason"], len(by_dialog.api.asked)) == ("media_elsewhere", 1)


def test_a_dead_key_parks_the_lane_and_holds_no_lead_up(by_dialog: Resold) -> None:
    by_dialog.api.tokens.clear()
    event = by_dialog.dialog()
    assert (by_dialog.lab.state(event), by_dialog.fetch()["reason"]) == ("confirmed", "token_refused")
    assert len(by_dialog.lab.rows("SELECT FROM fetch_lanes")) == 1


def test_an_error_of_360dialog_is_tried_again(by_dialog: Resold) -> None:
    by_dialog.api.instead = [error(500, {"message": "down"})]
    by_dialog.dialog()
    by_dialog.lab.settle(rounds=2)
    assert by_dialog.fetch()["size"] == len(PHOTO)
