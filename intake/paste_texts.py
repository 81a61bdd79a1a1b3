"""What to paste where: one line a provider, in Spanish and English; docs/sources.md says the rest.

A provider without one is told as any tool that has an address field, and perhaps one for headers.

Places are named as the sender's own pages name them, which are in English for most.
"""

from __future__ import annotations

from collections.abc import Mapping

from intake.reason_texts import Text

PASTE: Mapping[str, Text] = {
    "calendly": Text(
        "por API, POST /webhook_subscriptions: la dirección y una signing_key propia, que es el secreto",
        "by API, POST /webhook_subscriptions: the address and a signing_key of your own, which is the secret"),
    "cf7": Text(
        "en el formulario, pestaña Webhook: la dirección y la cabecera X-Intake-Token con el secreto",
        "in the form, tab Webhook: the address, and the header X-Intake-Token with the secret"),
    "elementor": Text(
        "Actions After Submit → Webhook: la dirección con ?token=… al final; active Advanced Data",
        "Actions After Submit → Webhook: the address with ?token=… behind it; switch Advanced Data on"),
    "fluent_forms": Text(
        "Integrations → WebHook: la dirección, POST, JSON, All fields, y la cabecera X-Intake-Token con el secreto",
        "Integrations → WebHook: the address, POST, JSON, All fields, and the header X-Intake-Token with the secret"),
    "formbricks": Text(
        "Configuration → Integrations → Webhooks: la dirección y responseFinished; su whsec_… es el secreto",
        "Configuration → Integrations → Webhooks: the address and responseFinished; its whsec_… is the secret"),
    "formspree": Text(
        "Plugins → Simple webhook: la dirección; su signing secret es el secreto",
        "Plugins → Simple webhook: the address; its signing secret is the secret"),
    "formstack": Text(
        "Settings → Emails & Actions → Webhook: la dirección, y el secreto como HMAC Key",
        "Settings → Emails & Actions → Webhook: the address, and the secret as HMAC Key"),
    "framer": Text(
        "Send To → Webhook: la dirección y el secreto", "Send To → Webhook: the address and the secret"),
    "google_ads": Text(
        "Export leads → Webhook: la dirección, y el secreto como Key",
        "Export leads → Webhook: the address, and the secret as Key"),
    "google_forms": Text(
        "Apps Script, activador On form submit: el script de docs/sources.md, con la dirección y el secreto como TOKEN",
        "Apps Script, trigger On form submit: the script of docs/sources.md, with the address, the secret as TOKEN"),
    "gravity_forms": Text(
        "Settings → Webhooks: la dirección, POST, JSON, All Fields, y la cabecera X-Intake-Token con el secreto",
        "Settings → Webhooks: the address, POST, JSON, All Fields, and the header X-Intake-Token with the secret"),
    "jotform": Text(
        "Settings → Integrations → WebHooks: la dirección con ?token=… al final",
        "Settings → Integrations → WebHooks: the address with ?token=… behind it"),
    "meta_lead_ads": Text(
        "app de Meta, Webhooks → Page: la dirección y el verify_token; suscriba leadgen; su App secret es el secreto",
        "Meta app, Webhooks → Page: the address and the verify_token; subscribe to leadgen; its App secret is the "
        "secret"),
    "netlify": Text(
        "Form notifications → HTTP POST request: la dirección, y el secreto como JWS secret token",
        "Form notifications → HTTP POST request: the address, and the secret as JWS secret token"),
    "ninja_forms": Text(
        "Emails & Actions → WebHooks: la dirección con ?token=… al final, POST, y una clave por campo",
        "Emails & Actions → WebHooks: the address with ?token=… behind it, POST, and a key for each field"),
    "opnform": Text(
        "Integrations → Webhook: la dirección y el secreto", "Integrations → Webhook: the address and the secret"),
    "quote": Text(
        "en su sistema: la dirección, y el secreto para firmar según Standard Webhooks (docs/own-sites.md)",
        "in your system: the address, and the secret to sign by Standard Webhooks (docs/own-sites.md)"),
    "shopify": Text(
        "Settings → Notifications → Webhooks: la dirección, JSON, Draft order creation y update; la clave al pie es el "
        "secreto",
        "Settings → Notifications → Webhooks: the address, JSON, Draft order creation and update; the key at the foot "
        "is the secret"),
    "standard_webhooks": Text(
        "en su programa: la dirección, y el secreto whsec_… (docs/own-sites.md)",
        "in your program: the address, and the secret whsec_… (docs/own-sites.md)"),
    "tally": Text(
        "Integrations → Webhooks: la dirección, y el secreto como signing secret",
        "Integrations → Webhooks: the address, and the secret as signing secret"),
    "twilio": Text(
        "en el número o remitente, A message comes in: la dirección, POST; el Auth Token de la cuenta es el secreto",
        "at the number or sender, A message comes in: the address, POST; the account's Auth Token is the secret"),
    "typeform": Text(
        "Connect → Webhooks: la dirección y el secreto; luego actívelo",
        "Connect → Webhooks: the address and the secret; then switch it on"),
    "web_snippet": Text(
        "en la página: el formulario y el script de docs/own-sites.md, con la dirección; no hay secreto",
        "in the page: the form and the script of docs/own-sites.md, with the address; there is no secret"),
    "webflow": Text(
        "webhook Form submission: la dirección; su secret es el secreto, o sin él ?token=… al final",
        "webhook Form submission: the address; its secret is the secret, or without one ?token=… behind the address"),
    "whatsapp_360dialog": Text(
        "en 360dialog, webhook: la dirección y la cabecera que prueba quién envía, con el secreto",
        "at 360dialog, webhook: the address, and the header that proves who sends, with the secret"),
    "whatsapp_cloud": Text(
        "app de Meta, WhatsApp → Configuration: la dirección y el verify_token; suscriba messages; su App secret es el "
        "secreto",
        "Meta app, WhatsApp → Configuration: the address and the verify_token; subscribe to messages; its App secret "
        "is the secret"),
    "woocommerce": Text(
        "Settings → Advanced → Webhooks: Order created y Order updated, cada uno con la dirección y el secreto",
        "Settings → Advanced → Webhooks: Order created and Order updated, each with the address and the secret"),
    "wpforms": Text(
        "Settings → Webhooks: la dirección, POST, JSON, el secreto, y un nombre por campo",
        "Settings → Webhooks: the address, POST, JSON, the secret, and a name for each field"),
    "wufoo": Text(
        "Notifications → WebHook: la dirección, el secreto como Handshake Key, e Include Field and Form Structures",
        "Notifications → WebHook: the address, the secret as Handshake Key, and Include Field and Form Structures"),
}  # fmt: skip

ANY = Text(
    "en el remitente: la dirección, y el secreto como cabecera X-Intake-Token o, si no puede, ?token=… al final",
    "at the sender: the address, and the secret as header X-Intake-Token or, where it has none, ?token=… behind it",
)


def of(provider: str) -> Text:
    """What to paste where for this provider."""
    return PASTE.get(provider, ANY)
