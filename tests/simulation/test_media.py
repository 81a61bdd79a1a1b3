"""Files that came with messages: fetched from the sender's own hosts, sealed, and never in a lead's way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from intake import fetches, media, sealing
from intake.alerts.conditions import QUICK, holding
from intake.lead import Contact, Enquiry, Lead, Media
from tests.graph_server import GONE, Answer, error
from tests.simulation.talk import VOICE, Talk, talk
from workers.main import group


@pytest.fixture
def wa(database_url: str, tmp_path: Path) -> Iterator[Talk]:
    with talk(database_url, tmp_path) as made:
        yield made


def test_a_voice_note_is_kept_sealed(wa: Talk) -> None:
    wa.add_file("9001")
    event = wa.voice()
    wa.lab.work()
    with wa.lab.pool.connection() as conn:
        kept = media.of_event(conn, event)
    assert kept is not None
    assert kept.sealed is not None
    assert VOICE not in kept.sealed
    assert (wa.seal.open(kept.sealed), kept.mime_type, kept.size) == (VOICE, "audio/ogg", len(VOICE))


def test_the_opportunity_names_the_file(wa: Talk) -> None:
    wa.add_file("9001")
    wa.voice()
    wa.lab.work()
    (opportunity,) = wa.lab.in_crm("opportunity")
    assert f"[voice] guardado: {wa.fetch()['reference']}" in str(opportunity["text"])


def test_a_reference_leads_to_its_event(wa: Talk) -> None:
    event = wa.voice()
    with wa.lab.pool.connection() as conn:
        assert media.event_of(conn, str(wa.fetch()["reference"])) == event
        assert media.event_of(conn, "m-unknown") is None


@pytest.mark.parametrize("fault", [error(500, {"message": "down"}), error(400, GONE), error(401, {"code": 190})])
def test_a_lead_never_waits_for_its_file(wa: Talk, fault: Answer) -> None:
    wa.graph.instead = [fault] * 50
    event = wa.voice()
    wa.lab.work()
    assert wa.lab.state(event) == "confirmed"


def test_a_fetch_that_failed_is_made_again(wa: Talk) -> None:
    wa.add_file("9001")
    wa.store.instead = [Answer(500)]
    wa.voice()
    wa.lab.work()
    assert (wa.fetch()["reason"], wa.fetch()["size"]) == ("fetch_status_500", None)
    wa.lab.settle(rounds=2)
    assert (wa.fetch()["reason"], wa.fetch()["size"]) == (None, len(VOICE))


@pytest.mark.parametrize("address", [
    "http://127.0.0.1:1/secret", "http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "",
    "http://user@127.0.0.1/whatsapp/9001", "http://[::1", "https://lookaside.fbsbx.com.example.com/x",
])  # fmt: skip
def test_nothing_is_fetched_from_elsewhere(wa: Talk, address: str) -> None:
    wa.add_file("9001", at=address or "nowhere")
    wa.voice()
    wa.lab.work()
    assert wa.fetch()["reason"] in {"media_elsewhere", "fetch_unreadable"}
    assert wa.store.asked == []


def test_a_redirect_is_not_followed(wa: Talk) -> None:
    wa.add_file("9001")
    wa.store.instead = [Answer(302, b"", {"Location": f"{wa.store.url}/whatsapp/other"})]
    wa.voice()
    wa.lab.work()
    assert [each.path for each in wa.store.asked] == ["/whatsapp/9001"]


def test_a_file_that_says_it_is_too_large_is_not_fetched(wa: Talk) -> None:
    wa.add_file("9001", file_size=17 * 1024 * 1024)
    wa.voice()
    wa.lab.work()
    assert (wa.fetch()["reason"], wa.store.asked) == ("media_too_large", [])


def test_a_file_that_is_larger_than_it_says_is_not_kept(database_url: str, tmp_path: Path) -> None:
    with talk(database_url, tmp_path, megabytes=1) as wa:
        wa.add_file("9001", bytes(1024 * 1024 + 1), file_size=10)
        wa.voice()
        wa.lab.work()
        assert (wa.fetch()["reason"], wa.fetch()["size"]) == ("media_too_large", None)


def test_a_dead_token_parks_the_lane_of_the_files(wa: Talk) -> None:
    wa.graph.tokens.clear()
    wa.voice("9001", "wamid.v1")
    wa.voice("9002", "wamid.v2")
    wa.lab.work()
    with wa.lab.pool.connection() as conn:
        found = {(each.name, each.subject, each.count) for each in holding(conn, wa.lab.settings, QUICK)}
    assert ("media_parked", "wa", 2) in found
    assert len(wa.graph.asked) == 1


def test_a_file_that_is_gone_is_told(wa: Talk) -> None:
    event = wa.voice()
    wa.lab.work()
    with wa.lab.pool.connection() as conn:
        (fetch,) = fetches.of_event(conn, event)
    assert "media_gone" in fetch.told


def test_a_source_without_a_token_keeps_none(wa: Talk) -> None:
    source = replace(wa.lab.settings.sources["wa"], media_token=None)
    lead = Lead(Contact(), Enquiry(media=(Media("voice", "9001"),)))
    assert media.referenced(source, lead) == lead


def command(wa: Talk, folder: Path, *words: str, key: str | None = None) -> tuple[int, str]:
    environ = {
        "DATABASE_URL": wa.lab.database_url, "INTAKE_SEAL_KEYS": key or wa.seal_key, "INTAKE_HOME": str(folder),
        "REDIS_URL": None, "INTAKE_INSTALLATION": None, "INTAKE_EPOCH": None,
    }  # fmt: skip
    said = ["--out", str(folder), "--by", "ana", "--reason", "a test"]
    result = CliRunner().invoke(group(), ["media", *words, *said], env=environ)
    return result.exit_code, result.output


def test_a_person_brings_a_file_out_and_it_is_on_record(wa: Talk, tmp_path: Path) -> None:
    wa.add_file("9001")
    event = wa.voice()
    wa.lab.work()
    status, _ = command(wa, tmp_path, str(wa.fetch()["reference"]))
    (file,) = tmp_path.glob("m-*")
    assert (status, file.read_bytes(), file.stat().st_mode & 0o777) == (0, VOICE, 0o600)
    (row,) = wa.lab.rows("SELECT author, action, event_id FROM decisions")
    assert row == {"author": "ana", "action": "media", "event_id": event}


def test_another_hosts_key_opens_nothing(wa: Talk, tmp_path: Path) -> None:
    wa.add_file("9001")
    event = wa.voice()
    wa.lab.work()
    assert command(wa, tmp_path, str(event), key=sealing.new_key())[0] == 1
    assert list(tmp_path.glob("m-*")) == []


def test_a_file_that_is_not_here_yet_is_told(wa: Talk, tmp_path: Path) -> None:
    event = wa.voice()
    status, said = command(wa, tmp_path, str(event)[:8])
    assert (status, "being fetched" in said) == (1, True)


def test_a_message_that_comes_twice_is_fetched_once(wa: Talk) -> None:
    wa.add_file("9001")
    wa.voice()
    wa.voice()
    wa.lab.work()
    assert len(wa.store.asked) == 1
