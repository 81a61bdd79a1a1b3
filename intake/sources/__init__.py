"""Where leads come from: one module a provider, each named once here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from intake.sources.base import Provider
from intake.sources.generic import Generic
from intake.sources.quote import QuoteProvider
from intake.sources.standard_webhooks import StandardWebhooks
from intake.sources.whatsapp_cloud import WhatsAppCloud

PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        provider.name: provider
        for provider in (
            Generic(),
            QuoteProvider(),
            StandardWebhooks(),
            WhatsAppCloud(),
            WhatsAppCloud("whatsapp_360dialog"),
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
