"""A wrong file is refused, with the line, the place and the rule of everything that is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from intake.config import ConfigError, load
from tests.unit.config.conftest import SOURCE, Complains

CRM = '[[destinations]]\nname = "crm"\nclient = "http"\n'
MORE = '[[sources]]\nname = "more"\nkind = "form"\nprovider = "tally"\nsecrets = ["env:KEY"]\n'
ADDRESS = "must be an address such as https://example.com, without user, query or fragment"
SECRET = "a secret must be env:NAME or file:PATH, never the value itself"
TIMES = "times must be like 09:00-18:00, or 24:00 for the end of the day"
DEDUPE = 'must be "id", "body", a JSON Pointer such as "/data/id", or a header such as "X-Request-Id"'
ZONE = 'must be a time zone such as "America/Lima"'
NO_TESTS = 'tests may not go to "crm": it is neither mode = "test" nor a sandbox'
BRACE = "a brace may only stand around a placeholder, as in {contact}"
DURATION = 'must be like "30 minutes", "1 day" or "2 business hours"'

IN_INTAKE = [
    ('region = "pe"', 'region: must be a country code of two capital letters, such as "PE"'),
    ('timezone = "Lima"', f"timezone: {ZONE}"),
    ('timezone = "../../etc/passwd"', f"timezone: {ZONE}"),
    ('timezone = "America"', f"timezone: {ZONE}"),
    ('language = "fr"', 'language: unknown language "fr"; known are: en, es'),
    ('public_base_url = "example.com"', f"public_base_url: {ADDRESS}"),
    ('public_base_url = "https://example.com/?a=1"', f"public_base_url: {ADDRESS}"),
    ('public_base_url = "https://example.com:99999"', f"public_base_url: {ADDRESS}"),
    ('public_base_url = "https://[x"', f"public_base_url: {ADDRESS}"),
    ('public_base_url = "https://example.com/a b"', f"public_base_url: {ADDRESS}"),
    ('spool_dir = ""', "spool_dir: must be words on one line"),
    ("spool_dir = 7", "spool_dir: must be a text in quotes"),
    (
        'business_hours = "9 to 5"',
        "business_hours: days must be among mon, tue, wed, thu, fri, sat, sun, or two of them as in mon-fri",
    ),
    ('business_hours = "mon"', 'business_hours: must be like "mon-fri 09:00-18:00"'),
    ('business_hours = "mon 9:00-18:00"', f"business_hours: {TIMES}"),
    ('business_hours = "mon 18:00-09:00"', "business_hours: a closing time must be later than its opening time"),
    ('business_hours = "mon-fri 09:00-18:00, tue 17:00-19:00"', "business_hours: two opening times of one day overlap"),
    ('holidays = ["25 December"]', "holidays[0]: must be a date such as 2026-12-25"),
    ("holidays = [2026-12-25T00:00:00]", "holidays[0]: must be a date such as 2026-12-25"),
    ("holidays = 2026-12-25", 'holidays: must be a list, as in ["...", "..."]'),
    ('regoin = "PE"', 'regoin: unknown key "regoin"; did you mean "region"?'),
]

HOUR = 'must be a time of the day such as "08:00"'
IN_ALERTS = [
    ('webhook_url = "https://hooks.example.com/services/sesame"', f"webhook_url: {SECRET}"),
    ('format = "teams"', 'format: unknown format "teams"; known are: json, slack'),
    ('email_from = "ventas"', "email_from: must be an e-mail address such as ventas@example.com"),
    ('email_to = ["ventas@example.com"]', "email_to: needs smtp_url, too"),
    ('smtp_url = "env:X"', "smtp_url: needs email_to, too"),
    ('digest_at = "8"', f"digest_at: {HOUR}"),
    ('digest_at = "25:00"', f"digest_at: {HOUR}"),
    ("digest_at = 8", f"digest_at: {HOUR}"),
    ('webhok_url = "env:X"', 'webhok_url: unknown key "webhok_url"; did you mean "webhook_url"?'),
]

IN_DESTINATION = [
    ('client = "hubpsot"', 'client: unknown client "hubpsot"; did you mean "hubspot"?'),
    ('name = "My CRM"', "name: must be 1 to 64 small letters, digits or dashes"),
    ('base_url = "http://crm.example.com"', "base_url: must begin with https://, because a credential is sent there"),
    ('base_url = "ftp://crm.example.com"', f"base_url: {ADDRESS}"),
    ('base_url = "https://ana:sesame@crm.example.com"', f"base_url: {ADDRESS}"),
    ('credential = "sesame"', f"credential: {SECRET}"),
    ('mode = "trial"', 'mode: unknown mode "trial"; known are: live, test'),
    ('currency = "soles"', 'currency: must be a currency code of three capital letters, such as "PEN"'),
    ("pipeline = 3", "pipeline: must be a text in quotes"),
    ('stage = "a\\nb"', "stage: must be words on one line"),
    ('opportunity_title = "{contact.name}"', f"opportunity_title: {BRACE}"),
    ('task_title = " "', "task_title: must have words, and no control characters"),
    (f'stage = "{"x" * 201}"', "stage: must have at most 200 characters"),
    ("assume_limit = 0", "assume_limit: must be a whole number from 1 to 86400"),
    ("assume_limit = true", "assume_limit: must be a whole number from 1 to 86400"),
    ('owner.rule = "afinity"', 'owner.rule: unknown owner rule "afinity"; did you mean "affinity"?'),
    ('owner.rule = "round_robin"', "owner: round_robin needs users = [...]"),
    ('owner.rule = "assign"', 'owner: rule "assign" and [[destinations.owner.assign]] need each other'),
    ('owner.assign = "ana"', "owner.assign: must be begun with [[destinations.owner.assign]], one for each"),
    ('owner = { rule = "assign", assign = [{ product = "mesa" }] }', "owner.assign[0].user: is missing"),
    (
        'owner = { rule = "assign", assign = [{ user = "ana", source = "nope" }] }',
        'owner.assign[0].source: there is no source "nope"',
    ),
    ("owner.users = []", "owner.users: must have 1 to 100 elements"),
    ('owner = "ana"', "owner: must be a table"),
    ('task.due = "soon"', f"task.due: {DURATION}"),
    ('task.due = "400 days"', "task.due: must be at most 365 days"),
    ('fields.fone = "x"', 'fields.fone: unknown lead field "fone"; did you mean "phone"?'),
    ('fields = "x"', "fields: must be a table"),
    ("options.limit_seconds = 90", "options.limit_seconds: must be a text in quotes"),
    ('options.Profile = "x"', "options.Profile: must be small letters, digits and underscores"),
]  # fmt: skip

IN_SOURCE = [
    ('name = "Web_1"', "name: must be 1 to 64 small letters, digits or dashes"),
    ('kind = "sms"', 'kind: unknown kind "sms"; known are: form, quote, whatsapp'),
    ('provider = "whatsap_cloud"', 'provider: unknown provider "whatsap_cloud"; did you mean "whatsapp_cloud"?'),
    ('secrets = ["env:KEY", "sesame"]', f"secrets[1]: {SECRET}"),
    ('secrets = "env:KEY"', 'secrets: must be a list, as in ["...", "..."]'),
    ("secrets = []", "secrets: must have 1 to 8 elements"),
    ('verify_token = "sesame"', f"verify_token: {SECRET}"),
    ('destination = "sandbx"', 'destination: unknown destination "sandbx"; did you mean "sandbox"?'),
    ('test_destination = "sandbx"', 'test_destination: unknown destination "sandbx"; did you mean "sandbox"?'),
    ("max_body_bytes = 10", "max_body_bytes: must be a whole number from 1024 to 67108864"),
    ('max_body_bytes = "3 MB"', "max_body_bytes: must be a whole number from 1024 to 67108864"),
    ('approval = "maybe"', 'approval: unknown approval "maybe"; known are: none, required'),
    ('opportunity_per = "day"', 'opportunity_per: unknown unit "day"; known are: conversation, message'),
    ("accepted_status = 204", "accepted_status: must be 200 or 202"),
    ("accepted_status = 200.0", "accepted_status: must be 200 or 202"),
    ('scheme = "hmac"', 'scheme: unknown scheme "hmac"; did you mean "hmac-hex"?'),
    ('dedupe = "/a~b"', f"dedupe: {DEDUPE}"),
    ('dedupe = "X Id"', f"dedupe: {DEDUPE}"),
    ('identity_group = ""', "identity_group: must be 1 to 64 small letters, digits or dashes"),
    ('renamed_from = "web"', 'renamed_from: "web" is still the name of a source'),
    ('order_policy = "keep"', 'order_policy: unknown order policy "keep"; known are: ignore, lead'),
    ('hold = "links, words"', 'hold: unknown rule "words"; known are: links, repeated'),
    ("idempotency_key = 1", "idempotency_key: must be true or false"),
    ("conversation_hours = 99999999999999999999", "conversation_hours: must be a whole number from 1 to 8760"),
    ('fields.name = "your-name"', 'fields.name: must be a JSON Pointer such as "/your-name"'),
    ('fields.nmae = "/n"', 'fields.nmae: unknown lead field "nmae"; did you mean "name"?'),
    ('dedup = "id"', 'dedup: unknown key "dedup"; did you mean "dedupe"?'),
]  # fmt: skip


@pytest.mark.parametrize(("written", "said"), IN_ALERTS)
def test_value_of_alerts_is_refused_with_its_rule(complains: Complains, written: str, said: str) -> None:
    (line,) = complains(f"{SOURCE}[alerts]\n{written}\n")
    assert line.endswith(f": alerts.{said}")


@pytest.mark.parametrize(("written", "said"), IN_INTAKE)
def test_wrong_installation(complains: Complains, written: str, said: str) -> None:
    assert complains(f"# first\n[intake]\n{written}\n{SOURCE}") == [f"intake.toml:3: intake.{said}"]


@pytest.mark.parametrize(("written", "said"), IN_DESTINATION)
def test_wrong_destination(complains: Complains, written: str, said: str) -> None:
    key = written.partition(" ")[0]
    others = "".join(f"{line}\n" for line in CRM.splitlines() if not line.startswith(f"{key} "))
    line = len(others.splitlines()) + 1
    assert complains(f"{others}{written}\n{SOURCE}") == [f"intake.toml:{line}: destinations[0].{said}"]


@pytest.mark.parametrize(("written", "said"), IN_SOURCE)
def test_wrong_source(complains: Complains, written: str, said: str) -> None:
    key = written.partition(" ")[0]
    others = "".join(f"{line}\n" for line in SOURCE.splitlines() if not line.startswith(f"{key} "))
    line = len(others.splitlines()) + 1
    assert complains(f"{others}{written}\n") == [f"intake.toml:{line}: sources[0].{said}"]


@pytest.mark.parametrize("key", ["name", "kind", "provider", "secrets"])
def test_missing_key_has_the_line_of_its_table(complains: Complains, key: str) -> None:
    others = "".join(f"{line}\n" for line in SOURCE.splitlines() if not line.startswith(key))
    assert complains(f"\n\n{others}") == [f"intake.toml:3: sources[0].{key}: is missing"]


def test_unknown_placeholder_names_the_allowed_ones(complains: Complains) -> None:
    (said,) = complains(f'{CRM}task_title = "Llamar a {{contacto}}"\n{SOURCE}')
    assert said.startswith(
        'intake.toml:4: destinations[0].task_title: unknown placeholder "contacto"; did you mean "contact"?; '
        "allowed are: {amount}, {answers}, {channel}, "
    )


def test_all_problems_are_told_in_the_order_of_the_file(complains: Complains) -> None:
    said = complains('[intake]\nregion = "x"\n[defaults]\ndebounce = 3\n[[sources]]\nname = "web"\n')
    assert [line.split(":")[1] for line in said] == ["2", "4", "5", "5", "5"]


def test_mistake_in_the_defaults_is_told_once(complains: Complains) -> None:
    assert complains(f'[defaults]\ndestination = "crm"\n{SOURCE}{MORE}') == [
        'intake.toml:2: defaults.destination: unknown destination "crm"; known are: sandbox'
    ]


def test_default_scheme_is_for_generic_sources_only(complains: Complains) -> None:
    assert complains(f'[defaults]\nscheme = "bearer"\n{SOURCE}{MORE}scheme = "bearer"\n') == [
        'intake.toml:13: sources[1].scheme: the provider "tally" has its own scheme; only "generic" has a choice'
    ]


@pytest.mark.parametrize(
    ("provider", "kind", "wanted"),
    [
        ("whatsapp_cloud", "form", '"whatsapp"'),
        ("quote", "form", '"quote"'),
        ("tally", "whatsapp", '"form"'),
        ("shopify", "whatsapp", '"form" or "quote"'),
    ],
)
def test_provider_needs_its_kind(complains: Complains, provider: str, kind: str, wanted: str) -> None:
    text = f'[[sources]]\nname = "a"\nkind = "{kind}"\nprovider = "{provider}"\nsecrets = ["env:KEY"]\n'
    assert complains(text) == [f'intake.toml:3: sources[0].kind: the provider "{provider}" needs the kind {wanted}']


def test_name_of_a_source_cannot_be_twice(complains: Complains) -> None:
    assert complains(SOURCE + SOURCE) == ['intake.toml:7: sources[1].name: the name "web" is taken already']


def test_name_of_a_destination_cannot_be_twice(complains: Complains) -> None:
    assert 'intake.toml:5: destinations[1].name: the name "crm" is taken already' in complains(CRM + CRM + SOURCE)


def test_name_of_the_sandbox_is_taken(complains: Complains) -> None:
    text = '[[destinations]]\nname = "sandbox"\nclient = "odoo"\nmode = "test"\n'
    assert complains(text + SOURCE) == [
        'intake.toml:2: destinations[0].name: "sandbox" is the name of the embedded sandbox'
    ]


def test_several_destinations_need_naming(complains: Complains) -> None:
    other = CRM.replace('"crm"', '"other"')
    assert complains(CRM + other + SOURCE) == [
        "intake.toml:7: sources[0].destination: is missing, and there are several destinations"
    ]


def test_tests_may_not_go_to_a_live_destination(complains: Complains) -> None:
    assert complains(f'{CRM}{SOURCE}test_destination = "crm"\n') == [
        f"intake.toml:9: sources[0].test_destination: {NO_TESTS}"
    ]


def test_one_old_name_cannot_have_become_two_sources(complains: Complains) -> None:
    assert complains(f'{SOURCE}renamed_from = "old"\n{MORE}renamed_from = "old"\n') == [
        'intake.toml:12: sources[1].renamed_from: "old" cannot have become two sources'
    ]


def test_twilio_needs_the_public_address(complains: Complains) -> None:
    text = SOURCE.replace("generic", "twilio").replace("form", "whatsapp")
    assert complains(text) == [
        'intake.toml:1: intake.public_base_url: is missing; "twilio" signs the address that it calls'
    ]


def test_wrong_destination_name_is_the_only_complaint_about_it(complains: Complains) -> None:
    text = CRM.replace('"crm"', '"C R M"') + SOURCE + 'destination = "crm"\n'
    assert complains(text) == ["intake.toml:2: destinations[0].name: must be 1 to 64 small letters, digits or dashes"]


def test_unknown_table(complains: Complains) -> None:
    assert complains(f"[[source]]\n{SOURCE}") == [
        'intake.toml:1: source: unknown table "source"; did you mean "sources"?'
    ]


@pytest.mark.parametrize("text", ["", "sources = []\n"])
def test_file_without_a_source(complains: Complains, text: str) -> None:
    assert complains(text) == ["intake.toml:1: has no [[sources]], so nothing could ever arrive"]


def test_table_in_place_of_a_list_of_tables(complains: Complains) -> None:
    assert complains(SOURCE.replace("[[sources]]", "[sources]")) == [
        "intake.toml:1: sources: must be begun with [[sources]], one for each"
    ]


def test_value_in_place_of_a_table(complains: Complains) -> None:
    assert complains(f"defaults = 3\nintake = 4\n{SOURCE}") == [
        "intake.toml:1: defaults: must be a table",
        "intake.toml:2: intake: must be a table",
    ]


# The words after "not valid TOML" are those of `tomllib`, which differ between versions of Python.
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1\nb = = 2\n", r"intake\.toml:2: column 5: not valid TOML: .+"),
        ('a = """\n\n', r"intake\.toml:3: end of file: not valid TOML: .+"),
        ("a = 1\n\na = 2\n", r"intake\.toml:3: column \d+: not valid TOML: .+"),
        ("a = " + "9" * 5000, r"intake\.toml:1: not valid TOML: a value is out of range"),
        ("a = " + "[" * 50_000, r"intake\.toml:1: is nested too deeply"),
    ],
    ids=["value", "string", "twice", "number", "nested"],
)
def test_text_that_is_not_toml(complains: Complains, text: str, said: str) -> None:
    assert re.fullmatch(said, "\n".join(complains(text)))


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "intake.toml"
    path.write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(ConfigError, match=r"intake\.toml:2: must be UTF-8 text"):
        load(path, {})


def test_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read \(No such file or directory\)"):
        load(tmp_path / "intake.toml", {})


def test_path_that_cannot_be_one() -> None:
    with pytest.raises(ConfigError, match=r"cannot be read \(not a path\)"):
        load(Path("a\0b"), {})


def test_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "intake.toml"
    path.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(ConfigError, match="must have at most 1048576 bytes"):
        load(path, {})
