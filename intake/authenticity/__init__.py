"""Is this delivery from who it says?  Every provider's rule in one table, over the bytes as they came.

    verify("whatsapp_cloud", secrets=..., headers=..., body=raw, url=public_url, now=...)   # None, or NotAuthentic

A provider may have several schemes (its signature, or a token where its tool cannot sign); each needs the secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from intake.authenticity.body_hmac import AnyBodyHmac, BodyHmac, Timed, Webflow, php_json
from intake.authenticity.jws import NetlifyJws
from intake.authenticity.origin import Origin
from intake.authenticity.proof import Outgoing, Presented, Scheme
from intake.authenticity.standard import StandardWebhooks
from intake.authenticity.tokens import Basic, Bearer, BodyKey, Token, WooPing
from intake.authenticity.twilio import Twilio


class NotAuthentic(Exception):
    """Nothing in this delivery proves that its sender holds the secret.  The message carries no value of it."""


# What a source of the provider `generic` may name as its `scheme`.
GENERIC: Mapping[str, Scheme] = {
    "token": Token(),
    "bearer": Bearer(),
    "basic": Basic(),
    "hmac-hex": AnyBodyHmac("hex"),
    "hmac-base64": AnyBodyHmac("base64"),
    "standard": StandardWebhooks(),
    "timed": Timed(None),
}

TOKENS: tuple[Scheme, ...] = (Token(), Bearer(), Basic())
# Meta, "Webhooks: getting started": the key is the app secret; the older SHA-1 header is not accepted.
META: tuple[Scheme, ...] = (BodyHmac(("x-hub-signature-256",), "hex", b"sha256="),)
STANDARD: tuple[Scheme, ...] = (StandardWebhooks(),)

RULES: Mapping[str, tuple[Scheme, ...]] = {
    "whatsapp_cloud": META,
    "meta_lead_ads": META,
    # The reseller holds Meta's app secret, so it signs nothing; a header or the URL carries ours.
    "whatsapp_360dialog": (*TOKENS, *META),
    "twilio": (Twilio(),),
    "google_ads": (BodyKey("google_key", "json"),),
    "standard_webhooks": STANDARD,
    "quote": STANDARD,
    "formbricks": STANDARD,
    "typeform": (BodyHmac(("typeform-signature",), "base64", b"sha256="), *TOKENS),
    "tally": (BodyHmac(("tally-signature",), "base64"), *TOKENS),
    "webflow": (Webflow(), *TOKENS),
    "framer": (
        BodyHmac(("framer-signature",), "hex", b"sha256=", id_header="framer-webhook-submission-id"),
        *TOKENS,
    ),
    "formspree": (Timed("formspree-signature"), *TOKENS),
    "netlify": (NetlifyJws(), *TOKENS),
    # Documented by name only; the digest was seen in deliveries (hookdeck/webhook-skills @4cc57d7, formstack-webhooks).
    # Its "shared secret", the older option, stands in the body.
    "formstack": (
        BodyHmac(("x-fs-signature",), "hex", b"sha256="),
        BodyKey("HandshakeKey", "json"),
        BodyKey("HandshakeKey", "urlencoded"),
        *TOKENS,
    ),
    "calendly": (Timed("calendly-webhook-signature"),),
    "opnform": (BodyHmac(("x-webhook-signature",), "hex", b"sha256="), *TOKENS),
    "wpforms": (
        Timed("x-wpforms-webhook-signature", "v"),
        Timed("x-wpforms-webhook-signature", "v", signed_form=php_json),
        *TOKENS,
    ),
    "wufoo": (BodyKey("HandshakeKey", "urlencoded"),),
    "woocommerce": (BodyHmac(("x-wc-webhook-signature",), "base64"), WooPing()),
    # Shopify's newer deliveries may drop the "X-" (shopify-api-ruby reads both).
    "shopify": (BodyHmac(("x-shopify-hmac-sha256", "shopify-hmac-sha256"), "base64"),),
    "jotform": TOKENS,
    "google_forms": TOKENS,
    "elementor": TOKENS,
    "cf7": TOKENS,
    "gravity_forms": TOKENS,
    "ninja_forms": TOKENS,
    "fluent_forms": TOKENS,
    "generic": tuple(GENERIC.values()),
    # No secret, and no proof of the sender; the allowed origins stand in the place of secrets.
    "web_snippet": (Origin(),),
}


def verify(  # noqa: PLR0913  each part of a request may carry the proof
    provider: str,
    *,
    secrets: tuple[str, ...],
    headers: Mapping[str, str],
    body: bytes,
    url: str,
    now: datetime,
    scheme: str | None = None,
) -> None:
    """Return if one of the secrets proves this delivery, else raise NotAuthentic, and nothing else for any input.

    `url` is the public one that the provider calls.  `scheme` narrows `generic` to one that its source names.
    Without a secret nothing is authentic: a forgotten setting must not open the door.
    """
    shown = Presented(_by_lower_name(headers), body, url, now)
    usable = [secret for secret in secrets if secret]
    if not any(rule.proves(shown, secret) for rule in _rules(provider, scheme) for secret in usable):
        raise NotAuthentic(f"no proof of {provider!r} in this delivery")


def _by_lower_name(headers: Mapping[str, str]) -> Mapping[str, str]:
    """One that came twice, in another spelling, is a list (RFC 9110, section 5.3), of which no member counts alone."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        earlier = found.get(name.lower(), value)
        found[name.lower()] = value if earlier == value else f"{earlier}, {value}"
    return found


def sign(  # noqa: PLR0913  each part of a request may be signed
    provider: str,
    *,
    secret: str,
    body: bytes,
    url: str,
    now: datetime,
    delivery_id: str,
    scheme: str | None = None,
) -> Mapping[str, str]:
    """Headers that `verify` accepts, made by the provider's first scheme.  Raises KeyError for an unknown provider."""
    first = (GENERIC[scheme],) if scheme else RULES[provider]
    return first[0].headers(Outgoing(body, url, now, delivery_id), secret)


def _rules(provider: str, scheme: str | None) -> tuple[Scheme, ...]:
    if scheme is None:
        return RULES.get(provider, ())
    return (GENERIC[scheme],) if provider == "generic" and scheme in GENERIC else ()
