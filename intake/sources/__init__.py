"""Where leads come from: one module a provider, each named once here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from intake.sources.base import OwnAnswer, Provider, SecretInBody, SetupCall
from intake.sources.calendly import Calendly
from intake.sources.cf7 import ContactForm7
from intake.sources.elementor import Elementor
from intake.sources.fluent_forms import FluentForms
from intake.sources.formbricks import Formbricks
from intake.sources.formspree import Formspree
from intake.sources.formstack import Formstack
from intake.sources.framer import Framer
from intake.sources.generic import Generic
from intake.sources.google_ads import GoogleAds
from intake.sources.google_forms import GoogleForms
from intake.sources.gravity_forms import GravityForms
from intake.sources.jotform import Jotform
from intake.sources.meta_lead_ads import MetaLeadAds
from intake.sources.netlify import Netlify
from intake.sources.ninja_forms import NinjaForms
from intake.sources.opnform import OpnForm
from intake.sources.quote import QuoteProvider
from intake.sources.shopify import Shopify
from intake.sources.standard_webhooks import StandardWebhooks
from intake.sources.tally import Tally
from intake.sources.twilio import Twilio
from intake.sources.typeform import Typeform
from intake.sources.web_snippet import WebSnippet
from intake.sources.webflow import Webflow
from intake.sources.whatsapp_cloud import WhatsAppCloud
from intake.sources.woocommerce import WooCommerce
from intake.sources.wpforms import WPForms
from intake.sources.wufoo import Wufoo

PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        provider.name: provider
        for provider in (
            Calendly(),
            ContactForm7(),
            Elementor(),
            FluentForms(),
            Formbricks(),
            Formspree(),
            Formstack(),
            Framer(),
            Generic(),
            GoogleAds(),
            GoogleForms(),
            GravityForms(),
            Jotform(),
            MetaLeadAds(),
            Netlify(),
            NinjaForms(),
            OpnForm(),
            QuoteProvider(),
            Shopify(),
            StandardWebhooks(),
            Tally(),
            Twilio(),
            Typeform(),
            Webflow(),
            WebSnippet(),
            WhatsAppCloud("whatsapp_360dialog"),
            WhatsAppCloud(),
            WooCommerce(),
            WPForms(),
            Wufoo(),
        )
    }
)


class UnknownProvider(LookupError):
    """No module reads this provider; the message lists those that are known."""


def find(name: str) -> Provider:
    """The provider of this name.  Raises UnknownProvider."""
    try:
        return PROVIDERS[name]
    except KeyError:
        raise UnknownProvider(f"unknown provider {name!r}; known: {', '.join(sorted(PROVIDERS))}") from None


# What a provider can do besides is asked with each delivery, and an isinstance with a Protocol takes as long as a
# signature does.


@cache
def with_own_answer(name: str) -> OwnAnswer | None:
    """The provider of this name, if its sender wants another answer than ours.  Raises UnknownProvider."""
    provider = find(name)
    return provider if isinstance(provider, OwnAnswer) else None


@cache
def with_secret_in_body(name: str) -> SecretInBody | None:
    """The provider of this name, if its bodies hold a secret.  Raises UnknownProvider."""
    provider = find(name)
    return provider if isinstance(provider, SecretInBody) else None


@cache
def with_setup_call(name: str) -> SetupCall | None:
    """The provider of this name, if it calls while its webhook is set up.  Raises UnknownProvider."""
    provider = find(name)
    return provider if isinstance(provider, SetupCall) else None
