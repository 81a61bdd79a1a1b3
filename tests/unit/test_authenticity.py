"""Who may pass.  Published values carry their source; the others follow from the published rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intake.authenticity import GENERIC, RULES, NotAuthentic, sign, verify

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
URL = "https://intake.example/hooks/web-contact"
SECRET = "s3cret-of-this-source"
STANDARD_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
# Their secret stands in the body, so no header can be signed.
IN_BODY = {"google_ads", "wufoo"}
SIGNED = sorted(RULES.keys() - IN_BODY)


@dataclass(frozen=True, slots=True)
class Vector:
    provider: str
    secret: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    url: str = URL
    now: datetime = NOW

    def passes(self, *, secrets: tuple[str, ...] | None = None) -> bool:
        try:
            verify(
                self.provider,
                secrets=(self.secret,) if secrets is None else secrets,
                headers=self.headers,
                body=self.body,
                url=self.url,
                now=self.now,
            )
        except NotAuthentic:
            return False
        return True


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


# standard-webhooks/standard-webhooks @b2fa7b8, the vector that its libraries share.
STANDARD_SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def standard(
    signature: str = STANDARD_SIGNATURE,
    *,
    family: str = "webhook",
    message_id: str = "msg_p5jXN8AQM9LWM0D4loKWxJek",
    stamp: str = "1614265330",
    now: int = 1614265330,
) -> Vector:
    headers = {f"{family}-id": message_id, f"{family}-timestamp": stamp, f"{family}-signature": signature}
    return Vector("standard_webhooks", STANDARD_SECRET, b'{"test": 2432232314}', headers, now=at(now))


def twilio(signature: str, body: bytes, url: str = "https://mycompany.com/myapp.php?foo=1&bar=2") -> Vector:
    return Vector("twilio", "12345", body, {"X-Twilio-Signature": signature}, url)


# twilio/twilio-python tests/unit/test_request_validator.py @306691e79.
TWILIO_FORM = b"CallSid=CA1234567890ABCDE&Digits=1234&From=%2B14158675309&To=%2B18005551212&Caller=%2B14158675309"
TWILIO_SIGNATURE = "RSOYDt4T1cUTdK1PDd93/VVr8B8="
TWILIO_JSON = b'{"property": "value", "boolean": true}'
TWILIO_JSON_URL = (
    "https://mycompany.com/myapp.php?foo=1&bar=2"
    "&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620"
)

ACCEPTED = {
    "standard": standard(),
    "standard under the svix names": standard(family="svix"),
    "standard with a malformed element before it": standard(f"v1 {STANDARD_SIGNATURE}"),
    "standard with an older secret's signature first": standard(f"v1,AAAA v1a,BBBB {STANDARD_SIGNATURE}"),
    "standard at the edge of the past": standard(now=1614265330 + 300),
    "standard at the edge of the future": standard(now=1614265330 - 300),
    "twilio form": twilio(TWILIO_SIGNATURE, TWILIO_FORM),
    "twilio form, port written out": twilio(
        TWILIO_SIGNATURE, TWILIO_FORM, "https://mycompany.com:443/myapp.php?foo=1&bar=2"
    ),
    # twilio-python, test_validation_removes_port_on_https and test_validation_adds_port_on_https.
    "twilio form, our own port behind a proxy that has none": twilio(
        TWILIO_SIGNATURE, TWILIO_FORM, "https://mycompany.com:1234/myapp.php?foo=1&bar=2"
    ),
    "twilio form, signed with the port that is understood": twilio("kvajT1Ptam85bY51eRf/AJRuM3w=", TWILIO_FORM),
    "twilio form, parameters in another order": twilio(TWILIO_SIGNATURE, b"&".join(reversed(TWILIO_FORM.split(b"&")))),
    "twilio with a repeated parameter": twilio(
        "IK+Dwps556ElfBT0I3Rgjkr1wJU=", b"Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234"
    ),
    "twilio JSON bound by its hash": twilio("a9nBmqA0ju/hNViExpshrM61xv4=", TWILIO_JSON, TWILIO_JSON_URL),
    # WooCommerce class-wc-webhook.php decodes the entities of the stored secret, so it is used as typed.
    "woocommerce secret with special characters": Vector(
        "woocommerce",
        'it\'s <my> "key" & more',
        b'{"id":727,"status":"processing","billing":{"first_name":"Jos\\u00e9","phone":"(51) 987-654-321"}}',
        {"X-WC-Webhook-Signature": "MfGX72e4YSUDfBeKo8XaGxH6iF6l4iqbTFiQfcmNcNg="},
    ),
    "woocommerce ping": Vector("woocommerce", SECRET, b"webhook_id=12"),
    # Inputs from Webflow's documentation; the timestamp there is in seconds.
    "webflow in seconds": Vector(
        "webflow",
        "test_secret",
        b'{"triggerType":"form_submission","payload":{}}',
        {
            "x-webflow-timestamp": "1705332000",
            "x-webflow-signature": "4d364bc87054a1f010ee53c548df71070cae01daa1279a7fb95b778189fd493e",
        },
        now=at(1705332000),
    ),
    # WPForms webhooks add-on, src/Process.php: PHP's JSON of the fields is signed, the form is sent.
    "wpforms in FORM format": Vector(
        "wpforms",
        "wpf-secret",
        b"nombre=Ana+Prueba+%C3%91&email=ana%40example.com&telefono=987+654+321&servicios=Sillas%7C%7CMesas"
        b"&web=https%3A%2F%2Fexample.com%2Fa",
        {
            "X-WPForms-Webhook-Signature": "t=1705312200,"
            "v=f36e6a5fb0c5aa8d68c08828a786b105c6bded46af625bc35c883e6cbff5613d"
        },
        now=at(1705312200),
    ),
    "google ads key": Vector("google_ads", SECRET, b'{"lead_id":"x","google_key":"s3cret-of-this-source"}'),
    "wufoo key": Vector("wufoo", SECRET, b"Field1=Ana&HandshakeKey=s3cret-of-this-source"),
    "token in the URL": Vector("elementor", SECRET, b"a=1", url=f"{URL}?token={SECRET}"),
    "basic with any user": Vector(
        "cf7", SECRET, b"{}", {"Authorization": "Basic d2ViOnMzY3JldC1vZi10aGlzLXNvdXJjZQ=="}
    ),
    # cal.com: hex without a prefix in x-cal-signature-256.
    "generic, a tool's own header": Vector(
        "generic",
        "cal-secret",
        b'{"Name":"Ana","Email":"ana@example.com"}',
        {"x-cal-signature-256": "d99133926c3a880e2e6bf3939c99b8b6dbcb0961e04ee9621ef05d6b823aeeb9"},
    ),
}

META_BODY = b'{"object":"whatsapp_business_account","text":"Cotizaci\\u00f3n a\\/b \\u003Cok>"}'


def meta(value: str, *, header: str = "X-Hub-Signature-256") -> Vector:
    return Vector("whatsapp_cloud", SECRET, META_BODY, {header: value})


REFUSED = {
    "standard, 301 seconds late": standard(now=1614265330 + 301),
    "standard, 301 seconds early": standard(now=1614265330 - 301),
    "standard under another id": standard(message_id="msg_other"),
    "standard without an id": standard(message_id=""),
    "standard with a time that is no number": standard(stamp="soon"),
    "standard with a time of a thousand digits": standard(stamp="1" * 1000),
    "standard of an unknown version": standard(STANDARD_SIGNATURE.replace("v1,", "v2,")),
    "standard without signature": standard(""),
    "twilio through a proxy that drops the scheme": twilio(
        TWILIO_SIGNATURE, TWILIO_FORM, "http://mycompany.com/myapp.php?foo=1&bar=2"
    ),
    "twilio without the query": twilio(TWILIO_SIGNATURE, TWILIO_FORM, "https://mycompany.com/myapp.php"),
    "twilio JSON with another body": twilio("a9nBmqA0ju/hNViExpshrM61xv4=", b'{"property": 1}', TWILIO_JSON_URL),
    "meta with a header that is not ASCII": meta("sha256=é"),
    "meta without the prefix": meta("0" * 64),
    "meta with another digest": meta("sha256=" + "0" * 64),
    "meta with only the SHA-1 header": meta("sha1=5f2a", header="X-Hub-Signature"),
    "woocommerce order without signature": Vector("woocommerce", SECRET, b'{"id":727}'),
    "woocommerce ping with more in it": Vector("woocommerce", SECRET, b"webhook_id=12&id=727"),
    "google ads with a key that is no text": Vector("google_ads", "1", b'{"google_key":1}'),
    "google ads nested too deep": Vector("google_ads", SECRET, b"[" * 100_000),
    "token in the fragment": Vector("elementor", SECRET, b"", url=f"{URL}#?token={SECRET}"),
    "URL that is none": twilio(TWILIO_SIGNATURE, TWILIO_FORM, "https://[::1"),
    "unknown provider": Vector("carrier-pigeon", SECRET, b"", {"x-intake-token": SECRET}),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_authentic_delivery_passes(name: str) -> None:
    assert ACCEPTED[name].passes()


@pytest.mark.parametrize("name", REFUSED)
def test_delivery_without_proof_is_refused(name: str) -> None:
    assert not REFUSED[name].passes()


@pytest.mark.parametrize("name", ACCEPTED)
def test_nothing_is_authentic_without_a_secret(name: str) -> None:
    assert not ACCEPTED[name].passes(secrets=())
    assert not ACCEPTED[name].passes(secrets=("",))


def test_either_secret_passes_while_one_is_rotated() -> None:
    assert standard().passes(secrets=("whsec_bmV3LXNlY3JldC1ub3QteWV0LWluLXVzZQ==", STANDARD_SECRET))


@pytest.mark.parametrize("secret", ["whsec_", "whsec_not base64!"])
def test_secret_without_a_key_proves_nothing(secret: str) -> None:
    assert not standard().passes(secrets=(secret,))


def secret_of(provider: str) -> str:
    return STANDARD_SECRET if provider in {"standard_webhooks", "quote", "formbricks"} else SECRET


def signed(provider: str, body: bytes) -> Vector:
    secret = secret_of(provider)
    headers = sign(provider, secret=secret, body=body, url=URL, now=NOW, delivery_id="msg_1")
    return Vector(provider, secret, body, {name.title(): value for name, value in headers.items()})


@pytest.mark.parametrize("provider", SIGNED)
def test_what_we_sign_for_a_provider_passes_its_own_rule(provider: str) -> None:
    assert signed(provider, b"nombre=Ana&a=1").passes()


@pytest.mark.parametrize("provider", SIGNED)
def test_a_changed_signature_or_token_is_refused(provider: str) -> None:
    vector = signed(provider, b"nombre=Ana&a=1")
    spoiled = {
        name: value[:-3] + ("x" if value[-3] != "x" else "y") + value[-2:] for name, value in vector.headers.items()
    }
    assert not Vector(provider, vector.secret, vector.body, spoiled).passes()


def test_generic_takes_only_the_scheme_that_its_source_names() -> None:
    headers = {"Authorization": f"Bearer {SECRET}"}
    with pytest.raises(NotAuthentic):
        verify("generic", secrets=(SECRET,), headers=headers, body=b"", url=URL, now=NOW, scheme="hmac-hex")
    verify("generic", secrets=(SECRET,), headers=headers, body=b"", url=URL, now=NOW, scheme="bearer")


@pytest.mark.parametrize("scheme", GENERIC)
def test_every_named_scheme_accepts_its_own_signature(scheme: str) -> None:
    headers = sign("generic", secret=SECRET, body=b"a=1", url=URL, now=NOW, delivery_id="msg_1", scheme=scheme)
    verify("generic", secrets=(SECRET,), headers=headers, body=b"a=1", url=URL, now=NOW, scheme=scheme)


def test_refusal_names_no_value_of_the_delivery() -> None:
    with pytest.raises(NotAuthentic) as refused:
        verify("cf7", secrets=(SECRET,), headers={"x-intake-token": "guess"}, body=b"private", url=URL, now=NOW)
    assert not any(word in str(refused.value) for word in ("guess", "private", SECRET))


HEADER_NAMES = [
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "x-hub-signature-256",
    "x-twilio-signature",
    "authorization",
    "x-webflow-timestamp",
    "x-webflow-signature",
    "framer-signature",
    "x-intake-token",
    "x-webhook-signature",
    "x-fs-signature",
]
FRAGMENTS = ["v1,", "t=", "v1=", "sha256=", "Basic ", "Bearer ", "1772463600", "é", "\x00", "\ud800", ",", " ", "="]
ANY_TEXT = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS)).map("".join))


@settings(deadline=None)
@given(
    provider=st.sampled_from(sorted(RULES)),
    secrets=st.lists(ANY_TEXT, max_size=2).map(tuple),
    headers=st.dictionaries(st.one_of(st.sampled_from(HEADER_NAMES), st.text()), ANY_TEXT, max_size=4),
    body=st.binary(max_size=60),
    url=ANY_TEXT,
)
def test_no_input_raises_anything_else(
    provider: str, secrets: tuple[str, ...], headers: dict[str, str], body: bytes, url: str
) -> None:
    Vector(provider, "", body, headers, url).passes(secrets=secrets)
