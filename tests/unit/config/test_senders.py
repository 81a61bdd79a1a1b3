"""How a source's sender is read: which provider has which key, and what a pull needs."""

from __future__ import annotations

import pytest

from intake.config import ConfigError
from tests.unit.config.conftest import Loads

ADS = '[[sources]]\nname = "ads"\nkind = "form"\nprovider = "meta_lead_ads"\nsecrets = ["env:KEY"]\n'
SHOP = '[[sources]]\nname = "shop"\nkind = "quote"\nprovider = "woocommerce"\nsecrets = ["env:KEY"]\n'
FORM = '[[sources]]\nname = "web"\nkind = "form"\nprovider = "generic"\nsecrets = ["env:KEY"]\n'
REST = 'shop_url = "https://shop.example.com"\nconsumer_key = "env:KEY"\nconsumer_secret = "env:KEY"\n'


def test_a_page_token_is_looked_up(loads: Loads) -> None:
    source = loads(ADS + 'page_token = "env:KEY"\npull_every = 15\n').sources["ads"]
    assert source.page_token is not None
    assert (source.page_token.value, source.cannot_fetch, source.pull_every) == ("sesame", None, 15)


def test_a_source_without_its_token_is_a_notice(loads: Loads) -> None:
    notices = loads(ADS).notices
    assert notices == ('source "ads" cannot fetch its leads, which wait: it has no page_token',)


def test_a_shop_is_read_with_its_key(loads: Loads) -> None:
    source = loads(SHOP + REST + "pull_every = 15\n").sources["shop"]
    assert (source.shop_url, source.pull_every) == ("https://shop.example.com", 15)
    assert source.consumer_secret is not None
    assert "sesame" not in repr(source)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (FORM + 'page_token = "env:KEY"\n', 'only "meta_lead_ads" has'),
        (ADS + REST, 'only "woocommerce" has'),
        (FORM + "pull_every = 15\n", "cannot be asked"),
        (ADS + "pull_every = 15\n", "page_token: is missing"),
        (SHOP + "pull_every = 15\n", "consumer_key: is missing"),
        (SHOP + 'shop_url = "https://shop.example.com"\n', "consumer_secret: is missing"),
        (SHOP + REST.replace("https", "http"), "must begin with https://"),
        (ADS + 'page_token = "EAAB"\n', "never the value itself"),
    ],
)
def test_what_does_not_fit_is_told(loads: Loads, text: str, rule: str) -> None:
    with pytest.raises(ConfigError, match=rule):
        loads(text)
