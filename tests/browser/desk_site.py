"""The console of a pipeline, served to a browser, with a morning's events."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from playwright.sync_api import Browser, BrowserContext, Page

from intake.desk.roles import Role
from tests.desk_lab import PASSWORD
from tests.desk_scenes import Day
from tests.lab import Lab


@dataclass(frozen=True, slots=True)
class Served:
    """The console of a pipeline, at an address."""

    address: str
    lab: Lab
    day: Day


@dataclass(frozen=True, slots=True)
class Site:
    """The same, with a browser."""

    address: str
    lab: Lab
    day: Day
    browser: Browser

    def pages(self) -> dict[str, str]:
        """The path of every page by a name."""
        seen, waiting = f"/events/{self.day.confirmed}", f"/events/{self.day.uncertain}"
        console = {
            "decide": "/inbox/decide", "moving": "/inbox/moving", "today": "/inbox/today",
            "all": "/inbox/all", "refused": "/refused", "confirmed": seen, "uncertain": waiting,
            "review": f"/events/{self.day.review}", "conversation": f"/events/{self.day.talk}",
            "settle": f"{waiting}/settle-applied", "correct": f"/events/{self.day.review}/correct",
            "cancel": f"{waiting}/cancel", "conflict": f"/items/{self.day.conflict_item}",
            "quarantine": f"/items/{self.day.quarantine_item}", "sources": "/sources", "accounts": "/accounts",
            "many": "/many/new?action=revive&state=review", "runs": "/many", "run": f"/many/{self.day.run}",
            "health": "/health", "figures": "/figures", "access": "/access",
            "account": "/account", "nothing": "/nothing",
        }  # fmt: skip
        return {name: f"/console{path}" for name, path in console.items()} | {"reference": "/api/"}

    def enter(self, context: BrowserContext, role: Role = "admin") -> Page:
        """Sign in by the form."""
        page = context.new_page()
        page.goto(f"{self.address}/console")
        page.fill("#name", role)
        page.fill("#password", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/inbox/decide")
        return page


def alike(made: Lab) -> None:
    """Two more that wait for the same reason."""
    made.dials.fault("422", match={"what": "create", "kind": "contact"}, times=2)
    for number in (21, 22):
        made.form(name="Ema Parecida", email=f"ema{number}@example.com", phone="")
    made.work()
    made.dials.no_faults()


def in_doubt(made: Lab) -> UUID:
    """One of its own whose opportunity stands in the CRM, and nobody knows."""
    made.work()  # what other tests left is not to meet the fault
    made.lose("opportunity")
    event_id = made.form(name="Inés Supuesta", email=f"ines{next(made.counter)}@example.com", phone="")
    made.work()
    made.dials.no_faults()
    assert made.state(event_id) == "uncertain"
    return event_id
