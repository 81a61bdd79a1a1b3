"""Rules between values: names that must exist, names that must not be twice, words that do not go together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from intake.config import horizons
from intake.config.document import Complaint, Document, Table
from intake.config.errors import unknown
from intake.config.known import OAUTH_CLIENTS, PROVIDER_KINDS, SIGNS_ADDRESS
from intake.config.settings import LEAD_ADS, SANDBOX

SHOP = "woocommerce"
# What one provider's source alone has: how its sender is read.
WHATSAPP = "whatsapp_cloud"
RESOLD = ("whatsapp_360dialog", "twilio")
WITH_FILES = (WHATSAPP, *RESOLD)
USED_BY: Mapping[str, tuple[str, ...]] = {
    "page_token": (LEAD_ADS,), "graph_url": (LEAD_ADS, WHATSAPP),
    "media_token": WITH_FILES, "media_url": RESOLD, "media_hosts": WITH_FILES, "media_megabytes": WITH_FILES,
    "shop_url": (SHOP,), "consumer_key": (SHOP,), "consumer_secret": (SHOP,),
}  # fmt: skip
PULLED = (LEAD_ADS, SHOP)


def check(document: Document) -> list[Complaint]:
    """What is wrong between the tables; a mistake in the defaults is told once."""
    found = chain(
        _names(document.destinations, "destinations"),
        _names(document.sources, "sources"),
        _destinations(document),
        _alerts(document),
        _renamed(document),
        *(_source(document, index) for index in range(len(document.sources))),
    )
    return list(dict.fromkeys(found))


def _names(tables: tuple[Table, ...], key: str) -> Iterator[Complaint]:
    seen: set[str] = set()
    for index, table in enumerate(tables):
        name = table.get("name")
        if name in seen:
            yield (key, index, "name"), f'the name "{name}" is taken already'
        elif name is not None:
            seen.add(name)


def _destinations(document: Document) -> Iterator[Complaint]:
    for index, table in enumerate(document.destinations):
        if table.get("name") == SANDBOX and table.get("client", SANDBOX) != SANDBOX:
            yield ("destinations", index, "name"), f'"{SANDBOX}" is the name of the embedded sandbox'
        yield from _oauth(table, index)
        owner = table.get("owner", {})
        if "round_robin" in owner.get("rule", ()) and "users" not in owner:
            yield ("destinations", index, "owner"), "round_robin needs users = [...]"
        if ("assign" in owner.get("rule", ())) != bool(owner.get("assign")):
            yield ("destinations", index, "owner"), 'rule "assign" and [[destinations.owner.assign]] need each other'
        yield from _assigned(document, index, owner.get("assign", ()))


def _oauth(table: Table, index: int) -> Iterator[Complaint]:
    oauth, place = table.get("oauth"), ("destinations", index, "oauth")
    if oauth is None:
        return
    if "credential" in table:
        yield place, "and credential exclude each other"
    if table.get("client") not in OAUTH_CLIENTS and not {"authorize_url", "token_url"} <= oauth.keys():
        yield place, f"needs authorize_url and token_url; known are those of: {', '.join(sorted(OAUTH_CLIENTS))}"
    if oauth.get("grant") == "jwt":
        yield from (((*place, name), "is missing") for name in ("key", "subject") if name not in oauth)
    elif "client_secret" not in oauth:
        yield (*place, "client_secret"), "is missing"


def _assigned(document: Document, index: int, assigned: Iterable[Table]) -> Iterator[Complaint]:
    names = {source.get("name") for source in document.sources}
    for number, each in enumerate(assigned):
        if "source" in each and each["source"] not in names:
            yield ("destinations", index, "owner", "assign", number, "source"), f'there is no source "{each["source"]}"'


def _alerts(document: Document) -> Iterator[Complaint]:
    for one, other in (("email_to", "smtp_url"), ("smtp_url", "email_to")):
        if one in document.alerts and other not in document.alerts:
            yield ("alerts", one), f"needs {other}, too"


def _renamed(document: Document) -> Iterator[Complaint]:
    names = {source.get("name") for source in document.sources}
    seen: set[str] = set()
    for index in range(len(document.sources)):
        old = document.merged(index).get("renamed_from")
        if old is None:
            continue
        if old in names:
            yield document.place(index, "renamed_from"), f'"{old}" is still the name of a source'
        if old in seen:
            yield document.place(index, "renamed_from"), f'"{old}" cannot have become two sources'
        seen.add(old)


def _source(document: Document, index: int) -> Iterator[Complaint]:
    source = document.merged(index)
    yield from _provider(document, index, source)
    yield from _retention(document, index, source)
    # Where a destination has no readable name, what names it is not the mistake.
    if all("name" in table for table in document.destinations):
        yield from _destination(document, index, source)
        yield from _test_destination(document, index, source)


def _provider(document: Document, index: int, source: Table) -> Iterator[Complaint]:
    provider, kind = source.get("provider"), source.get("kind")
    if provider is None:
        return
    kinds = PROVIDER_KINDS[provider]
    if kind is not None and kind not in kinds:
        wanted = " or ".join(f'"{one}"' for one in sorted(kinds))
        yield ("sources", index, "kind"), f'the provider "{provider}" needs the kind {wanted}'
    if "scheme" in document.sources[index] and provider != "generic":
        yield ("sources", index, "scheme"), f'the provider "{provider}" has its own scheme; only "generic" has a choice'
    for key, users in USED_BY.items():
        if key in document.sources[index] and provider not in users:
            yield ("sources", index, key), f'the provider "{provider}" has no use for it; only {_quoted(users)} has'
    yield from _pulled(document.sources[index], index, provider)
    if provider in SIGNS_ADDRESS and "public_base_url" not in document.intake:
        yield ("intake", "public_base_url"), f'is missing; "{provider}" signs the address that it calls'


def _retention(document: Document, index: int, source: Table) -> Iterator[Complaint]:
    """Identities outlast whatever may come again, and whatever hangs on them; 0: for ever."""
    keys, provider = source.get("key_retention_days", 0), source.get("provider")
    if not keys:
        return
    place = document.place(index, "key_retention_days")
    if provider is not None and keys < horizons.days(provider):
        yield place, f'must be 0 or at least {horizons.days(provider)}: so late may "{provider}" deliver again'
    for name in ("payload_retention_days", "attempt_retention_days", "decision_retention_days"):
        if not 0 < source.get(name, 0) <= keys:
            yield place, f"needs {name} from 1 to {keys}: with an identity goes what hangs on it"


def _pulled(source: Table, index: int, provider: str) -> Iterator[Complaint]:
    """Who is asked by the clock can be asked, and with what it takes."""
    if "pull_every" in source and provider not in PULLED:
        yield ("sources", index, "pull_every"), f'the provider "{provider}" cannot be asked; {" and ".join(PULLED)} can'
    needed = {key for key, users in USED_BY.items() if provider in users and key != "graph_url"}
    if "pull_every" in source or (needed & source.keys() and provider == SHOP):
        yield from ((("sources", index, key), "is missing") for key in sorted(needed - source.keys()))


def _quoted(providers: tuple[str, ...]) -> str:
    return " or ".join(f'"{one}"' for one in providers)


def _destination(document: Document, index: int, source: Table) -> Iterator[Complaint]:
    names = {SANDBOX, *(table["name"] for table in document.destinations)}
    wanted = source.get("destination")
    if wanted is not None and wanted not in names:
        yield document.place(index, "destination"), unknown("destination", wanted, names)
    if wanted is None and len(document.destinations) > 1:
        yield ("sources", index, "destination"), "is missing, and there are several destinations"


def _test_destination(document: Document, index: int, source: Table) -> Iterator[Complaint]:
    wanted = source.get("test_destination", SANDBOX)
    named = [table for table in document.destinations if table["name"] == wanted]
    place = document.place(index, "test_destination")
    if not named and wanted != SANDBOX:
        yield place, unknown("destination", wanted, {SANDBOX, *(table["name"] for table in document.destinations)})
    elif any(table.get("mode") != "test" and table.get("client", SANDBOX) != SANDBOX for table in named):
        yield place, f'tests may not go to "{wanted}": it is neither mode = "test" nor a sandbox'
