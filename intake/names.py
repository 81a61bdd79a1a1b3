"""Whether two names may be one person's: how people write their own name differs from one form to the next."""

from __future__ import annotations

from intake.sources.leaves import in_order

ENOUGH = 2  # words that are the same, of two long names that begin alike


def is_other(one: str | None, other: str | None) -> bool:
    """Whether these are names of two people; False where either is no name at all.

    The same: all words of the shorter stand in the longer, in any order, an initial for a word ("Rosa Q.", "Quispe,
    Rosa"); or both begin alike and have another word in common ("Rosa Elena Quispe", "Rosa Quispe Mamani").  A surname
    alone is a family's.
    """
    shorter, longer = sorted((_words(one), _words(other)), key=len)
    if not shorter:
        return False
    shared = [word for word in shorter if _stands_in(word, longer)]
    begin_alike = _is_same(shorter[0], longer[0])
    return len(shared) < len(shorter) and not (begin_alike and len(shared) >= ENOUGH)


def _words(name: str | None) -> list[str]:
    return [each for each in in_order(name or "") if each.isalpha()]


def _stands_in(word: str, words: list[str]) -> bool:
    return any(_is_same(word, each) for each in words)


def _is_same(one: str, other: str) -> bool:
    """Equal, or one is the other's initial."""
    return one == other or (1 in {len(one), len(other)} and one[0] == other[0])
