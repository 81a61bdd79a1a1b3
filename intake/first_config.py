"""The first `intake.toml` of an installation, its secrets, and what has to be pasted where."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from intake import paste_texts
from intake.config.known import KNOWN_PROVIDERS, PROVIDER_KINDS, SIGNS_ADDRESS, UNSIGNED
from intake.sources.base import SourceKind

# Whose secret the sender's own pages show; of all others it is chosen here, and pasted there.
THEIRS: Final = frozenset({
    "whatsapp_cloud", "meta_lead_ads", "twilio", "shopify", "webflow", "formspree", "formbricks", "wpforms",
})  # fmt: skip
META: Final = frozenset({"whatsapp_cloud", "meta_lead_ads"})
# What can sign by Standard Webhooks wants its key so (standardwebhooks.com, "Signature scheme").
STANDARD: Final = frozenset({"standard_webhooks", "quote"})

FORMS: Final = tuple(sorted(each for each in KNOWN_PROVIDERS - UNSIGNED if "form" in PROVIDER_KINDS[each]))
WHATSAPPS: Final = tuple(sorted(each for each in KNOWN_PROVIDERS if "whatsapp" in PROVIDER_KINDS[each]))

NewSecret = Callable[[], str]
Keep = Literal["file", "env"]


def new_word() -> str:
    """A token that nobody guesses, of characters that go into an address."""
    return secrets.token_urlsafe(24)


def new_key() -> str:
    """The same as a key of Standard Webhooks."""
    return f"whsec_{base64.b64encode(secrets.token_bytes(24)).decode()}"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What somebody wants to begin with.  `form`, `whatsapp`: a provider, None: no such source.

    `crm_url` None: the sandbox's own address.  `public_url` None: this host's own, `local_url`, which follows PORT, and
    is written only where a provider signs it.  `keep`: secrets in files beside the configuration, or in variables.
    """

    form: str | None = "standard_webhooks"
    whatsapp: str | None = None
    quote: bool = False
    crm: str = "sandbox"
    crm_url: str | None = None
    public_url: str | None = None
    local_url: str = "http://127.0.0.1:8080"
    region: str = "PE"
    timezone: str = "America/Lima"
    language: str = "es"
    currency: str = "PEN"
    keep: Keep = "file"


@dataclass(frozen=True, slots=True)
class Needed:
    """One secret.  `value` None: it comes from elsewhere, as `whence` says."""

    name: str
    reference: str
    whence: str
    value: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Begun:
    """What is to be written, and then to be done by hand.  `advice` holds no secret."""

    toml: str
    needed: tuple[Needed, ...]
    advice: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    name: str
    kind: SourceKind
    provider: str


def begin(wishes: Wishes, *, word: NewSecret = new_word, key: NewSecret = new_key) -> Begun:
    """Everything, from these wishes.  `word` and `key` make secrets."""
    sources = list(_sources(wishes))
    needed = [each for source in sources for each in _secrets(wishes, source, word, key)]
    if wishes.crm != "sandbox":
        needed.append(
            _needed(wishes, "crm-credential", f"the credential of your account, see docs/crm/{wishes.crm}.md")
        )
    toml = "\n\n".join([_head(wishes), _destination(wishes), *(_table(wishes, each) for each in sources)]) + "\n"
    return Begun(toml, tuple(needed), (*(_paste(wishes, each) for each in sources), *_crm(wishes)))


def _sources(wishes: Wishes) -> Iterator[_Source]:
    if wishes.form:
        yield _Source("web-contact", "form", wishes.form)
    if wishes.whatsapp:
        yield _Source("wa-ventas", "whatsapp", wishes.whatsapp)
    if wishes.quote:
        yield _Source("cotizaciones", "quote", "quote")


# --- secrets --------------------------------------------------------------------------------------------------------


def _secrets(wishes: Wishes, source: _Source, word: NewSecret, key: NewSecret) -> Iterator[Needed]:
    if source.provider in THEIRS:
        what = "the App secret of the Meta app (App settings → Basic)" if source.provider in META else "its own secret"
        yield _needed(wishes, f"{source.name}-secret", f"{what}, as {source.provider} shows it")
    else:
        value = key() if source.provider in STANDARD else word()
        yield _needed(wishes, f"{source.name}-secret", "made here; paste it there", value)
    if source.provider in META:
        yield _needed(wishes, f"{source.name}-verify-token", "made here; Meta asks for it once", word())


def _needed(wishes: Wishes, name: str, whence: str, value: str | None = None) -> Needed:
    return Needed(name, _reference(wishes, name), whence, value)


def _reference(wishes: Wishes, name: str) -> str:
    return f"file:secrets/{name}" if wishes.keep == "file" else f"env:INTAKE_{name.upper().replace('-', '_')}"


# --- the file -------------------------------------------------------------------------------------------------------


def _head(wishes: Wishes) -> str:
    return f"""\
# Made by `intake init`.  docs/reference/settings.md explains every key.  No secret stands here, only where each is:
#     env:NAME     the environment variable NAME          file:PATH    a file, relative to this one

[intake]
{_public(wishes)}
region = {_text(wishes.region)}
timezone = {_text(wishes.timezone)}
language = {_text(wishes.language)}
# Without a spool nothing is acknowledged while PostgreSQL is away: name a folder on a disk of this host.
# spool_dir = "/var/lib/lead-intake/spool\""""


def _public(wishes: Wishes) -> str:
    if wishes.public_url or SIGNS_ADDRESS & {wishes.form, wishes.whatsapp}:
        return f"public_base_url = {_text(wishes.public_url or wishes.local_url)}   # the address that the senders call"
    return '# public_base_url = "https://leads.example.com"   # that the senders call; else http://127.0.0.1:$PORT'


def _destination(wishes: Wishes) -> str:
    name = "sandbox" if wishes.crm == "sandbox" else "crm"
    lines = ["[[destinations]]", f"name = {_text(name)}", f"client = {_text(wishes.crm)}"]
    if wishes.crm_url:
        lines.append(f"base_url = {_text(wishes.crm_url)}")
    if wishes.crm != "sandbox":
        lines.append(f"credential = {_text(_reference(wishes, 'crm-credential'))}")
    lines += [f"currency = {_text(wishes.currency)}", "", "[destinations.task]", 'due = "2 business hours"']
    return "\n".join([*lines, "", "[defaults]", f"destination = {_text(name)}"])


def _table(wishes: Wishes, source: _Source) -> str:
    lines = ["[[sources]]", f"name = {_text(source.name)}", f"kind = {_text(source.kind)}"]
    lines.append(f"provider = {_text(source.provider)}")
    lines.append(f"secrets = [{_text(_reference(wishes, f'{source.name}-secret'))}]")
    if source.provider in META:
        lines.append(f"verify_token = {_text(_reference(wishes, f'{source.name}-verify-token'))}")
    return "\n".join(lines)


def _text(value: str) -> str:
    """A TOML string of what somebody typed (toml.io, "String": no control characters)."""
    plain = "".join(char for char in value if char.isprintable())
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


# --- what is done by hand -------------------------------------------------------------------------------------------


def _paste(wishes: Wishes, source: _Source) -> str:
    address = f"{(wishes.public_url or wishes.local_url).rstrip('/')}/hooks/{source.name}"
    secret = _reference(wishes, f"{source.name}-secret")
    match source.provider:
        case "whatsapp_cloud":
            where = f"""Meta app, WhatsApp → Configuration → Webhook
  Callback URL   {address}
  Verify token   what stands in {_reference(wishes, f"{source.name}-verify-token")}
  then subscribe to: messages.  Into {secret} goes the App secret"""
        case "meta_lead_ads":
            where = f"""Meta app, Webhooks → Page
  Callback URL   {address}
  Verify token   what stands in {_reference(wishes, f"{source.name}-verify-token")}
  then subscribe to: leadgen.  Into {secret} goes the App secret; a page_token is needed, too (docs/sources.md)"""
        case provider if provider in THEIRS:
            where = f"""{provider}
  address   {address}
  its own secret goes into {secret}
  there     {_there(provider)}"""
        case provider:
            where = f"""{provider}
  address   {address}
  secret    what stands in {secret}
  there     {_there(provider)}
  details   docs/sources.md"""
    return f"{source.name}: {where}"


def _there(provider: str) -> str:
    """Where it is pasted, as `intake sources` says."""
    return paste_texts.of(provider).of("en")


def _crm(wishes: Wishes) -> Iterator[str]:
    if wishes.crm == "sandbox":
        yield "CRM: the sandbox that comes with the program; change [[destinations]] when the real one is there"
    else:
        yield f"""{wishes.crm}: make a credential there (docs/crm/{wishes.crm}.md)
  into      {_reference(wishes, "crm-credential")}
  then      intake crm check --create"""
