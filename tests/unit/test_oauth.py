"""OAuth requests and answers, as RFC 6749 and the vendors' pages have them."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from crm_clients import oauth
from crm_clients.base import Request, Response
from crm_clients.oauth import VENDORS, App, GrantType, NoTokens, Tokens
from intake.config.known import OAUTH_CLIENTS

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
CALLBACK = "http://127.0.0.1:8765/callback"


def app(client: str, grant: GrantType = "authorization_code", key: str | None = None) -> App:
    vendor = VENDORS[client]
    token_url = vendor.token_url.replace("{base}", "https://acme.kommo.com")
    return App(
        vendor, grant, vendor.authorize_url, token_url, CALLBACK, "our id", "s3cret/+", "a b", key, "sales@example.com"
    )


def form(request: Request) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs((request.body or b"").decode()).items()}


def answer(status: int, /, **body: object) -> Response:
    return Response(status, {"content-type": "application/json"}, json.dumps(body).encode())


def test_every_vendor_of_the_settings_has_its_addresses() -> None:
    assert VENDORS.keys() == OAUTH_CLIENTS


def test_the_address_that_a_person_opens_names_state_and_scopes() -> None:
    asked = parse_qs(urlsplit(oauth.authorize_address(app("hubspot"), "st4te")).query)
    told = {name: asked[name] for name in ("response_type", "client_id", "redirect_uri", "state", "scope")}
    assert told == {
        "response_type": ["code"],
        "client_id": ["our id"],
        "redirect_uri": [CALLBACK],
        "state": ["st4te"],
        "scope": ["a b"],
    }


def test_a_code_is_exchanged_with_the_secret_in_the_form() -> None:
    assert form(oauth.by_code(app("hubspot"), "c0de")) == {
        "grant_type": "authorization_code",
        "code": "c0de",
        "redirect_uri": CALLBACK,
        "client_id": "our id",
        "client_secret": "s3cret/+",
    }


def test_pipedrive_wants_the_secret_in_the_header_and_not_in_the_form() -> None:
    there = app("pipedrive")
    asked = form(oauth.by_refresh(there, "r"))
    header = dict(there.place.headers)["Authorization"]
    assert asked == {"grant_type": "refresh_token", "refresh_token": "r"}
    assert b64decode(header.removeprefix("Basic ")) == b"our%20id:s3cret%2F%2B"


def test_kommo_is_asked_in_json_at_the_account_s_own_host() -> None:
    there = app("kommo")
    asked = json.loads(oauth.by_refresh(there, "r").body or b"")
    assert (there.place.base_url, asked["redirect_uri"]) == ("https://acme.kommo.com", CALLBACK)


def test_an_assertion_is_signed_for_its_subject_and_soon_over() -> None:
    key = rsa.generate_private_key(65537, 2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    asked = form(oauth.without_person(app("salesforce", "jwt", pem), now=NOW, nonce="n1"))
    claims = jwt.decode(
        asked["assertion"],
        key.public_key(),
        algorithms=["RS256"],
        audience="https://login.salesforce.com",
        options={"verify_exp": False},
    )
    assert (claims["iss"], claims["sub"], claims["jti"]) == ("our id", "sales@example.com", "n1")
    assert claims["exp"] == int((NOW + timedelta(minutes=2)).timestamp())
    assert "client_secret" not in asked


def test_a_key_that_cannot_sign_is_told_without_being_shown() -> None:
    with pytest.raises(ValueError, match="private key") as told:
        oauth.without_person(app("salesforce", "jwt", "sesame"), now=NOW, nonce="n1")
    assert "sesame" not in str(told.value)


def test_secrets_stand_in_no_repr() -> None:
    shown = repr(app("hubspot", key="sesame")) + repr(oauth.by_refresh(app("hubspot"), "r3fresh"))
    assert [word for word in ("s3cret", "sesame", "r3fresh") if word in shown] == []


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        (
            {"access_token": "a", "refresh_token": "r", "expires_in": 1800},
            Tokens("a", "r", timedelta(minutes=30)),
        ),
        ({"access_token": "a", "expires_in": "3600"}, Tokens("a", None, timedelta(hours=1))),
        ({"access_token": "a"}, Tokens("a")),
        ({"access_token": "a", "expires_in": -1}, Tokens("a")),
        ({"access_token": "a", "instance_url": "https://acme.my.example.com"}, Tokens("a", base="acme.my.example.com")),
        ({"access_token": "a", "base_domain": "acme.example.com"}, Tokens("a", base="acme.example.com")),
    ],
)
def test_tokens_are_read(told: dict[str, object], tokens: Tokens) -> None:
    assert oauth.read(answer(200, **told)) == tokens


@pytest.mark.parametrize(
    ("response", "told"),
    [
        (answer(400, error="invalid_grant"), NoTokens("grant_lost", lost=True)),
        (answer(400, status="BAD_REFRESH_TOKEN"), NoTokens("grant_lost", lost=True)),
        (answer(401, error="invalid_client"), NoTokens("oauth_invalid_client")),
        (answer(200, error="invalid_code"), NoTokens("grant_lost", lost=True)),
        (answer(503), NoTokens("oauth_status_503")),
        (answer(200, access_token=""), NoTokens("oauth_status_200")),
        (Response(502, {}, b"<html>"), NoTokens("oauth_status_502")),
        (answer(400, error="a <b> text"), NoTokens("oauth_status_400")),
    ],
)
def test_what_is_no_token_is_told(response: Response, told: NoTokens) -> None:
    assert oauth.read(response) == told
