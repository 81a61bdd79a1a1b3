"""What `intake up` finds out before it starts anything: whether this configuration can run on this host at all."""

from __future__ import annotations

import base64
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from intake import at_rest, sealing, spooling, surroundings
from intake.config import Destination, Process, Settings
from intake.surroundings import DEMO_SECRETS
from workers import wiring

# The sandbox's port may be chosen, for a person who looks at it; any free one serves otherwise.
SANDBOX_PORT = "INTAKE_SANDBOX_PORT"
LOOPBACK = "127.0.0.1"


class CannotStart(Exception):
    """Nothing was started; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What `up` found out before it started anything.  `sandbox_port` None: no destination needs the sandbox."""

    process: Process
    settings: Settings
    environ: Mapping[str, str]
    sandboxes: tuple[Destination, ...]
    sandbox_port: int | None


def plan(environ: Mapping[str, str], home: Path) -> Plan:
    """Read the configuration and check it against this version and this host.  Raises ConfigError, CannotStart."""
    environ = {**environ, "INTAKE_HOME": str(home)}
    process = Process.from_environ(environ)
    process = replace(process, config=process.config.resolve())
    if process.is_demo:
        environ = {**demo_secrets(process, environ), **environ}
    settings = wiring.settings_of(process, environ)
    must_be_wired(settings, environ)
    must_keep(settings, environ)
    must_be_free(process.port)
    sandboxes = tuple(each for each in settings.destinations.values() if is_embedded(each, environ))
    environ["INTAKE_CONFIG"] = str(process.config)
    return Plan(process, settings, environ, sandboxes, sandbox_port(environ) if sandboxes else None)


def must_be_wired(settings: Settings, environ: Mapping[str, str]) -> None:
    """Raises CannotStart for an open destination that this version cannot speak to."""
    if unusable := wiring.unusable(settings, environ):
        raise CannotStart("\n".join(f"destinations.{name}: {why}" for name, why in unusable.items()))


def must_keep(settings: Settings, environ: Mapping[str, str]) -> None:
    """Raises CannotStart, ConfigError where the receiver would not start: its spool would forget, or lacks its keys."""
    sealing.from_environ(environ)
    at_rest.from_environ(environ)
    wrong = spooling.unfit(settings.spool_dir, persistent=settings.spool_persistent) if settings.spool_dir else None
    if wrong is not None:
        raise CannotStart(f"intake.spool_dir: {settings.spool_dir} {wrong}")


def demo_secrets(process: Process, environ: Mapping[str, str]) -> Mapping[str, str]:
    """The secrets of the built-in configuration, made once, so that a newcomer can send at once."""
    file = process.intake_home / DEMO_SECRETS
    known = surroundings.read(file)
    sources = wiring.settings_of(process, environ).sources.values()
    wanted = [secret for source in sources for secret in (*source.secrets, source.verify_token) if secret is not None]
    names = [each.reference.removeprefix("env:") for each in wanted if each.reference.startswith("env:INTAKE_DEMO_")]
    missing = {
        name: f"whsec_{base64.b64encode(secrets.token_bytes(24)).decode()}" for name in names if name not in known
    }
    if missing:
        surroundings.write(file, {**known, **missing})
    return {**known, **missing}


def must_be_free(port: int) -> None:
    """Raises CannotStart where something else listens on the receiver's port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise CannotStart(f"port {port} cannot be used ({error.strerror}): set PORT to a free one") from None


def is_embedded(destination: Destination, environ: Mapping[str, str]) -> bool:
    """Whether this account is the sandbox that comes with the program, and nobody runs one elsewhere."""
    return destination.client == "sandbox" and destination.base_url is None and wiring.SANDBOX_URL not in environ


def sandbox_port(environ: Mapping[str, str]) -> int:
    """The port that was asked for, or a free one; kept for as long as this supervisor runs."""
    wanted = environ.get(SANDBOX_PORT) or "0"
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, int(wanted)))
        except (OSError, ValueError, OverflowError):
            raise CannotStart(f"{SANDBOX_PORT} is no port that can be used: choose another, or none") from None
        port: int = probe.getsockname()[1]
        return port
