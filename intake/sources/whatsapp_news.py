"""WhatsApp's news of what stands already: edited, deleted, and people who have another number or user id.

Source: Meta, "System messages" and "Business-scoped user IDs".
"""

from __future__ import annotations

from intake.sources.base import Conversation, Moved, Update
from intake.sources.decoding import Json, mapping, text
from intake.sources.whatsapp_ids import message_id, moment
from intake.sources.whatsapp_people import person_of

KINDS = frozenset({"edit", "revoke", "system"})
# Of the system's own messages, those that tell of a person's new number or id; the older name of the first is last.
CHANGES = frozenset({"user_changed_number", "user_changed_user_id", "customer_changed_number"})
# What an adviser reads behind the words; what was said first stays in the event's first revision.
EDITED, REVOKED = "[editado]", "[eliminado por quien lo escribió]"


def read(kind: str, message: dict[str, Json], channel: str, number: str | None) -> Update:
    """An edit has a new id and names the old one; a system message names a person's new number or id.

    `channel`: our number's id, `number`: our number in digits, None: it does not say.
    """
    news, at = mapping(message.get(kind)), moment(message.get("timestamp"))
    if kind == "system":
        return Update(None, text(news.get("type")) or kind, at=at, moved=_moved(message, news, channel, number))
    original = message_id({"id": news.get("original_message_id")})
    about = f"{channel}:{original}" if original else None
    if kind == "revoke":
        return Update(about, kind, at=at, mark=REVOKED)
    return Update(about, kind, at=at, text=_edited(mapping(news.get("message"))), mark=EDITED)


def _moved(message: dict[str, Json], news: dict[str, Json], channel: str, number: str | None) -> Moved | None:
    """From which number or user id somebody went to which; None: it does not say, as where only a key has changed.

    `wa_id` was called `new_wa_id` before, and a new number may come as a new user id alone.
    """
    if text(news.get("type")) not in CHANGES:
        return None
    before = person_of(text(message.get("from")), text(news.get("previous_user_id")))
    after = person_of(text(news.get("wa_id")) or text(news.get("new_wa_id")), text(news.get("user_id")))
    if not before.ids or not after.ids:
        return None
    strongest, *others = dict.fromkeys((*before.ids, *after.ids))
    talk = Conversation(channel, strongest, tuple(others), number=number)
    return Moved(before.contact, after.contact, talk)


def _edited(message: dict[str, Json]) -> str | None:
    """The words of the message as they are now; None: it has none, so that its own stay."""
    kind = text(message.get("type")) or ""
    told = mapping(message.get(kind))
    return text(told.get("body")) or text(told.get("caption"))
