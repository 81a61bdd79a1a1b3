"""The closed lists of words that a configuration may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from intake.sources.base import SourceKind

_FORM: Final[frozenset[SourceKind]] = frozenset({"form"})
_WHATSAPP: Final[frozenset[SourceKind]] = frozenset({"whatsapp"})
_QUOTE: Final[frozenset[SourceKind]] = frozenset({"quote"})
_SHOP: Final[frozenset[SourceKind]] = frozenset({"quote", "form"})

# Every provider that a file may name, with the kinds of source it can be.  A version need not have them all built in.
PROVIDER_KINDS: Final[Mapping[str, frozenset[SourceKind]]] = {
    "whatsapp_cloud": _WHATSAPP,
    "whatsapp_360dialog": _WHATSAPP,
    "twilio": _WHATSAPP,
    "meta_lead_ads": _FORM,
    "google_ads": _FORM,
    "standard_webhooks": _FORM,
    "formbricks": _FORM,
    "wufoo": _FORM,
    "quote": _QUOTE,
    "woocommerce": _SHOP,
    "shopify": _SHOP,
    "generic": _FORM,
    "typeform": _FORM,
    "tally": _FORM,
    "jotform": _FORM,
    "webflow": _FORM,
    "framer": _FORM,
    "netlify": _FORM,
    "formspree": _FORM,
    "formstack": _FORM,
    "opnform": _FORM,
    "google_forms": _FORM,
    "elementor": _FORM,
    "cf7": _FORM,
    "gravity_forms": _FORM,
    "wpforms": _FORM,
    "ninja_forms": _FORM,
    "fluent_forms": _FORM,
    "calendly": _FORM,
    "web_snippet": _FORM,
}
KNOWN_PROVIDERS: Final = frozenset(PROVIDER_KINDS)

# What there is of a lead in a CRM.
RECORD_KINDS: Final = ("contact", "opportunity", "task", "note")

# Visitors' browsers send these, and can hold no secret: where they may come from is all that is checked.
UNSIGNED: Final = frozenset({"web_snippet"})

# Their signature covers the address that they called, so the file must say what that is.
SIGNS_ADDRESS: Final = frozenset({"twilio"})

KNOWN_CLIENTS: Final = frozenset({
    "attio", "bitrix24", "bottlecrm", "dolibarr", "espocrm", "http", "hubspot", "kommo", "odoo", "pipedrive",
    "salesforce", "sandbox", "tryton", "twenty", "zoho",
})  # fmt: skip

# Whose OAuth addresses we know; a test holds them against the clients' own table.
OAUTH_CLIENTS: Final = frozenset({"bitrix24", "hubspot", "kommo", "pipedrive", "salesforce", "zoho"})

# The schemes of authenticity that a `generic` source may be held to.
KNOWN_SCHEMES: Final = frozenset({"basic", "bearer", "hmac-base64", "hmac-hex", "standard", "timed", "token"})

HOLD_RULES: Final = frozenset({"links", "repeated"})
OWNER_RULES: Final = frozenset({"affinity", "assign", "round_robin"})

# What `[destinations.fields]` may send on and `[sources.fields]` may point at; `utm_` takes any further word too.
LEAD_FIELDS: Final = frozenset({
    "ad_headline", "ad_id", "amount", "bsuid", "click_id", "company", "consent", "currency", "document", "email",
    "message", "name", "phone", "product", "username", "utm_campaign", "utm_content", "utm_medium", "utm_source",
    "utm_term", "wa_id",
})  # fmt: skip

# What a CRM's field may be filled with besides: how the lead came, and what of it is more than one line.
DELIVERED_FIELDS: Final = LEAD_FIELDS | {"answers", "channel", "items", "media", "number", "source"}

# What a title or text may hold in braces; whoever renders one gives a text for each ("" where the lead has none).
PLACEHOLDERS: Final = frozenset({
    "amount", "answers", "channel", "company", "contact", "currency", "document", "email", "items", "message",
    "number", "phone", "product", "source", "utm_campaign", "utm_source",
})  # fmt: skip
