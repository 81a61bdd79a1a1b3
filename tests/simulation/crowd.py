"""Many people at once, and a CRM that fails in every way, for a while."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil

from crm_clients.sandbox.faults import FAULTS
from tests.lab import Lab
from workers import clock, drain

# Those that hold a thread for seconds, and those that are a person's to settle: a refusal of the content, an answer
# that lies about what stands there, and a CRM that executes one request twice.
LEFT_OUT = frozenset({"slow", "late", "drip", "422", "refuse_reference", "answer_without_effect", "double_execution",
                      "lagging", "401", "403", "false_absent"})  # fmt: skip
SHARE = 0.05
THREADS = 8


@dataclass(slots=True)
class Crowd:
    """So many events of all kinds; `needs` is how many opportunities there must be in the end."""

    lab: Lab
    chance: random.Random
    events: int
    sent: int = 0
    needs: int = 0
    hit: Counter[str] = field(default_factory=Counter)

    def send(self) -> None:
        """Forms, quotes with later versions, and conversations; some deliveries come twice."""
        while self.sent < self.events:
            number = self.sent
            match self.chance.choice(("form", "form", "form", "quote", "whatsapp")):
                case "form":
                    for _ in range(self.chance.choice((1, 1, 1, 2))):
                        self.lab.form(
                            delivery_id=f"form-{number}", name=f"Persona {number}", email=f"p{number}@example.com",
                            phone=f"9{number:08d}", message=f"Pedido {number}",
                        )  # fmt: skip
                    self.sent += 1
                case "quote":
                    for version in range(1, self.chance.choice((1, 2)) + 1):
                        self.lab.quote(f"COT-{number}", version, f"{100 + version}.00")
                        self.sent += 1
                case _:
                    texts = [f"Hola {number} {part}" for part in range(self.chance.choice((1, 3)))]
                    self.sent += len(self.lab.whatsapp(*texts, sender=f"519{number:08d}"))
            self.needs += 1

    def deliver(self) -> None:
        """Each fault hits its share of the writes and looks; then the CRM is well, and time passes."""
        self.lab.dials.replace_faults([
            {"fault": name, "match": {"what": what}, "skip": self.chance.randrange(self.events)}
            for name in sorted(FAULTS.keys() - LEFT_OUT)
            for what in ("create", "find", "read")
            for _ in range(ceil(self.events * SHARE / 2))  # more than a third: not every one gets its turn
        ])  # fmt: skip
        self.work()
        for rule in self.lab.dials.faults():
            self.hit[str(rule["fault"])] += int(str(rule["applied"]))
        self.lab.dials.no_faults()
        for _ in range(60):
            if not self.lab.rows("SELECT FROM deliveries WHERE state NOT IN ('confirmed', 'superseded') LIMIT 1"):
                return
            self.lab.pass_time(timedelta(minutes=3))
            self.work()

    def work(self) -> None:
        """All that is due, in several threads."""
        while True:
            clock.tick(self.lab.pool, name="lab")
            if not drain.drain(self.lab.desk, threads=THREADS):
                return
