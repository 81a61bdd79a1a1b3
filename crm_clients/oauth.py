"""OAuth 2.0 as the CRMs want it: which addresses, which form, and what an answer of the token address means.

No I/O here: requests out, answers in (RFC 6749, sections 4.1, 4.4, 5 and 6; RFC 7523 for assertions).  Addresses are
from the vendors' pages as far as they were read on 2026-11-29: HubSpot's and Pipedrive's in their API documents; those
of Salesforce, Zoho and Kommo are their usual ones and depend on the customer's region, so that a destination may name
its own.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final, Literal
from urllib.parse import quote, urlencode, urlsplit

import jwt

from crm_clients import answers
from crm_clients.base import Account, Request, Response

GrantType = Literal["authorization_code", "client_credentials", "jwt"]

# An assertion counts for this long; Salesforce takes three minutes at most.
ASSERTION_LASTS: Final = timedelta(minutes=2)

# Where a vendor tells the address that belongs to a grant.
BASE_KEYS: Final = ("instance_url", "api_domain", "client_endpoint", "base_domain")

# Words of RFC 6749, section 5.2, and what vendors say for them: the grant itself is no more.
LOST: Final = frozenset({"invalid_grant", "BAD_REFRESH_TOKEN", "invalid_code", "invalid_refresh_token"})


@dataclass(frozen=True, slots=True)
class Vendor:
    """How one CRM does it.  Both addresses may hold `{base}`, the account's host.  `word` stands before the token."""

    authorize_url: str
    token_url: str
    client_auth: Literal["body", "basic"] = "body"
    form: Literal["form", "json"] = "form"
    word: str = "Bearer"
    sends_redirect: bool = False


VENDORS: Final[Mapping[str, Vendor]] = {
    # settings/oauth/index.md and auto-renewal.md of b24restdocs; that a form is taken as the query is, public programs
    # show.  The first code lives for 30 seconds.
    "bitrix24": Vendor("{base}/oauth/authorize/", "https://oauth.bitrix.info/oauth/token/"),
    "hubspot": Vendor("https://app.hubspot.com/oauth/authorize", "https://api.hubapi.com/oauth/v1/token"),
    "kommo": Vendor("https://www.kommo.com/oauth", "{base}/oauth2/access_token", form="json", sends_redirect=True),
    "pipedrive": Vendor(
        "https://oauth.pipedrive.com/oauth/authorize", "https://oauth.pipedrive.com/oauth/token", client_auth="basic"
    ),
    "salesforce": Vendor(
        "https://login.salesforce.com/services/oauth2/authorize", "https://login.salesforce.com/services/oauth2/token"
    ),
    "zoho": Vendor(
        "https://accounts.zoho.com/oauth/v2/auth", "https://accounts.zoho.com/oauth/v2/token", word="Zoho-oauthtoken"
    ),
}


@dataclass(frozen=True, slots=True)
class App:
    """Our registration with one vendor, for one account.  `key`: the private key (PEM) of an assertion's signer."""

    vendor: Vendor
    grant: GrantType
    authorize_url: str
    token_url: str
    redirect_uri: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    scopes: str = ""
    key: str | None = field(default=None, repr=False)
    subject: str = ""

    @property
    def place(self) -> Account:
        """Where tokens are asked for."""
        parts = urlsplit(self.token_url)
        headers: tuple[tuple[str, str], ...] = ()
        if self.vendor.client_auth == "basic":
            # Each half is form-encoded before it is joined (RFC 6749, section 2.3.1).
            pair = f"{quote(self.client_id, safe='')}:{quote(self.client_secret or '', safe='')}"
            headers = (("Authorization", f"Basic {b64encode(pair.encode()).decode()}"),)
        return Account("oauth", f"{parts.scheme}://{parts.netloc}", headers)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the vendor granted.  `refresh` None: none was given, the old one stays.  `base`: the host that it is for."""

    access: str = field(repr=False)
    refresh: str | None = field(default=None, repr=False)
    lasts: timedelta | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True)
class NoTokens:
    """None came.  `lost`: the grant is no more, and a person has to connect the account again."""

    reason: str
    lost: bool = False


# --- asking -----------------------------------------------------------------------------------------------------------


def authorize_address(app: App, state: str) -> str:
    """What a person opens in a browser; `state` comes back and must be the same."""
    asked = {
        "response_type": "code",
        "client_id": app.client_id,
        "redirect_uri": app.redirect_uri,
        "state": state,
        **({"scope": app.scopes} if app.scopes else {}),
        # Zoho and Google give a refresh token only to those who say so; others pass the word over.
        "access_type": "offline",
    }
    return f"{app.authorize_url}?{urlencode(asked)}"


def by_code(app: App, code: str) -> Request:
    """The first tokens of a grant."""
    return _asking(app, {"grant_type": "authorization_code", "code": code, "redirect_uri": app.redirect_uri})


def by_refresh(app: App, refresh: str) -> Request:
    """Later ones.  Kommo wants the redirect address here, too (amocrm-api-php, AmoCRMOAuth)."""
    more = {"redirect_uri": app.redirect_uri} if app.vendor.sends_redirect else {}
    return _asking(app, {"grant_type": "refresh_token", "refresh_token": refresh, **more})


def without_person(app: App, *, now: datetime, nonce: str) -> Request:
    """Tokens of a grant that needs nobody at a browser: the app's own, or by a signed assertion.  Raises ValueError."""
    if app.grant == "client_credentials":
        return _asking(app, {"grant_type": "client_credentials", **({"scope": app.scopes} if app.scopes else {})})
    parts = urlsplit(app.token_url)
    claims = {
        "iss": app.client_id,
        "sub": app.subject,
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": int((now + ASSERTION_LASTS).timestamp()),
        "jti": nonce,
    }
    try:
        assertion = jwt.encode(claims, app.key or "", algorithm="RS256")
    except (jwt.PyJWTError, ValueError, TypeError):
        raise ValueError("the private key is none that can sign (PEM, RSA)") from None
    return _asking(app, {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion})


def _asking(app: App, asked: Mapping[str, str]) -> Request:
    known = dict(asked)
    if app.vendor.client_auth == "body":
        known |= {"client_id": app.client_id}
        if app.client_secret is not None and app.grant != "jwt":
            known |= {"client_secret": app.client_secret}
    path = urlsplit(app.token_url).path or "/"
    if app.vendor.form == "json":
        return Request("POST", path, body=json.dumps(known).encode(), headers=(("Content-Type", "application/json"),))
    body = urlencode(known).encode()
    return Request("POST", path, body=body, headers=(("Content-Type", "application/x-www-form-urlencoded"),))


# --- reading ----------------------------------------------------------------------------------------------------------


def read(response: Response) -> Tokens | NoTokens:
    """What the token address answered."""
    body = answers.json_object(response) or {}
    access = body.get("access_token")
    if response.status == HTTPStatus.OK and isinstance(access, str) and access:
        return Tokens(access, _word(body.get("refresh_token")), _seconds(body.get("expires_in")), _base(body))
    told = _word(body.get("error")) or _word(body.get("status")) or _word(body.get("title")) or ""
    if told in LOST:
        return NoTokens("grant_lost", lost=True)
    # Zoho answers 200 with an error in it.
    return NoTokens(f"oauth_{told}" if told.isidentifier() else f"oauth_status_{response.status}")


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _seconds(value: object) -> timedelta | None:
    """RFC 6749 wants a number; some write it as text."""
    try:
        seconds = float(value) if isinstance(value, int | float | str) else 0.0
    except ValueError:
        return None
    return timedelta(seconds=seconds) if 0 < seconds < timedelta(days=3650).total_seconds() else None


def _base(body: Mapping[str, object]) -> str | None:
    """`https://host`, or the host alone, whatever the vendor calls it."""
    for key in BASE_KEYS:
        told = body.get(key)
        if isinstance(told, str) and told:
            parts = urlsplit(told if "//" in told else f"https://{told}")
            return parts.hostname
    return None
