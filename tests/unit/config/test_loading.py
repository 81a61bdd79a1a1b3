"""A right file becomes settings."""

from __future__ import annotations

from datetime import date, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from intake.business_time import BusinessDuration, BusinessHours
from intake.config import (
    DEMO_CONFIG,
    KNOWN_PROVIDERS,
    Assignment,
    ContactRule,
    Destination,
    Settings,
    Source,
    Template,
    load,
)
from tests.unit.config.conftest import SOURCE, Loads

EVERY_KEY = Path(__file__).with_name("every_key.toml")
KEYS = {"NEW_KEY": "new", "OLD_KEY": "old", "ACME_KEY": "key", "ALERT_HOOK": "hook", "ALERT_SMTP": "smtp"}


@pytest.fixture(scope="module")
def whole() -> Settings:
    return load(EVERY_KEY, KEYS)


def test_every_known_provider_loads(whole: Settings) -> None:
    assert {source.provider for source in whole.sources.values()} == KNOWN_PROVIDERS


def test_installation_is_as_written(whole: Settings) -> None:
    assert (whole.public_base_url, whole.region, whole.language) == ("https://hooks.example.com", "CL", "en")
    assert whole.timezone == ZoneInfo("America/Santiago")
    assert whole.spool_dir == Path("/var/spool/example")
    assert whole.business_hours == BusinessHours.parse("mon-fri 09:00-13:00 14:00-18:00, sat 10:00-14:00")
    assert whole.holidays == {date(2026, 12, 25), date(2027, 1, 1)}


@pytest.mark.parametrize(("port", "address"), [("", "8080"), ("8099", "8099"), ("none of all", "8080")])
def test_senders_call_this_host_where_nobody_wrote_an_address(port: str, address: str) -> None:
    assert load(DEMO_CONFIG, {"PORT": port}).public_base_url == f"http://127.0.0.1:{address}"


def test_a_written_address_is_stronger_than_the_port() -> None:
    assert load(EVERY_KEY, {**KEYS, "PORT": "8099"}).public_base_url == "https://hooks.example.com"


def test_alerts_are_as_written(whole: Settings) -> None:
    one = whole.alerts
    assert (one.format, one.email_to) == ("json", ("ventas@example.com", "rosa@example.com"))
    assert (one.email_from, one.console_url) == ("leads@example.com", "https://console.example.com")
    assert (one.digest_at, whole.reconcile_at) == (time(8), time(2, 30))
    assert one.webhook_url is not None
    assert one.webhook_url.value == "hook"


def test_a_missing_secret_of_the_alerts_is_a_notice(loads: Loads) -> None:
    found = loads(SOURCE + '[alerts]\nwebhook_url = "env:NOT_SET"\n')
    assert found.notices == ("alerts by webhook are not sent: env:NOT_SET is not set",)


def test_destination_is_as_written(whole: Settings) -> None:
    one = whole.destinations["acme-crm"]
    assert (one.client, one.base_url, one.mode) == ("odoo", "https://acme.example.com", "live")
    assert one.credential is not None
    assert one.credential.value == "key"
    assert (one.pipeline, one.stage, one.currency) == ("Ventas 2", "Nuevo", "CLP")
    assert one.opportunity_text == Template("{message}\nRUT: {document}\n")
    assert one.assume_limit == timedelta(minutes=2)
    assert (one.owner.rule, one.owner.users) == (("affinity", "assign", "round_robin"), ("rosa", "hugo"))
    assert one.owner.assign == (Assignment("hugo", "mesa", "CL", "own-words"),)
    assert (one.task.type, one.task.due) == ("call", BusinessDuration(1, "day", business=True))
    assert one.contacts == ContactRule("new", "review")
    assert one.fields == {
        "document": "x_rut",
        "utm_source": "x_origin",
        "utm_anything": "x_other",
        "items": "opportunity.x_items",
    }
    assert one.options == {"profile": "crm.lead", "limit_seconds": "90"}


def test_source_overrides_every_default(whole: Settings) -> None:
    own, other = whole.sources["own-words"], whole.sources["p-tally"]
    same = {
        name
        for name in Source.__dataclass_fields__
        if getattr(own, name) == getattr(other, name) and name not in {"kind", "available", "closed_because"}
    }
    assert same == {
            "verify_token", "page_token", "graph_url", "allowed_origins", "shop_url", "consumer_key", "consumer_secret",
            "pull_every", "media_token", "media_url", "media_hosts", "media_megabytes",
        }  # fmt: skip


def test_source_without_own_words_has_the_defaults(whole: Settings) -> None:
    one = whole.sources["p-tally"]
    assert (one.destination, one.test_destination) == ("acme-crm", "acme-try")
    assert (one.conversation_hours, one.promise_minutes, one.key_retention_days) == (48, 15, 400)
    assert (one.hold, one.order_policy, one.assignee) == (("links",), "ignore", "rosa")


def test_header_that_names_the_delivery_is_lower_case(whole: Settings) -> None:
    assert whole.sources["own-words"].dedupe == "x-request-id"


def test_pointer_may_name_the_delivery(loads: Loads) -> None:
    assert loads(f'{SOURCE}dedupe = "/data/Id"\n').sources["web"].dedupe == "/data/Id"


def test_hold_none_switches_the_default_off(whole: Settings) -> None:
    assert whole.sources["own-words"].hold == ()


def test_pointers_are_as_written(whole: Settings) -> None:
    assert whole.sources["own-words"].fields == {"name": "/your-name", "phone": "/data/tel"}


def test_least_file_has_the_defaults_of_the_form(loads: Loads) -> None:
    settings = loads(SOURCE)
    assert settings.sources["web"] == Source(
        "web", "form", "generic", secrets=settings.sources["web"].secrets, destination="sandbox"
    )
    assert (settings.region, settings.timezone.key, settings.language) == ("PE", "America/Lima", "es")
    assert settings.business_hours == BusinessHours.parse("mon-fri 09:00-18:00")


def test_sandbox_is_always_there(loads: Loads) -> None:
    assert loads(SOURCE).destinations == {"sandbox": Destination("sandbox", "sandbox", mode="test")}


def test_sandbox_may_be_described(loads: Loads) -> None:
    written = '[[destinations]]\nname = "sandbox"\nclient = "sandbox"\ncurrency = "PEN"\n'
    assert loads(written + SOURCE).destinations["sandbox"].currency == "PEN"


def test_only_destination_needs_no_naming(loads: Loads) -> None:
    text = '[[destinations]]\nname = "crm"\nclient = "http"\n' + SOURCE
    assert loads(text).sources["web"].destination == "crm"


def test_plain_http_is_fine_on_this_host(loads: Loads) -> None:
    text = '[[destinations]]\nname = "crm"\nclient = "espocrm"\nbase_url = "http://[::1]:8085/api"\n' + SOURCE
    assert loads(text).destinations["crm"].base_url == "http://[::1]:8085/api"


def test_provider_that_is_not_built_in_is_not_available(tmp_path: Path) -> None:
    path = tmp_path / "intake.toml"
    path.write_text(SOURCE)
    settings = load(path, {"KEY": "sesame"}, built_in={"tally"})
    assert not settings.sources["web"].available
    assert settings.notices == ('source "web" is not served: this version has no provider "generic"',)


def test_mark_before_the_text_and_other_line_ends_are_read(loads: Loads) -> None:
    assert loads("\ufeff" + SOURCE.replace("\n", "\r\n")).sources.keys() == {"web"}


def test_demo_has_a_form_a_whatsapp_and_a_quote_source() -> None:
    demo = load(DEMO_CONFIG, {})
    assert {(one.name, one.kind, one.provider) for one in demo.sources.values()} == {
        ("web-contact", "form", "standard_webhooks"),
        ("wa-ventas", "whatsapp", "whatsapp_cloud"),
        ("cotizaciones", "quote", "quote"),
    }
    assert {one.destination for one in demo.sources.values()} == {"sandbox"}


def test_demo_is_open_with_its_secrets() -> None:
    names = ("WEB_SECRET", "WHATSAPP_SECRET", "QUOTE_SECRET", "VERIFY_TOKEN")
    assert load(DEMO_CONFIG, {f"INTAKE_DEMO_{name}": "sesame" for name in names}).notices == ()
