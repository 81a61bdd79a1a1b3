"""Ten and more things that somebody does behind our back to one lead among many, and what each must be found as."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.lab import Json
from tests.simulation.intruder import Intruder


@dataclass(frozen=True, slots=True)
class Victim:
    """One confirmed lead: its event, and its records in the CRM by their ids."""

    event: str
    contact: str
    opportunity: str
    task: str


Deed = Callable[[Intruder, Victim], None]


def trashed(plural: str, kind: str) -> Deed:
    return lambda they, whom: they.crm("DELETE", f"{plural}/{getattr(whom, kind)}")


def edited(**fields: object) -> Deed:
    return lambda they, whom: they.crm("PATCH", f"opportunities/{whom.opportunity}", fields)


def doubled(plural: str, kind: str) -> Deed:
    """Another record under the same reference."""

    def deed(they: Intruder, whom: Victim) -> None:
        (made,) = (each for each in they.lab.in_crm(kind) if each["id"] == getattr(whom, kind))
        body: Json = {name: made[name] for name in ("reference", "contact_id") if made.get(name)}
        they.crm("POST", plural, body | {"name" if kind == "contact" else "title": "Otra"})

    return deed


def merged(they: Intruder, whom: Victim) -> None:
    other = they.crm_made("contacts", name="Otra persona")
    they.crm("POST", f"contacts/{whom.contact}/merge", {"into": other})
    they.crm("DELETE", f"contacts/{other}")


def made_by_nobody(they: Intruder, whom: Victim) -> None:
    body = {"title": "Ajena", "contact_id": whom.contact, "reference": "n" + "a" * 26 + "-o"}
    they.crm("POST", "opportunities", body)


def typed(*statements: str) -> Deed:
    """SQL by hand, in which `{event}` and `{opportunity}` stand for those of the victim."""

    def deed(they: Intruder, whom: Victim) -> None:
        for each in statements:
            they.sql(each.format(event=whom.event, opportunity=whom.opportunity))

    return deed


# What is done, and the incidents that it is found as.
SABOTAGES: Mapping[str, tuple[Deed, Mapping[str, int]]] = {
    "its opportunity is deleted": (trashed("opportunities", "opportunity"), {"opportunity_not_live": 1}),
    "its opportunity is doubled": (doubled("opportunities", "opportunity"), {"opportunity_several": 1}),
    "its contact is doubled": (doubled("contacts", "contact"), {"contact_several": 1}),
    "its contact is merged into one that is trashed": (merged, {"contact_not_live": 1}),
    "its owner is emptied": (edited(owner_id=None), {"opportunity_without_owner": 1}),
    "its contact is unlinked": (edited(contact_id=None), {"opportunity_without_contact": 1}),
    "its task is removed": (trashed("tasks", "task"), {"task_not_live": 1}),
    "its event's row is removed": (
        typed("DELETE FROM events WHERE event_id = '{event}'"),
        {"delivery_without_event": 1, "receipt_without_event": 1},
    ),
    "its delivery's row is removed": (
        typed("DELETE FROM deliveries WHERE event_id = '{event}'"),
        {"event_without_delivery": 1, "record_without_event": 3},
    ),
    "its content is removed": (
        typed("DELETE FROM bodies WHERE event_id = '{event}'"), {"event_without_lead": 1},
    ),
    "its record's row names another of the CRM": (
        typed("UPDATE records SET crm_id = 'opp-other' WHERE crm_id = '{opportunity}' AND kind = 'opportunity'"),
        {"opportunity_gone": 1, "opportunity_several": 1},
    ),
    "its record's row is removed": (
        typed("DELETE FROM records WHERE crm_id = '{opportunity}' AND kind = 'opportunity'"),
        {"confirmed_without_opportunity": 1, "opportunity_unknown": 1},
    ),
    "it is due, and forgotten": (
        typed("UPDATE deliveries SET state = 'received', due_at = now() - interval '1 hour'"
              " WHERE event_id = '{event}'"),
        {"forgotten": 1},
    ),
    "another stands beside it under a reference that only looks like ours": (
        made_by_nobody, {"opportunity_unknown": 1},
    ),
}  # fmt: skip
