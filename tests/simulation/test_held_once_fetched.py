"""What the door holds is held, too, where its content comes later; an approval is only of what was there."""

from __future__ import annotations

from pathlib import Path

from intake import decisions, spam
from intake.db import transaction
from intake.decisions import Author
from tests.simulation.ads import ads

ME = Author("ana", "a test")


def test_a_sender_marked_as_spam_is_held_once_the_answers_are_there(database_url: str, tmp_path: Path) -> None:
    with ads(database_url, tmp_path) as meta:
        first = meta.lead()
        meta.lab.work()
        with transaction(meta.lab.pool) as conn:
            spam.mark(conn, ME, first)
        later = meta.lead("1002")
        meta.lab.work()
        assert (meta.lab.state(later), meta.lab.delivery(later)["reason"]) == ("awaiting_approval", "held_as_spam")


def test_an_approval_before_the_answers_is_not_one_of_the_answers(database_url: str, tmp_path: Path) -> None:
    with ads(database_url, tmp_path, approval="required") as meta:
        event = meta.lead()
        with transaction(meta.lab.pool) as conn:
            decisions.approve(conn, ME, event)
        meta.lab.work()
        assert (meta.lab.state(event), meta.lab.delivery(event)["reason"]) == ("awaiting_approval", "content_came")
        assert meta.lab.in_crm("contact") == []
