"""What a worker works with: the database, the CRM accounts, the way to them, and how patient it is.

Time, randomness and the network come in here, so that a test can hand in its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import timedelta

from crm_clients.base import Account, Capability, Client, Kind
from crm_clients.oauth import App
from crm_clients.transport import Transport
from crm_clients.watchdog import Clock, boot_clock
from intake.attempts import Patience
from intake.config import Destination, Settings
from intake.db import Pool
from intake.installation import Installation
from intake.naming import Scope
from intake.sealing import Seal
from workers.limiter import Limiter, Unlimited
from workers.probe.measured import Contract, careful
from workers.turns import InHand


@dataclass(frozen=True, slots=True)
class Wired:
    """A destination with the client that speaks its CRM's language, and the account that its requests go to.

    `app`: how its OAuth grant is renewed, None: its credential is fixed.
    `measured`: what the contract probe saw there, None: it was never measured.
    """

    destination: Destination
    client: Client
    account: Account
    measured: Contract | None = None
    app: App | None = None

    def capability(self, kind: Kind) -> Capability:
        """What the CRM promises for this kind of record, as far as it was not seen to break it."""
        return careful(self.client.capability(kind), self.measured.of(kind) if self.measured else None)


def _nowhere(_boundary: str) -> None:
    """The boundaries are passed without a stop."""


def _never() -> bool:
    """Nobody asks this process to stop."""
    return False


@dataclass(frozen=True, slots=True)
class Desk:
    """One worker's tools.  `at` is told the name of every boundary that it passes; a test may stop there.

    `seal` None: no source wants files kept.  `stopping`: whether this process was told to stop.
    """

    pool: Pool
    settings: Settings
    installation: Installation
    wired: Mapping[str, Wired]
    transport: Transport
    seal: Seal | None = None
    limiter: Limiter = field(default_factory=Unlimited)
    patience: Patience = field(default_factory=Patience)
    clock: Clock = boot_clock
    jitter: Callable[[], float] = field(default=random.random)
    at: Callable[[str], None] = _nowhere
    stopping: Callable[[], bool] = _never
    in_hand: InHand = field(default_factory=InHand)
    # (destination, user) -> (when by the clock, whether they are still there); what is lost here is asked again.
    users: MutableMapping[tuple[str, str], tuple[float, bool]] = field(default_factory=dict)
    # destination -> when by the clock its quota was written down last
    quotas: MutableMapping[str, float] = field(default_factory=dict)
    # destination -> (until when by the clock, the account with its newest token)
    tokens: MutableMapping[str, tuple[float, Account]] = field(default_factory=dict, repr=False)

    @property
    def destinations(self) -> list[str]:
        """The accounts that this worker can deliver to."""
        return list(self.wired)

    def scope(self, destination: str, mode: str) -> Scope:
        """Where the records of an account live."""
        return Scope(destination, "test" if mode == "test" else "live", self.patience.lease)

    def deadline(self, patience: timedelta) -> float:
        """A reading of the clock that lies this far ahead."""
        return self.clock() + patience.total_seconds()
