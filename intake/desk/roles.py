"""Who may do what.  Each role may do what those before it may; a token of an operator never more than its operator.

viewer ⊂ operator ⊂ approver ⊂ admin
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

from intake.bulk import BulkAction
from intake.explain_texts import Action

Role = Literal["viewer", "operator", "approver", "admin"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

# see: lists and events, people masked.  data: what a lead says, unmasked; each look is logged.  work: decide what is
# needed for a lead to arrive once.  approve: let something be delivered, or keep it from it, or take other content.
# steer: pause whole accounts and sources.  audit: who saw what.
Permission = Literal["see", "data", "work", "approve", "steer", "audit"]

GRANTS: Final[Mapping[Role, frozenset[Permission]]] = {
    "viewer": frozenset({"see"}),
    "operator": frozenset({"see", "data", "work"}),
    "approver": frozenset({"see", "data", "work", "approve"}),
    "admin": frozenset({"see", "data", "work", "approve", "steer", "audit"}),
}

ItemAction = Literal["assign", "resolve keep", "resolve accept", "resolve release"]
Steering = Literal["pause", "resume"]
Deed = Action | ItemAction | Steering | Literal["not spam"]

NEEDS: Final[Mapping[Deed, Permission]] = {
    "look": "work",
    "settle applied": "work",
    "settle not-applied": "work",
    "settle contact": "work",
    "settle note": "work",
    "settle new": "work",
    "correct": "work",
    "revive": "work",
    "approve": "approve",
    "decline": "approve",
    "cancel": "work",
    "redeliver": "work",
    "reissue": "work",
    "spam": "work",
    "not spam": "work",
    "assign": "work",
    "resolve keep": "work",
    "resolve accept": "approve",
    "resolve release": "approve",
    "pause": "steer",
    "resume": "steer",
}


def resolving(deed: ItemAction, item_kind: str) -> Permission:
    """What closing an item asks: other content is approved, while an incident is only seen to."""
    return "work" if item_kind == "incident" else NEEDS[deed]


def deciding_many(action: BulkAction) -> Permission:
    """As for one event; a replay tries again, or looks."""
    return "work" if action == "replay" else NEEDS[action]


# What a token may be given, and what each of it lets through.
Scope = Literal["read", "data", "act"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
OF_SCOPE: Final[Mapping[Scope, frozenset[Permission]]] = {
    "read": frozenset({"see"}),
    "data": frozenset({"data"}),
    "act": frozenset({"work", "approve", "steer"}),
}


def may(role: Role, permission: Permission) -> bool:
    """Whether a person of this role may."""
    return permission in GRANTS[role]


def granted(role: Role, scopes: frozenset[Scope]) -> frozenset[Permission]:
    """What a token may do: what its scopes say, and its operator may today."""
    return GRANTS[role] & frozenset[Permission]().union(*(OF_SCOPE[scope] for scope in scopes))
