"""`intake init` writes what loads, makes secrets that only their owner may read, and writes nothing over."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from intake import first_config, paste_texts
from intake.config import Settings, load
from intake.config.known import KNOWN_CLIENTS, KNOWN_PROVIDERS
from intake.first_config import FORMS, WHATSAPPS, Wishes
from intake.sources import PROVIDERS
from tests.commands import Said, intake, listed

PUBLIC = ("--public-url", "https://leads.example.com")
HUBSPOT = ("--crm-url", "https://api.hubapi.com")


def init(folder: Path, *words: str) -> Said:
    return intake({}, "init", folder, "--yes", *PUBLIC, *words)


def loaded(folder: Path) -> Settings:
    return load(folder / "intake.toml", {}, built_in=PROVIDERS.keys())


def test_a_form_for_the_sandbox_is_open_at_once(tmp_path: Path) -> None:
    assert init(tmp_path).status == 0
    settings = loaded(tmp_path)
    assert (settings.sources["web-contact"].closed_because, settings.notices) == (None, ())


def test_everything_at_once_lacks_only_what_others_give(tmp_path: Path) -> None:
    said = init(tmp_path, "--form", "tally", "--whatsapp", "whatsapp_cloud", "--quote", "--crm", "hubspot", *HUBSPOT)
    assert said.status == 0, said.err
    closed = [name for name, each in loaded(tmp_path).sources.items() if each.closed_because]
    assert closed == ["wa-ventas"]
    assert "secrets/wa-ventas-secret: still to be put there" in said.out
    assert "Callback URL   https://leads.example.com/hooks/wa-ventas" in said.out


@pytest.mark.parametrize("provider", sorted({*FORMS} - first_config.META))
def test_what_to_paste_where_is_what_the_sources_say(tmp_path: Path, provider: str) -> None:
    """Some take a signature alone: a token would be refused."""
    assert paste_texts.of(provider).of("en") in init(tmp_path, "--form", provider).out


def test_secrets_are_their_owners_alone_and_are_not_printed(tmp_path: Path) -> None:
    said = init(tmp_path)
    file = tmp_path / "secrets" / "web-contact-secret"
    modes = [stat.S_IMODE(each.stat().st_mode) for each in (file, file.parent)]
    assert (modes, file.read_text().strip() in said.out) == ([0o600, 0o700], False)


def test_variables_are_printed_as_lines_for_the_environment(tmp_path: Path) -> None:
    said = init(tmp_path, "--secrets", "env")
    lines = dict(line.split("=", 1) for line in said.out.splitlines() if line.startswith("INTAKE_"))
    settings = load(tmp_path / "intake.toml", lines, built_in=PROVIDERS.keys())
    assert (settings.notices, (tmp_path / "secrets").exists()) == ((), False)


@pytest.mark.parametrize("there", ["intake.toml", "secrets/web-contact-secret"])
def test_nothing_is_written_over(tmp_path: Path, there: str) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / there).write_text("mine")
    said = init(tmp_path)
    kept = {str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*") if each.is_file()}
    assert (said.status, kept, (tmp_path / there).read_text()) == (1, {there}, "mine")


@pytest.mark.parametrize(
    "words", [("--region", "ZZ"), ("--currency", "soles"), ("--crm-url", "ftp://x"), ("--timezone", 'a"\nb')]
)
def test_what_would_not_load_is_not_written(tmp_path: Path, words: tuple[str, ...]) -> None:
    said = init(tmp_path, "--crm", "hubspot", *HUBSPOT, *words)
    assert (said.status, list(tmp_path.glob("*.toml*"))) == (2, [])


def test_a_crm_without_its_address_is_no_configuration(tmp_path: Path) -> None:
    said = init(tmp_path, "--crm", "hubspot")
    assert (said.status, "--crm-url is missing" in said.err, list(tmp_path.iterdir())) == (2, True, [])


def test_no_way_in_is_no_configuration(tmp_path: Path) -> None:
    assert init(tmp_path, "--form", "none").status == 2


def test_as_json_it_names_references_and_no_values(tmp_path: Path) -> None:
    (secret,) = listed(init(tmp_path, "--json").document, "secrets")
    assert (secret["reference"], secret["value"]) == ("file:secrets/web-contact-secret", None)


@pytest.mark.parametrize("provider", [*FORMS, *WHATSAPPS])
def test_every_provider_loads(tmp_path: Path, provider: str) -> None:
    form, whatsapp = (None, provider) if provider in WHATSAPPS else (provider, None)
    begun = first_config.begin(Wishes(form=form, whatsapp=whatsapp, public_url="https://leads.example.com"))
    (tmp_path / "intake.toml").write_text(begun.toml)
    assert len(loaded(tmp_path).sources) == 1


@pytest.mark.parametrize("client", sorted(KNOWN_CLIENTS))
def test_every_crm_loads(tmp_path: Path, client: str) -> None:
    (tmp_path / "intake.toml").write_text(first_config.begin(Wishes(crm=client)).toml)
    assert client in {each.client for each in loaded(tmp_path).destinations.values()}


def test_without_a_public_address_it_follows_the_port(tmp_path: Path) -> None:
    """Whoever finds 8080 taken sets PORT, and that is all."""
    said = intake({"PORT": "8098"}, "init", tmp_path, "--yes")
    settings = load(tmp_path / "intake.toml", {"PORT": "8099"}, built_in=PROVIDERS.keys())
    assert "http://127.0.0.1:8098/hooks/web-contact" in said.out
    assert settings.public_base_url == "http://127.0.0.1:8099"


def test_what_signs_the_address_has_it_written(tmp_path: Path) -> None:
    assert intake({"PORT": "8098"}, "init", tmp_path, "--yes", "--whatsapp", "twilio").status == 0
    assert loaded(tmp_path).public_base_url == "http://127.0.0.1:8098"


def test_whose_secret_it_is_is_said_of_our_own_providers() -> None:
    assert first_config.THEIRS <= KNOWN_PROVIDERS
