"""Who is told what needs a person: on change of state, grouped, once, and that it is over."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from intake.alerts import changes, outbox
from intake.config import Secret
from intake.db import transaction
from intake.refusals import Refusal, Refusals
from intake.spool import SUFFIX
from tests.commands import beside, intake, listed
from tests.lab import Lab
from tests.simulation.watching import AGAIN, STEP, Told, watching
from workers import clock, watch

NEVER = {"times": None}


@pytest.fixture
def told(stored: Lab) -> Iterator[Told]:
    with watching(stored) as made:
        yield made


def in_doubt(told: Told, number: int = 1) -> None:
    """One more lead whose creation got no sure answer."""
    told.lab.dials.fault("500_without_effect", match={"what": "create", "kind": "opportunity"})
    event = told.lab.form(email=f"p{number}@example.com", phone=f"98765{number:04d}")
    told.lab.work()
    assert told.lab.state(event) == "uncertain"


# --- what is said of each condition ---------------------------------------------------------------------------------


def test_a_doubt_is_told_once_with_its_reference(told: Told) -> None:
    in_doubt(told)
    (text,) = told.round()
    (need,) = told.lab.rows("SELECT reference FROM needs")
    assert "1 en duda de «web»" in text
    assert str(need["reference"]) in text
    assert told.round() == []


def test_that_a_doubt_is_over_is_told(told: Told) -> None:
    in_doubt(told)
    told.round()
    told.lab.settle()
    (text,) = told.round()
    assert "Recuperado: en duda de «web»." in text


def test_what_changes_in_one_round_is_one_message(told: Told) -> None:
    in_doubt(told)
    told.lab.post("web", b"{")
    (text,) = told.round()
    assert "en duda" in text
    assert "no se pudieron leer" in text


def test_another_doubt_is_told_when_a_quarter_of_an_hour_has_passed(told: Told) -> None:
    in_doubt(told)
    told.round()
    in_doubt(told, 2)
    assert told.round() == []
    (text,) = told.round(AGAIN)
    assert "Más: 2 en duda de «web»" in text


def test_what_comes_and_goes_by_the_second_is_not_told_each_time(told: Told) -> None:
    said = []
    for number in range(5):
        in_doubt(told, number)
        said += told.round(timedelta(seconds=20))
        told.lab.settle(3)
        said += told.round(timedelta(seconds=20))
    assert len(said) == 2


def test_a_review_is_told(told: Told) -> None:
    told.lab.dials.fault("422", match={"what": "create", "kind": "contact"})
    told.lab.form()
    told.lab.work()
    (text,) = told.round()
    assert "1 de «web» necesitan a una persona" in text


def test_a_conflict_is_told(told: Told) -> None:
    told.lab.form(delivery_id="same")
    told.lab.form(delivery_id="same", message="otro texto")
    told.lab.work()
    (text,) = told.round()
    assert "1 de «web» llegaron otra vez con otro contenido" in text


def test_an_incident_is_told(told: Told) -> None:
    told.lab.form()
    told.lab.work()
    with psycopg.connect(told.lab.database_url) as conn:
        conn.execute("INSERT INTO items (kind, reason, mode, subject) VALUES ('incident', 'x', 'live', 'account:crm')")
    (text,) = told.round()
    assert "1 incidentes de «toda la instalación»" in text


def test_tests_trouble_nobody(told: Told) -> None:
    told.lab.dials.fault("422", match={"what": "create", "kind": "contact"})
    told.lab.form(mode="test")
    told.lab.work()
    assert told.round(AGAIN) == []


# --- accounts, backlog, promises ------------------------------------------------------------------------------------


def test_refused_credentials_for_an_hour_are_one_alert_and_one_recovered(told: Told) -> None:
    told.lab.dials.fault("401", **NEVER)
    told.lab.form()
    told.lab.work()
    said = [text for _ in range(60) for text in told.round(timedelta(minutes=1))]
    assert [text.splitlines()[0][:38] for text in said] == ["La cuenta del CRM «crm» está en pausa "]
    told.lab.dials.no_faults()
    told.lab.work()
    assert [text.splitlines()[0] for text in told.round()] == ["Recuperado: la cuenta del CRM «crm» funciona de nuevo."]
    assert told.round() == []


def test_a_promise_that_is_not_kept_is_told(told: Told) -> None:
    told.lab.form()
    assert told.round(timedelta(minutes=4)) == []
    (text,) = told.round(timedelta(minutes=2))
    assert "1 de «web» aún no están en el CRM" in text


def test_a_source_that_promises_nothing_breaks_no_promise(told: Told) -> None:
    told.with_source("web", promise_minutes=0)
    told.lab.form()
    assert not [text for text in told.round(timedelta(minutes=9)) if "prometido" in text]


def test_a_backlog_is_told(told: Told) -> None:
    told.with_source("web", promise_minutes=0)
    told.lab.form()
    (text,) = told.round(timedelta(minutes=11))
    assert "1 entregas a «crm» esperan desde" in text


def test_that_no_worker_lives_is_told(told: Told) -> None:
    told.worker_lives = False
    told.lab.form()
    (text,) = told.round(timedelta(minutes=2))
    assert "Ningún worker responde y 1 entregas esperan" in text


def test_a_paused_source_is_told_and_breaks_no_promise(told: Told) -> None:
    with psycopg.connect(told.lab.database_url) as conn:
        conn.execute("INSERT INTO paused_sources (source) VALUES ('web')")
    told.lab.form()
    said = [text for _ in range(30) for text in told.round(timedelta(minutes=1))]
    assert [text.splitlines()[0][:33] for text in said] == ["Una persona puso en pausa «web» e"]
    with psycopg.connect(told.lab.database_url) as conn:
        conn.execute("DELETE FROM paused_sources")
    assert [text.splitlines()[0] for text in told.round()] == ["«web» se reanudó."]


def test_a_spool_in_use_is_told(told: Told, tmp_path: Path) -> None:
    told.watch = replace(told.watch, settings=replace(told.watch.settings, spool_dir=tmp_path))
    assert told.round() == []
    (tmp_path / f"{int(told.clock.timestamp() - 600) * 1000}-1{SUFFIX}").write_bytes(b"x\n")
    (text,) = told.round()
    assert "hay entregas en el disco de este servidor" in text


# --- silence, noise, nothing ----------------------------------------------------------------------------------------


def receipts(told: Told, verdict: str, ages: list[timedelta], *, mode: str = "live") -> None:
    """Deliveries of the source `web` that came so long ago."""
    with psycopg.connect(told.lab.database_url) as conn:
        conn.cursor().executemany(
            "INSERT INTO receipts (receipt_id, received_at, mode, source, content_type, verdict)"
            " VALUES (%s, clock_timestamp() - %s, %s, 'web', '', %s)",
            [(uuid4(), age, mode, verdict) for age in ages],
        )


def hourly(days: int, *, until: timedelta) -> list[timedelta]:
    """Every hour of so many days, the last one so long ago."""
    return [until + timedelta(hours=hour) for hour in range(days * 24)]


def test_a_busy_source_that_falls_silent_is_told(told: Told) -> None:
    receipts(told, "accepted", hourly(10, until=timedelta(hours=3)))
    (text,) = told.round(timedelta(minutes=6))
    assert "«web» no envía nada desde" in text


def test_a_source_that_sends_again_is_told(told: Told) -> None:
    receipts(told, "accepted", hourly(10, until=timedelta(hours=3)))
    told.round(timedelta(minutes=6))
    receipts(told, "accepted", [timedelta(0)])
    (text,) = told.round(AGAIN)
    assert "«web» vuelve a enviar" in text


def test_a_weekend_is_no_silence_of_a_source_that_has_weekends(told: Told) -> None:
    receipts(told, "accepted", hourly(3, until=timedelta(days=2)) + hourly(5, until=timedelta(days=7)))
    assert told.round(timedelta(minutes=6)) == []


def test_a_source_with_a_few_leads_a_month_may_be_silent(told: Told) -> None:
    receipts(told, "accepted", [timedelta(days=day) for day in range(2, 28)])
    assert told.round(timedelta(minutes=6)) == []


def test_deliveries_that_give_nothing_again_and_again_are_told(told: Told) -> None:
    receipts(told, "accepted", hourly(3, until=timedelta(hours=25)))
    receipts(told, "ignored", hourly(1, until=timedelta(minutes=1)))
    (text,) = told.round(timedelta(minutes=6))
    assert "24 entregas de «web» en un día y ningún lead" in text


def test_statuses_beside_leads_are_something(told: Told) -> None:
    receipts(told, "ignored", hourly(1, until=timedelta(minutes=1)))
    receipts(told, "accepted", [timedelta(hours=5)])
    assert told.round(timedelta(minutes=6)) == []


def test_a_live_form_that_posts_to_the_address_for_tests_is_told(told: Told) -> None:
    receipts(told, "accepted", hourly(1, until=timedelta(minutes=1)), mode="test")
    (text,) = told.round(timedelta(minutes=6))
    assert "24 entregas de «web» llegaron desde" in text
    assert "a la dirección de pruebas" in text


def test_an_afternoon_of_trying_out_is_no_live_form(told: Told) -> None:
    receipts(told, "accepted", [timedelta(minutes=minute) for minute in range(0, 240, 10)], mode="test")
    assert told.round(timedelta(minutes=6)) == []


def test_tests_beside_as_many_live_leads_are_tests(told: Told) -> None:
    receipts(told, "accepted", hourly(1, until=timedelta(minutes=1)), mode="test")
    receipts(told, "accepted", hourly(1, until=timedelta(minutes=2)))
    assert told.round(timedelta(minutes=6)) == []


def test_noise_is_told(told: Told) -> None:
    refusals = Refusals(told.lab.pool)
    for _ in range(40):
        refusals.count(Refusal("live", "web", "not_authentic"))
    refusals.write()
    (text,) = told.round(timedelta(minutes=6))
    assert "40 entregas de «web» rechazadas" in text


def test_as_many_refusals_as_always_are_no_noise(told: Told) -> None:
    with psycopg.connect(told.lab.database_url) as conn:
        conn.execute(
            "INSERT INTO refusals SELECT 'web', 'not_authentic', date_trunc('hour', now()) - n * interval '1 hour', 40"
            " FROM generate_series(0, 150) AS n"
        )
    assert told.round(timedelta(minutes=6)) == []


# --- getting out ----------------------------------------------------------------------------------------------------


def test_both_channels_hear_it(told: Told) -> None:
    in_doubt(told)
    told.round()
    (letter,) = told.letters()
    assert "1 en duda de «web»" in letter


def test_a_webhook_that_fails_hears_it_later_under_the_same_id(told: Told) -> None:
    told.hook.status = 500
    in_doubt(told)
    assert told.round() == []
    assert len(told.letters()) == 1
    told.hook.status = 200
    assert len(told.round(timedelta(minutes=1))) == 1
    (row,) = told.lab.rows("SELECT message_id, tries, failure FROM outbox WHERE channel = 'webhook'")
    assert (told.hook.ids, row["tries"], row["failure"]) == ([str(row["message_id"])], 2, None)
    assert len(told.letters()) == 1


def test_a_mail_server_that_refuses_is_asked_again(told: Told) -> None:
    told.mail.refuses = True
    in_doubt(told)
    told.round()
    told.mail.refuses = False
    told.round(timedelta(minutes=1))
    assert len(told.letters()) == 1


def test_what_nobody_took_for_a_day_is_given_up(told: Told) -> None:
    told.hook.status = 404
    in_doubt(told)
    told.round()
    for _ in range(26):
        told.round(timedelta(hours=1))
    told.hook.status = 200
    assert not [text for text in told.round(timedelta(hours=1)) if "1 en duda" in text]


def test_a_sender_that_dies_is_followed_by_another(told: Told) -> None:
    in_doubt(told)
    with transaction(told.lab.pool) as conn:
        changes.watch(conn, told.watch.settings, slow=False)
        assert outbox.claim(conn, ("webhook",)) is not None
    assert told.round() == []
    assert len(told.round(timedelta(minutes=3))) == 1


def test_any_number_of_clocks_say_it_once(told: Told) -> None:
    in_doubt(told)
    told.pass_time(STEP)
    clocks = [threading.Thread(target=watch.round_of, args=(told.watch,)) for _ in range(6)]
    for each in clocks:
        each.start()
    for each in clocks:
        each.join()
    assert len(told.news()) == len(told.letters()) == 1


def test_without_a_channel_nothing_is_kept_to_be_said(told: Told) -> None:
    told.with_alerts(webhook_url=None, smtp_url=None)
    in_doubt(told)
    told.round()
    assert told.lab.rows("SELECT * FROM outbox") == []
    assert [row["name"] for row in told.lab.rows("SELECT name FROM conditions WHERE ended_at IS NULL")] == ["uncertain"]


def test_an_address_that_is_none_is_a_failure_and_no_crash(told: Told) -> None:
    told.with_alerts(webhook_url=Secret("env:X", "not an address"), smtp_url=Secret("env:Y", "mail.example.com"))
    in_doubt(told)
    told.round()
    rows = told.lab.rows("SELECT failure FROM outbox")
    assert [row["failure"] for row in rows] == ["no_address", "no_address"]


# --- daily and heartbeat --------------------------------------------------------------------------------------------


def test_the_digest_comes_once_a_day_at_its_hour(told: Told) -> None:
    zone = told.watch.settings.timezone
    told.with_alerts(digest_at=(told.clock + timedelta(minutes=30)).astimezone(zone).time().replace(microsecond=0))
    told.lab.form()
    told.lab.work()
    said = [text for _ in range(30) for text in told.round(timedelta(hours=1))]
    digests = [text for text in said if "Resumen de leads" in text]
    assert len(digests) == 2
    assert "Recibidos: 1" in digests[0]


def test_the_digest_tells_the_day_in_numbers(told: Told) -> None:
    told.lab.form()
    told.lab.work()
    in_doubt(told)
    told.with_alerts(digest_at=told.clock.astimezone(told.watch.settings.timezone).time().replace(microsecond=0))
    said = "\n".join(told.round(timedelta(minutes=1)))
    assert "En el CRM: 1\nEn camino: 0\nEsperan por usted: 1 (1 en duda)" in said
    assert "- Formularios: " in said
    assert "Intentos por lead: 3.0" in said


def test_the_heartbeat_goes_out_while_the_clock_ticks(told: Told) -> None:
    told.with_alerts(heartbeat_url=Secret("env:B", f"{told.hook.url}/ping/abc?source=leads"))
    clock.tick(told.lab.pool, name="lab")
    watch.round_of(told.watch)
    assert told.hook.called == ["/ping/abc?source=leads"]


def test_the_heartbeat_stops_with_the_ticks(told: Told) -> None:
    told.with_alerts(heartbeat_url=Secret("env:B", f"{told.hook.url}/ping/abc"))
    clock.tick(told.lab.pool, name="lab")
    told.round(timedelta(minutes=2))
    assert told.hook.called == []


def test_one_clock_beats_for_all_once_a_minute(told: Told) -> None:
    told.with_alerts(heartbeat_url=Secret("env:B", f"{told.hook.url}/ping/abc"))
    for _ in range(3):
        clock.tick(told.lab.pool, name="lab")
        watch.round_of(told.watch)
    assert len(told.hook.called) == 1


def test_the_reconciliation_is_asked_for_once_a_night(told: Told) -> None:
    soon = (told.clock + timedelta(minutes=10)).astimezone(told.watch.settings.timezone)
    settings = replace(told.watch.settings, reconcile_at=soon.time().replace(microsecond=0))
    told.watch = replace(told.watch, settings=settings)
    for _ in range(8):
        told.round(timedelta(hours=4))
    assert len(told.lab.rows("SELECT * FROM reconciliation_runs")) == 2


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_command_lists_what_holds_and_what_was_said(told: Told, tmp_path: Path) -> None:
    in_doubt(told)
    told.round()
    said = intake(beside(told.lab, tmp_path), "alerts", "--json").document
    (condition,), sent = listed(said, "conditions"), listed(said, "sent")
    assert (condition["condition"], condition["subject"], condition["count"]) == ("uncertain", "web", 1)
    assert {(each["channel"], each["tries"]) for each in sent} == {("email", 1), ("webhook", 1)}


def test_the_command_says_it_in_words(told: Told, tmp_path: Path) -> None:
    in_doubt(told)
    told.round()
    said = intake(beside(told.lab, tmp_path), "alerts").out
    assert "1 en duda de «web»" in said
    assert "Ningún canal está configurado" in said


def with_channels(told: Told, folder: Path) -> dict[str, str]:
    """The environment of a host whose configuration names the test's channels."""
    environ = dict(beside(told.lab, folder))
    file = folder / "intake.toml"
    alerts = '[alerts]\nwebhook_url = "env:HOOK"\nsmtp_url = "env:SMTP"\nemail_to = ["ventas@example.com"]\n'
    file.write_text(file.read_text() + alerts)
    return environ | {"HOOK": told.hook.url, "SMTP": told.mail.url}


def test_a_test_message_goes_out_on_every_channel(told: Told, tmp_path: Path) -> None:
    said = intake(with_channels(told, tmp_path), "alerts", "--test")
    assert (said.status, said.out.splitlines()) == (0, ["webhook: sent", "email: sent"])
    assert "Prueba: los avisos" in told.hook.texts[0]
    assert "Prueba: los avisos" in told.letters()[0]


def test_a_test_message_that_is_not_taken_is_a_finding(told: Told, tmp_path: Path) -> None:
    told.hook.status = 403
    said = intake(with_channels(told, tmp_path), "alerts", "--test")
    assert said.status == 1
    assert "webhook: status_403" in said.out


def test_a_test_message_needs_a_channel(told: Told, tmp_path: Path) -> None:
    assert intake(beside(told.lab, tmp_path), "alerts", "--test").status == 2


def test_plain_data_for_programs(stored: Lab) -> None:
    with watching(stored, form="json") as told:
        in_doubt(told)
        told.round()
        (heard,) = told.hook.heard
    (change,) = listed(heard, "changes")
    assert (heard["id"], heard["kind"]) == (told.hook.ids[0], "change")
    assert (change["what"], change["name"], change["subject"], change["count"]) == ("began", "uncertain", "web", 1)
