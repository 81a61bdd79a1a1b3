"""The edges of the rules: rotation, windows, spellings of a header, and the proofs of Netlify and Formstack.

The digests are made here by the published rules and not by the code under test.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from intake.authenticity import NotAuthentic, sign, verify

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
STAMP = int(NOW.timestamp())
URL = "https://intake.example/hooks/web-contact"
SECRET = "s3cret-of-this-source"
BODY = b'{"id":"6","data":{"name":"Ana","message":"Cotizaci\xc3\xb3n"}}'


def passes(
    provider: str, headers: Mapping[str, str], body: bytes = BODY, *, secret: str = SECRET, now: datetime = NOW
) -> bool:
    try:
        verify(provider, secrets=("another-secret", secret), headers=headers, body=body, url=URL, now=now)
    except NotAuthentic:
        return False
    return True


def digest(text: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


# --- Netlify --------------------------------------------------------------------------------------------------------


def part(told: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


CLAIMS = {"iss": "netlify", "sha256": hashlib.sha256(BODY).hexdigest()}


def jws(
    head: object = {"alg": "HS256", "typ": "JWT"},
    claims: object = CLAIMS,
    *,
    secret: str = SECRET,
    algorithm: str = "sha256",
) -> str:
    signed = f"{part(head)}.{part(claims)}"
    value = hmac.new(secret.encode(), signed.encode(), algorithm).digest()
    return f"{signed}.{base64.urlsafe_b64encode(value).decode().rstrip('=')}"


def by_netlify(value: str, body: bytes = BODY) -> bool:
    return passes("netlify", {"X-Webhook-Signature": value}, body)


def test_jws_that_names_the_body_passes() -> None:
    assert by_netlify(jws())


def test_jws_of_another_body_is_refused() -> None:
    assert not by_netlify(jws(), BODY + b" ")


REFUSED_JWS = {
    "without a signature": f"{part({'alg': 'none'})}.{part(CLAIMS)}.",
    "that says it has none": jws({"alg": "none"}),
    "by another algorithm": jws({"alg": "HS512"}, algorithm="sha512"),
    "that names another algorithm than it was signed by": jws({"alg": "HS512"}),
    "that names its algorithm in lower case": jws({"alg": "hs256"}),
    "without an algorithm": jws({"typ": "JWT"}),
    "with an extension that must be understood": jws({"alg": "HS256", "crit": ["b64"], "b64": False}),
    "by another secret": jws(secret="another"),
    "by another issuer": jws(claims=CLAIMS | {"iss": "somebody"}),
    "without an issuer": jws(claims={"sha256": CLAIMS["sha256"]}),
    "without a digest": jws(claims={"iss": "netlify"}),
    "with a digest that is no text": jws(claims=CLAIMS | {"sha256": 1}),
    "that is over": jws(claims=CLAIMS | {"exp": STAMP - 1}),
    "whose end is no number": jws(claims=CLAIMS | {"exp": "soon"}),
    "whose claims are a list": jws(claims=[]),
    "whose head is no JSON": f"{'A' * 8}.{part(CLAIMS)}.{'A' * 43}",
    "with padding": jws() + "=",
    "with a fourth part": jws() + ".AAAA",
    "that is empty": "",
    "that is not ASCII": jws()[:-1] + "é",
}


@pytest.mark.parametrize("how", REFUSED_JWS)
def test_jws_is_refused(how: str) -> None:
    assert not by_netlify(REFUSED_JWS[how])


def test_token_passes_where_netlify_has_no_secret() -> None:
    assert passes("netlify", {"X-Intake-Token": SECRET})


# --- Formstack ------------------------------------------------------------------------------------------------------

# hookdeck/webhook-skills @4cc57d7, formstack-webhooks: a delivery as it was captured, with its shared secret "test".
FORM = b"FormID=6606394&UniqueID=1500878955&HandshakeKey=test"


def test_formstack_signature_covers_the_form_as_it_was_sent() -> None:
    assert passes("formstack", {"X-FS-Signature": "sha256=" + digest(FORM)}, FORM)


def test_formstack_signature_in_base64_is_refused() -> None:
    value = base64.b64encode(bytes.fromhex(digest(FORM))).decode()
    assert not passes("formstack", {"X-FS-Signature": value}, FORM)


@pytest.mark.parametrize("body", [FORM, b'{"FormID":"6606394","UniqueID":"1500878955","HandshakeKey":"test"}'])
def test_shared_secret_in_a_formstack_body_passes(body: bytes) -> None:
    assert passes("formstack", {}, body, secret="test")


def test_other_shared_secret_is_refused() -> None:
    assert not passes("formstack", {}, FORM)


# --- times and rotation ---------------------------------------------------------------------------------------------

TIMED = {"formspree": ("Formspree-Signature", "v1"), "calendly": ("Calendly-Webhook-Signature", "v1")}


def timed(stamp: int | str, *digests: str, mark: str = "v1") -> str:
    return f"t={stamp}," + ",".join(f"{mark}={each}" for each in digests)


@pytest.mark.parametrize("provider", TIMED)
def test_second_of_two_signatures_passes(provider: str) -> None:
    right = digest(f"{STAMP}.".encode() + BODY)
    assert passes(provider, {TIMED[provider][0]: timed(STAMP, "0" * 64, right)})


@pytest.mark.parametrize("provider", TIMED)
@pytest.mark.parametrize(("age", "fresh"), [(300, True), (-300, True), (301, False), (-301, False)])
def test_window_is_five_minutes_to_either_side(provider: str, age: int, fresh: bool) -> None:
    stamp = STAMP - age
    value = timed(stamp, digest(f"{stamp}.".encode() + BODY))
    assert passes(provider, {TIMED[provider][0]: value}) is fresh


MALFORMED = [
    "",
    digest(BODY),
    f"v1={digest(f'{STAMP}.'.encode() + BODY)}",
    timed(f"{STAMP}.0", digest(f"{STAMP}.0.".encode() + BODY)),
    timed(f"+{STAMP}", digest(f"+{STAMP}.".encode() + BODY)),
    timed(STAMP, digest(f"{STAMP}.".encode() + BODY), mark="v0"),
    timed(STAMP, digest(f"{STAMP}.".encode() + BODY).upper()),
    timed(STAMP, digest(BODY)),
    f"t={STAMP}",
]


@pytest.mark.parametrize("value", MALFORMED)
def test_malformed_time_signature_is_refused(value: str) -> None:
    assert not passes("formspree", {"Formspree-Signature": value})


# --- spellings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x-hub-signature-256", "X-HUB-SIGNATURE-256", "X-Hub-Signature-256"])
def test_header_has_no_case(name: str) -> None:
    assert passes("whatsapp_cloud", {name: "sha256=" + digest(BODY)})


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", BODY])
def test_signature_covers_bytes_whatever_they_are(body: bytes) -> None:
    assert passes("whatsapp_cloud", {"X-Hub-Signature-256": "sha256=" + digest(body)}, body)


@pytest.mark.parametrize(
    "value",
    [
        "sha256=" + digest(BODY).upper(),
        "SHA256=" + digest(BODY),
        "sha256=" + digest(BODY)[:-2],
        "sha256=" + digest(BODY) + "00",
        "sha1=" + hmac.new(SECRET.encode(), BODY, hashlib.sha1).hexdigest(),
        "sha256=" + hmac.new(SECRET.encode(), BODY, hashlib.sha1).hexdigest(),
        "sha256=" + hashlib.sha256(BODY).hexdigest(),
    ],
)
def test_other_spelling_of_a_digest_is_refused(value: str) -> None:
    assert not passes("whatsapp_cloud", {"X-Hub-Signature-256": value})


@pytest.mark.parametrize(
    "names", [("x-hub-signature-256", "X-Hub-Signature-256"), ("X-Hub-Signature-256", "x-hub-signature-256")]
)
def test_header_that_came_twice_with_two_values_proves_nothing(names: tuple[str, str]) -> None:
    right, wrong = names
    assert not passes("whatsapp_cloud", {right: "sha256=" + digest(BODY), wrong: "sha256=" + "0" * 64})


BASE64 = {"tally": "Tally-Signature", "woocommerce": "X-WC-Webhook-Signature", "shopify": "X-Shopify-Hmac-SHA256"}


@pytest.mark.parametrize("provider", BASE64)
def test_base64_is_taken_with_its_padding_alone(provider: str) -> None:
    value = base64.b64encode(bytes.fromhex(digest(BODY))).decode()
    assert passes(provider, {BASE64[provider]: value})
    assert not passes(provider, {BASE64[provider]: value.rstrip("=")})


def test_hex_where_base64_is_wanted_is_refused() -> None:
    assert not passes("tally", {"Tally-Signature": digest(BODY)})


# --- keys of Standard Webhooks ----------------------------------------------------------------------------------------

KEY = b"secret-key-of-25-bytes-ab"
WRITTEN = base64.b64encode(KEY).decode()


def standard(key: bytes = KEY) -> Mapping[str, str]:
    value = hmac.new(key, f"msg_1.{STAMP}.".encode() + BODY, hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(value).decode()}"
    return {"webhook-id": "msg_1", "webhook-timestamp": str(STAMP), "webhook-signature": signature}


@pytest.mark.parametrize("secret", [f"whsec_{WRITTEN}", f"whsec_{WRITTEN.rstrip('=')}", WRITTEN])
def test_key_is_known_with_prefix_and_padding_or_without(secret: str) -> None:
    assert passes("standard_webhooks", standard(), secret=secret)


def test_secret_that_is_no_base64_is_the_key_itself() -> None:
    assert passes("standard_webhooks", standard(b"not base64!"), secret="not base64!")


def test_prefixed_text_is_not_the_key() -> None:
    assert not passes("standard_webhooks", standard(f"whsec_{WRITTEN}".encode()), secret=f"whsec_{WRITTEN}")


@pytest.mark.parametrize("provider", ["netlify", "formstack"])
def test_what_intake_send_signs_carries_no_secret(provider: str) -> None:
    headers = sign(provider, secret=SECRET, body=BODY, url=URL, now=NOW, delivery_id="msg_1")
    assert passes(provider, headers)
    assert SECRET not in str(headers)
