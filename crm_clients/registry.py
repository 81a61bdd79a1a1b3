"""The CRM clients by their names in `intake.toml`: a new CRM is a module, a line here and a folder of recordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from crm_clients.base import Client
from crm_clients.bottlecrm import BottleCRM
from crm_clients.sandbox.client import SandboxClient

Settings = Mapping[str, str]


class UnknownClient(Exception):
    """No CRM client has this name; the message names those that there are."""


class BadSetting(Exception):
    """A setting of a destination is none that its client understands."""


def build(name: str, settings: Settings) -> Client:
    """The client of a destination, from the destination's settings.  Raises UnknownClient, BadSetting."""
    builder = CLIENTS.get(name)
    if builder is None:
        raise UnknownClient(f"no CRM client is called {name!r}; there are: {', '.join(sorted(CLIENTS))}")
    return builder(settings)


def _sandbox(settings: Settings) -> Client:
    _only(settings, "profile", "limit_seconds", "lag_seconds")
    default = SandboxClient()
    return SandboxClient(
        profile=settings.get("profile", default.profile),
        limit=_seconds(settings, "limit_seconds") or default.limit,
        lag=_seconds(settings, "lag_seconds") or default.lag,
    )


def _bottlecrm(settings: Settings) -> Client:
    _only(settings, "reference_field", "priority", "currency", "limit_seconds")
    default = BottleCRM()
    return BottleCRM(
        reference_field=settings.get("reference_field", default.reference_field),
        priority=settings.get("priority", default.priority),
        currency=settings.get("currency"),
        limit=_seconds(settings, "limit_seconds"),
    )


def _only(settings: Settings, *known: str) -> None:
    """Raises BadSetting for a setting that would be passed over: most often a known one, mistyped."""
    for name in settings:
        if name not in known:
            raise BadSetting(f"{name} is no option of this client; there are: {', '.join(known)}")


def _seconds(settings: Settings, name: str) -> timedelta | None:
    """A positive number of seconds, None where the setting is missing.  Raises BadSetting."""
    if name not in settings:
        return None
    try:
        seconds = timedelta(seconds=float(settings[name]))
    except (ValueError, OverflowError):
        raise BadSetting(f"{name} is no number of seconds: {settings[name]!r}") from None
    if seconds <= timedelta(0):
        raise BadSetting(f"{name} is not positive: {settings[name]!r}")
    return seconds


CLIENTS: Mapping[str, Callable[[Settings], Client]] = {
    "bottlecrm": _bottlecrm,
    "sandbox": _sandbox,
}
