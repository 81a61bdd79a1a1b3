"""Where people see a record: what each client knows of its CRM, what the owner says instead, and no secret in it."""

from __future__ import annotations

import pytest

from crm_clients.abilities import HasPages
from crm_clients.base import Kind
from crm_clients.registry import CLIENTS, build
from intake.record_pages import Pages
from workers.facts import pages_of

NEEDED = {
    "bitrix24": {"user": "1"},
    "dolibarr": {"user": "1"},
    "hubspot": {"portal": "4711"},
    "kommo": {"contact_reference": "1", "lead_reference": "2", "lead_text": "3"},
    "pipedrive": {"person_reference": "a" * 40, "deal_reference": "b" * 40, "deal_text": "c" * 40},
}
OPPORTUNITIES = {
    "bitrix24": ("https://acme.bitrix24.es", "https://acme.bitrix24.es/crm/deal/details/{id}/"),
    "dolibarr": ("https://erp.example.com/api/index.php", "https://erp.example.com/projet/card.php?id={id}"),
    "espocrm": ("https://crm.example.com/api/v1", "https://crm.example.com/#Opportunity/view/{id}"),
    "hubspot": ("https://api.hubapi.com", "https://app.hubspot.com/contacts/4711/record/0-3/{id}"),
    "kommo": ("https://acme.kommo.com", "https://acme.kommo.com/leads/detail/{id}"),
    "odoo": ("https://acme.odoo.com", "https://acme.odoo.com/mail/view?model=crm.lead&res_id={id}"),
    "pipedrive": ("https://acme.pipedrive.com", "https://acme.pipedrive.com/deal/{id}"),
    "salesforce": ("https://acme.my.salesforce.com", "https://acme.my.salesforce.com/{id}"),
    "tryton": (
        "https://erp.example.com/acme/rest/model",
        "https://erp.example.com/#acme/model/sale.opportunity/{id}",
    ),
    "zoho": ("https://www.zohoapis.eu", "https://crm.zoho.eu/crm/tab/Potentials/{id}"),
}


def page(client: str, base_url: str, kind: Kind = Kind.OPPORTUNITY) -> str | None:
    built = build(client, NEEDED.get(client, {}))
    assert isinstance(built, HasPages)
    return built.page(kind, base_url)


@pytest.mark.parametrize("client", OPPORTUNITIES)
def test_a_client_knows_where_its_crm_shows_an_opportunity(client: str) -> None:
    base_url, wanted = OPPORTUNITIES[client]
    assert page(client, base_url) == wanted


@pytest.mark.parametrize("client", OPPORTUNITIES)
@pytest.mark.parametrize("kind", Kind)
def test_an_address_that_is_known_has_one_place_for_an_id(client: str, kind: Kind) -> None:
    found = page(client, OPPORTUNITIES[client][0], kind)
    assert found is None or (found.count("{id}") == 1 and found.startswith("https://"))


@pytest.mark.parametrize("client", sorted(CLIENTS.keys() - OPPORTUNITIES.keys() - {"http"}))
def test_a_client_that_knows_no_page_has_none(client: str) -> None:
    assert pages_of(build(client, {}), "https://crm.example.com") == {}


def test_the_secret_in_an_address_is_in_no_link() -> None:
    assert "geheim" not in str(page("bitrix24", "https://acme.bitrix24.es/rest/1/geheim"))


@pytest.mark.parametrize(
    ("client", "base_url"), [("pipedrive", "https://api.pipedrive.com"), ("zoho", "https://api.example.com")]
)
def test_an_address_that_programs_alone_use_leads_nowhere(client: str, base_url: str) -> None:
    assert page(client, base_url) is None


def test_an_account_of_hubspot_without_its_number_has_no_pages() -> None:
    assert pages_of(build("hubspot", {}), "https://api.hubapi.com") == {}


def test_an_id_is_quoted() -> None:
    pages = Pages({"crm": {"contact": "https://crm.example.com/people/{id}"}})
    assert pages.of("crm", "contact", "../a?b#c") == "https://crm.example.com/people/..%2Fa%3Fb%23c"


@pytest.mark.parametrize("asked", [("other", "contact", "1"), ("crm", "task", "1"), ("crm", "contact", None)])
def test_what_is_not_known_has_no_link(asked: tuple[str, str, str | None]) -> None:
    assert Pages({"crm": {"contact": "https://crm.example.com/people/{id}"}}).of(*asked) is None
