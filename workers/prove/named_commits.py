"""Every function that commits on the way of a lead, and around it: whose work it is, and what it commits.

Those of `PROVED` are passed by the scenarios of a proof, where a process ends before and after each of them.  The
others are passed by the suite, which fails at a commit that is not in this list.
"""

from __future__ import annotations

from typing import Final

# Receiving, draining, relaying, delivering, looking, settling.
PROVED: Final[dict[str, str]] = {
    "at_once.take": "a usual delivery with its event, need and delivery, in one statement",
    "events.accept": "a delivery with its events, needs and deliveries",
    "spool.append": "a delivery on this host's own disk",
    "spool_drain._Bench._store": "a spooled delivery, with the ids that its sender was told",
    "spool.retire": "a drained segment is put aside",
    "clock.tick": "lost claims given back, what may go on woken, and the clock's heartbeat",
    "crm_reads.claim": "what somebody at the desk waits for is taken",
    "deliveries.claim": "a delivery is taken",
    "naming.name_for": "a record has its reference, and the delivery its record",
    "whose._named": "the contact's record has its keys",
    "ensure._see_first": "what the look before the first create saw",
    "attempts.prepare": "an attempt, of which nothing has left",
    "attempts.confirm": "what the CRM answered, and the record that it made",
    "writing._conclude": "what the CRM answered",
    "writing._look_at_once": "what the look at a doubt saw, in the same claim",
    "update.keep_read_back": "the guarded fields as the CRM shows them, after a look",
    "attempts.keep_read_back": "the guarded fields as the CRM shows them, after an answer",
    "deliver._take_arrow": "where the delivery goes",
    "look.look_due": "a record in doubt is taken, to be looked at",
    "look.look_into": "what the look saw",
    "sentinels.control": "what the positive control saw",
    "decisions.settle_applied": "a person's word that it stands in the CRM",
    "decisions.settle_not_applied": "a person's word that it does not",
}

DELIVERY: Final[dict[str, str]] = {
    "attempts.note_look": "what a look saw",
    "carried.free": "a message is no longer carried by another's note",
    "carrying._learn": "other ids of the same person",
    "contacts.bind": "the one contact of a person's keys",
    "contacts.follow": "who is known by one number is known by another",
    "contacts.learn": "other ids of a need's person",
    "contacts.rebind": "whose the keys are, as a person says",
    "conversations._recalled": "the opportunity of a conversation, found again after a restore",
    "deliveries._held": "an arrow of a claimed delivery",
    "ensure._adopt": "a contact that people made is taken for the person's",
    "ensure._see_named": "the record that the CRM itself named",
    "look.gone": "a record that people removed, or brought back",
    "merging.follow": "the contact that another was merged into",
    "pausing.paused": "an account that refuses calls is paused",
    "records.know": "the id of a record in the CRM",
    "naming.name": "a record has its reference",
    "siblings.link": "a delivery has the record that was made anew",
    "records.absent": "a record that surely is not there",
    "records.gone": "a record that people removed",
    "update.read_now": "a record that people removed",
    "whose._wonder": "which contact it is must be said by a person",
}

DECISION: Final[dict[str, str]] = {
    "bulk._decide": "one event of a decision about many",
    "bulk.begin": "a decision about many events",
    "bulk.go_on": "a stopped one goes on",
    "bulk.step": "one event of it",
    "bulk.stop": "it stops",
    "decisions.approve": "a content is approved",
    "decisions.cancel": "an event is cancelled",
    "decisions.correct": "an event has other content",
    "decisions.look": "a look is due now",
    "decisions.revive": "an event is tried again",
    "decisions.settle_new": "another need for a message",
    "decisions.settle_note": "a note in spite of a closed opportunity",
    "contact_choice.settle_contact": "which contact it is",
    "person_arrows.decided": "a person's arrow",
    "installation.open_epoch": "a new epoch, after a restore",
    "item_decisions.assign": "whose an item is",
    "item_decisions.resolve": "an item is closed",
    "pauses.pause_account": "a person pauses an account",
    "pauses.pause_source": "a person pauses a source",
    "pauses.resume_account": "a person lets an account go on",
    "pauses.resume_source": "a person lets a source go on",
    "person_arrows.new_generation": "a final event is delivered again",
    "quarantine.release": "what was not readable is read again",
    "quarantine.again": "a body is read again",
    "recheck.recheck": "a refused body is read again",
    "remaking.redeliver": "what stood in the CRM is made anew",
    "remaking.reissue": "a final event is delivered again, as another",
    "spam.unmark": "what was called spam is none",
    "spam.mark": "what was held is called spam",
}

AROUND: Final[dict[str, str]] = {
    "account_facts.note": "what a worker knows of a CRM account",
    "account_facts.note_quota": "what a CRM said of its day's quota",
    "accounts.keep_sentinel": "the record by which a control knows an account",
    "aging.note_purge": "all that is old has gone",
    "at_rest.agree": "the key that seals contents from now on",
    "alerting.send_test": "an alert by which somebody tries the way",
    "connecting.connect": "an account is connected",
    "erasing._act": "one step of forgetting a person",
    "erasing.erase": "a person is forgotten",
    "fetches.claim": "a fetch is taken",
    "history.Importer.take": "rows of an old list",
    "media.media": "who saw a file",
    "purge._batch": "a batch of what is old goes",
    "refused.purge": "refused bodies that are old go",
    "refused.store": "a refused body is kept, sealed",
    "access.note": "who saw personal data",
    "checks._sentinel": "the record by which a control knows an account",
    "crm_reads.ask": "somebody at the desk waits for what the CRM holds",
    "desk_reads.read_due": "what the CRM holds, for the desk",
    "drain._control_due": "an account that answers again is resumed",
    "fetch.fetch_due": "answers or files are asked for",
    "fetches.of_lead": "the fetch of an event's answers",
    "gate._once": "an answer that a key of the API repeats",
    "grants._renew": "one process renews a token",
    "grants.connect": "a grant of an account",
    "grants.distrust": "a token that the CRM refuses",
    "heartbeats.beat": "a process lives",
    "heartbeats.keep_beating": "a process lives still",
    "keeping.keep": "what the contract probe measured",
    "nightly._finish": "the end of the nightly reconciliation",
    "nightly.page_due": "a page of it is taken",
    "opened._look": "a record is looked at because somebody opened its page",
    "operators.add": "an operator",
    "operators.disable": "an operator's end",
    "operators.identify": "a login",
    "operators.set_password": "a password",
    "operators.speak": "an operator's language",
    "pull.pull_due": "a pull is taken",
    "reconcile._note": "what a reconciliation found",
    "reconcile.begin": "a reconciliation begins",
    "reconcile.finish": "its end",
    "resealing._bodies": "a content is sealed anew",
    "resealing.reseal": "the older keys are used no more",
    "resealing._tokens": "tokens of accounts are sealed anew",
    "refusals.Refusals.write": "how much was refused at the door",
    "accept_times.AcceptTimes.write": "how long the door took",
    "sessions.begin": "a session",
    "sessions.end": "its end",
    "sessions.end_others": "the end of an operator's other sessions",
    "sessions.find": "a session is used",
    "shown.event": "who saw an event's content",
    "shown.forget_old": "who saw what long ago is forgotten",
    "shown.item": "who saw an item's content",
    "tokens.add": "a token of the API",
    "tokens.find": "a token is used",
    "watch._beat": "the watch's heartbeat",
    "watch.round_of": "which conditions hold",
    "watch.send": "an alert is sent",
    "watch.send_due": "an alert that is due is taken",
}

COMMITS: Final[dict[str, str]] = PROVED | DELIVERY | DECISION | AROUND


class Unnamed(RuntimeError):
    """A boundary was passed that is not in the list."""


def named(boundary: str) -> None:
    """Is told of commits, where nothing else is to happen at them.  Raises Unnamed."""
    function = boundary.rpartition(".")[0]
    if function not in COMMITS:
        raise Unnamed(f"{function} commits, and has no name in workers/prove/named_commits.py")
