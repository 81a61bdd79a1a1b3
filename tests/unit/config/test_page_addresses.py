"""`[destinations.pages]`: what a browser opens is judged when the file is read, not when somebody clicks."""

from __future__ import annotations

import pytest

from intake.config import page_addresses

GOOD = [
    "https://crm.example.com/deals/{id}",
    "https://crm.example.com/#Deal/view/{id}",
    "https://crm.example.com/web?model=deal&id={id}&view=form",
    "http://127.0.0.1:8069/deals/{id}",
]
BAD = [
    "https://crm.example.com/deals",
    "https://crm.example.com/{id}/{id}",
    "https://crm.example.com/{name}/{id}",
    "https://{id}.example.com/deals",
    "https://crm.example.com{id}",
    "http://crm.example.com/deals/{id}",
    "javascript:alert(1)//x/{id}",
    "javascript://x/{id}",
    "//crm.example.com/{id}",
    "https:///{id}",
    "https://user:secret@crm.example.com/{id}",
    "https://crm.example.com/a b/{id}",
    'https://crm.example.com/"{id}',
    "https://crm.example.com/\n{id}",
    "https://crm.example.com/ñ/{id}",
    "{id}",
    "",
]


@pytest.mark.parametrize("address", GOOD)
def test_an_address_with_one_place_for_an_id_is_taken_as_it_stands(address: str) -> None:
    assert page_addresses.read(address) == address


@pytest.mark.parametrize("address", BAD)
def test_what_is_no_address_of_a_record_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="once behind the host"):
        page_addresses.read(address)
