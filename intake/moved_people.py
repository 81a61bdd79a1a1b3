"""A person who has another WhatsApp number or user id now: both lead to the same talk and the same contact.

WhatsApp tells it once, in a message of its own.  Whom nobody knows by the old one stays unknown, and nobody's new
number is taken from a contact that it leads to already.
"""

from __future__ import annotations

from datetime import timedelta

from intake import contacts, needs
from intake.db import Conn
from intake.identity import IdentityKey
from intake.received import Received
from intake.records import Scope
from intake.sources.base import Moved


def apply(conn: Conn, key: IdentityKey, received: Received) -> None:
    """Follow everybody whom this delivery says to have moved.  Call it with the locks of their talks."""
    for update in received.reading.updates:
        if update.moved is not None:
            needs.follow(conn, received.place, key, update.moved.conversation)
            _follow_contact(conn, key, received, update.moved)


def _follow_contact(conn: Conn, key: IdentityKey, received: Received, moved: Moved) -> None:
    # No record is made here, so that nothing asks how long what was asked before may linger.
    scope = Scope(received.destination, received.mode, timedelta())
    before, after = (contacts.keys_of(each, received.mode, key) for each in (moved.before, moved.after))
    contacts.follow(conn, scope, before, after)
