"""Which secrets are missing: in this process by its settings, and in those that run by what their heartbeats say.

A command has the environment of a shell, the web, the workers and the clock have others: what counts for deliveries is
theirs.  References are shown, never values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from intake.config import Settings, Source
from intake.config.secret import Secret
from intake.heartbeats import Lacking, ProcessKind
from intake.reason_texts import Language, Text


@dataclass(frozen=True, slots=True)
class Use:
    """A secret, whose it is ("source web", "destination crm", "alerts"), and who needs it.

    `vital`: without it nothing is accepted or delivered there; of a source's secrets one is enough.
    """

    process: ProcessKind
    owner: str
    secret: Secret
    vital: bool = False

    @property
    def name(self) -> str:
        """As a heartbeat tells it."""
        return f"{self.owner}: {self.secret.reference}"

    @property
    def is_missing(self) -> bool:
        """In this process."""
        return self.secret.value is None


def uses(settings: Settings) -> Iterator[Use]:
    """Every secret that the settings name, with who needs it."""
    for source in settings.sources.values():
        if source.enabled:
            yield from _of_source(source)
    for destination in settings.destinations.values():
        if destination.credential:
            yield Use("worker", f"destination {destination.name}", destination.credential, vital=True)
    for secret in (settings.alerts.webhook_url, settings.alerts.smtp_url, settings.alerts.heartbeat_url):
        if secret:
            yield Use("clock", "alerts", secret)


def _of_source(source: Source) -> Iterator[Use]:
    owner = f"source {source.name}"
    for secret in source.secrets:
        yield Use("web", owner, secret, vital=True)
    if source.verify_token:
        yield Use("web", owner, source.verify_token)
    for token in (source.page_token, source.media_token, source.consumer_key, source.consumer_secret):
        if token:
            yield Use("worker", owner, token)


def missing(settings: Settings, process: ProcessKind) -> list[str]:
    """What this process lacks of what such a process needs, for its heartbeat."""
    return sorted({each.name for each in uses(settings) if each.process == process and each.is_missing})


# --- compared with the processes that run -----------------------------------------------------------------------------

Told = Mapping[ProcessKind, Lacking]
PROCESSES: Mapping[ProcessKind, str] = {"web": "web processes", "worker": "workers", "clock": "clock"}


def lacks(use: Use, told: Told) -> bool | None:
    """Whether those that run lack it; None: none of them says so or not."""
    said = told.get(use.process)
    return None if said is None else use.name in said.names


def closed(settings: Settings, told: Told) -> dict[str, str]:
    """Owners that accept or deliver nothing for want of a secret, or of an address, and why.

    Of secrets by the processes' word, else by our own.
    """
    vital: dict[str, list[Use]] = {}
    for use in uses(settings):
        if use.vital:
            vital.setdefault(use.owner, []).append(use)
    found = {owner: _why(of, told) for owner, of in vital.items() if all(_absent(use, told) for use in of)}
    unfinished = {f"destination {each.name}": each.unfinished for each in settings.destinations.values()}
    return found | {owner: why for owner, why in unfinished.items() if why}


def _absent(use: Use, told: Told) -> bool:
    there = lacks(use, told)
    return use.is_missing if there is None else there


def _why(of: list[Use], told: Told) -> str:
    if lacks(of[0], told) is None:
        return "; ".join(use.secret.problem or "" for use in of)
    missed = ", ".join(use.secret.reference for use in of)
    return f"the running {PROCESSES[of[0].process]} lack {missed}"


ONLY_HERE = Text(
    "Esta consola tiene {reference}, y {processes} no lo tienen: póngalo donde se arrancan, y arránquelos de nuevo.",
    "This shell has {reference}, and {processes} lack it: set it where they are started, and start them again.",
)
ONLY_THERE = Text(
    "Esta consola no tiene {reference}, pero {processes} sí: cuentan los procesos.",
    "This shell lacks {reference}, but {processes} have it: what counts is the processes.")  # fmt: skip
RUNNING: Mapping[ProcessKind, Text] = {
    "web": Text("los procesos web que corren", "the running web processes"),
    "worker": Text("los workers que corren", "the running workers"),
    "clock": Text("los relojes que corren", "the running clocks"),
}


def differences(settings: Settings, told: Told, language: Language) -> dict[str, list[str]]:
    """By owner: where this shell and the running processes do not have the same."""
    found: dict[str, list[str]] = {}
    for use in uses(settings):
        there = lacks(use, told)
        if there is None or there is use.is_missing:
            continue
        sentence = (ONLY_THERE if use.is_missing else ONLY_HERE).of(language)
        sentence = sentence.replace("{reference}", use.secret.reference)
        sentence = sentence.replace("{processes}", RUNNING[use.process].of(language))
        found.setdefault(use.owner, []).append(sentence)
    return found
