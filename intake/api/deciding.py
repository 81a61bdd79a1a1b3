"""What programs may decide, in the name of their token's operator."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from uuid import UUID

from intake import item_decisions, pauses, quarantine, worklist
from intake.api import gate
from intake.api.asked import ApproveBody, AssignBody, Body, CorrectBody, ResolveBody, SettleBody, SpamBody
from intake.api.problems import Problem
from intake.api.routes import Given, Route
from intake.api.schemas import DoneSchema, ItemDoneSchema, SteeredSchema
from intake.decided import Author
from intake.desk import operators
from intake.desk.acting import Decider, EventDeed, Wish
from intake.desk.roles import NEEDS, resolving
from intake.desk.tools import connection, tools

# How long a decision waits for the CRM's word, in seconds; a program may come again.
PATIENCE: Final = 2.0

SETTLES: Final[dict[str, EventDeed]] = {
    "applied": "settle applied",
    "not-applied": "settle not-applied",
    "contact": "settle contact",
    "note": "settle note",
    "new": "settle new",
    "cancel": "cancel",
}


def _author(given: Given) -> Author:
    return Author(gate.token().operator, str(given["reason"]).strip() or _blank())


def _blank() -> str:
    raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", more={"fields": {"reason": "must say something"}})


def _act(given: Given, event_id: UUID, deed: EventDeed, wish: Wish) -> dict[str, object]:
    gate.must(NEEDS[deed])
    with connection() as conn:
        decider = Decider(conn, tools().settings, _author(given), tools().hint, PATIENCE)
        done = decider.act(event_id, deed, wish)
    return {"event_id": event_id, "state": done.state, "new_event_id": done.new_event}


def plain(deed: EventDeed) -> Callable[[Given, UUID], dict[str, object]]:
    """An action that needs a reason, and nothing else."""
    return lambda given, event_id: _act(given, event_id, deed, Wish())


def approve(given: Given, event_id: UUID) -> dict[str, object]:
    """Exactly the content that was seen."""
    return _act(given, event_id, "approve", Wish(revision=given["revision"], fingerprint=given["fingerprint"]))


def settle(given: Given, event_id: UUID) -> dict[str, object]:
    """What became of a write in doubt, or what an event belongs to."""
    deed = SETTLES[given["outcome"]]
    if (deed in {"settle applied", "settle contact"}) is not bool(given["crm_id"].strip()):
        rule = {"crm_id": "goes with applied and contact, and they need it"}
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", more={"fields": rule})
    wish = Wish(crm_id=given["crm_id"].strip(), record=given["record"], unverified=given["unverified"])
    return _act(given, event_id, deed, wish)


def correct(given: Given, event_id: UUID) -> dict[str, object]:
    """Other values, by the names that the console uses."""
    return _act(given, event_id, "correct", Wish(fields=given["fields_"]))


def spam(given: Given, event_id: UUID) -> dict[str, object]:
    """It is, or it was not."""
    return _act(given, event_id, "not spam" if given["undo"] else "spam", Wish())


# --- items ------------------------------------------------------------------------------------------------------------


def assign(given: Given, item_id: int) -> dict[str, object]:
    """Give an item to an operator."""
    author = _author(given)
    assignee = given["assignee"] or author.by
    with connection() as conn:
        person = operators.find(conn, assignee)
        if person is None or person.disabled_at is not None:
            rule = {"assignee": "is no operator"}
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", more={"fields": rule})
        item_decisions.assign(conn, author, item_id, assignee, due_at=given["due_at"])
    return {"item_id": item_id, "result": assignee}


def resolve(given: Given, item_id: int) -> dict[str, object]:
    """Close a conflict, a quarantine or an incident."""
    author, resolution, settings = _author(given), given["resolution"], tools().settings
    with connection() as conn:
        item = worklist.item(conn, item_id)
        if item is None:
            raise LookupError(f"item {item_id}")
        match resolution:
            case "keep" | "accept":
                gate.must(resolving("resolve keep" if resolution == "keep" else "resolve accept", item.kind))
                result = item_decisions.resolve(conn, author, item_id, resolution, settings)
            case _:
                gate.must(resolving("resolve release", item.kind))
                releaser = quarantine.Releaser(author.by, author.reason)
                left = quarantine.release(conn, settings, item_id, releaser).left
                result = "released" if left is None else "unreadable"
    tools().hint()
    return {"item_id": item_id, "result": result}


# --- sources and accounts ---------------------------------------------------------------------------------------------


def steer(things: str, *, paused: bool) -> Callable[[Given, str], dict[str, object]]:
    """Pause or resume one."""

    def steered(given: Given, name: str) -> dict[str, object]:
        author, settings = _author(given), tools().settings
        if name not in (settings.sources if things == "sources" else settings.destinations):
            raise LookupError(name)
        with connection() as conn:
            changed = True
            match things, paused:
                case "sources", True:
                    pauses.pause_source(conn, author, name)
                case "sources", False:
                    changed = pauses.resume_source(conn, author, name)
                case _, True:
                    pauses.pause_account(conn, author, name)
                case _:
                    changed = pauses.resume_account(conn, author, name)
        tools().hint()
        return {"name": name, "paused": paused, "changed": changed}

    return steered


EVENT: Final = "/events/<uuid:event_id>"
ITEM: Final = "/items/<int(max=4611686018427387904):item_id>"

ROUTES: Final = (
    Route("POST", f"{EVENT}/look", "look", "Look in the CRM now for what is in doubt; writes nothing.",
          "work", Body(), DoneSchema(), plain("look")),
    Route("POST", f"{EVENT}/settle", "settle", "Say what became of a write in doubt, or what an event belongs to.",
          "work", SettleBody(), DoneSchema(), settle),
    Route("POST", f"{EVENT}/correct", "correct", "Deliver other values; the original is kept.",
          "work", CorrectBody(), DoneSchema(), correct),
    Route("POST", f"{EVENT}/revive", "revive", "Try again from the first unconfirmed step.",
          "work", Body(), DoneSchema(), plain("revive")),
    Route("POST", f"{EVENT}/approve", "approve", "Let exactly this content be delivered.",
          "approve", ApproveBody(), DoneSchema(), approve),
    Route("POST", f"{EVENT}/decline", "decline", "Do not deliver what awaits approval; final.",
          "approve", Body(), DoneSchema(), plain("decline")),
    Route("POST", f"{EVENT}/cancel", "cancel", "Stop here; final. What stands in the CRM stays.",
          "work", Body(), DoneSchema(), plain("cancel")),
    Route("POST", f"{EVENT}/redeliver", "redeliver", "Make anew what the CRM lost; what stands is kept.",
          "work", Body(), DoneSchema(), plain("redeliver")),
    Route("POST", f"{EVENT}/reissue", "reissue", "Open a second opportunity of the same content, on purpose.",
          "work", Body(), DoneSchema(), plain("reissue")),
    Route("POST", f"{EVENT}/spam", "spam", "Cancel as spam, and hold what its sender sends later; or undo that.",
          "work", SpamBody(), DoneSchema(), spam),
    Route("POST", f"{ITEM}/assign", "assign", "Give an item to an operator, or take it over.",
          "work", AssignBody(), ItemDoneSchema(), assign),
    Route("POST", f"{ITEM}/resolve", "resolve", "Close a conflict, a quarantine or an incident.",
          "work", ResolveBody(), ItemDoneSchema(), resolve),
    *(Route("POST", f"/{things}/<name>/{deed}", f"{deed}{things.title()}", summary,
            "steer", Body(), SteeredSchema(), steer(things, paused=deed == "pause"))
      for things, deed, summary in (
          ("sources", "pause", "Accept what comes, and deliver nothing of it until it is resumed."),
          ("sources", "resume", "Deliver what the source sent."),
          ("accounts", "pause", "Deliver nothing to a CRM account until it is resumed."),
          ("accounts", "resume", "Deliver to a CRM account again."))),
)  # fmt: skip
