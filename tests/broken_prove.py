"""`intake prove` with workers that are broken on purpose: after a lost answer they create again, without having looked.

Run as a program, in the place of the command.
"""

from __future__ import annotations

from dataclasses import replace

from tests.broken_worker import blinded
from workers.commands.proving import prove
from workers.desk import Desk


def blind(desk: Desk) -> Desk:
    """The same desk, whose accounts see nothing and say that this does no harm."""
    return replace(desk, wired={name: blinded(each) for name, each in desk.wired.items()})


if __name__ == "__main__":
    prove.main(obj=blind)
