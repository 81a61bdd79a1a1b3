"""A regular expression as an automaton (Glushkov's): a state for each character of the pattern."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias

# What stands for all characters: ASCII, and beyond it digits, letters, spaces and others.
ALPHABET = "".join(map(chr, range(128))) + "ñÑéóÓſ\u212a\u0663\u00a0\u2028€«“½"
EVERY = (1 << len(ALPHABET)) - 1
# More repetitions than this count as no limit.  Fewer of a single character are a factor, and three show what there is
# to see; fewer of anything longer may hold ways to part it, and count as no limit, too.
LARGE, COPIES = 300, 3
SINGLE = frozenset({"LITERAL", "NOT_LITERAL", "IN", "ANY"})

# The standard library's own parser: private, and the only one that reads what `re` reads.
parser: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")

Node: TypeAlias = tuple[Any, Any]
State: TypeAlias = int


class TooHard(Exception):
    """The pattern has something that is no regular language, such as a group that is referred to."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the pattern: whether it may be empty, and the states that it begins and ends with."""

    empty: bool
    first: tuple[State, ...]
    last: tuple[State, ...]


NOTHING = Part(True, (), ())


@dataclass(slots=True)
class Automaton:
    """Its states by number."""

    # A bit for each character of ALPHABET that leads into the state.
    takes: list[int] = field(default_factory=list)
    # Where one gets from a state; twice where there are two ways.
    targets: list[list[State]] = field(default_factory=list)
    # Where the pattern has matched, whatever follows.
    done: set[State] = field(default_factory=set)

    def state(self, takes: int) -> State:
        self.takes.append(takes)
        self.targets.append([])
        return len(self.takes) - 1

    def join(self, sources: Iterable[State], targets: Iterable[State]) -> None:
        """One more way from each to each."""
        ends = list(targets)
        for source in sources:
            self.targets[source].extend(ends)

    # --- parts --------------------------------------------------------------------------------------------------------

    def sequence(self, parts: Iterable[Part]) -> Part:
        whole = NOTHING
        for part in parts:
            self.join(whole.last, part.first)
            first = whole.first + (part.first if whole.empty else ())
            whole = Part(whole.empty and part.empty, first, part.last + (whole.last if part.empty else ()))
        return whole

    def repeat(self, node: Sequence[Node], least: int, most: int, flags: int) -> Part:
        if most > LARGE or (most > COPIES and str(node[0][0]) not in SINGLE):
            return self.loop(node, least, flags)
        whole = NOTHING
        for number in reversed(range(min(most, COPIES))):
            whole = self.sequence([self.part(node, flags), whole])
            if number >= least:
                whole = Part(True, whole.first, whole.last)
        return whole

    def loop(self, node: Sequence[Node], least: int, flags: int) -> Part:
        before = [self.part(node, flags) for _ in range(min(least, COPIES) - 1)]
        again = self.part(node, flags)
        self.join(again.last, again.first)
        return self.sequence([*before, Part(again.empty or least == 0, again.first, again.last)])

    def part(self, nodes: Sequence[Node], flags: int) -> Part:
        return self.sequence([self.one(node, flags) for node in nodes])

    def one(self, node: Node, flags: int) -> Part:
        kind, what = str(node[0]), node[1]
        match kind:
            case "LITERAL" | "NOT_LITERAL" | "IN" | "ANY":
                made = self.state(characters(node, flags))
                return Part(False, (made,), (made,))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self.repeat(what[2], what[0], what[1], flags)
            case "SUBPATTERN":
                return self.part(what[3], (flags | what[1]) & ~what[2])
            case "ATOMIC_GROUP":
                return self.part(what, flags)
            case "BRANCH":
                ways = [self.part(way, flags) for way in what[1]]
                ends = (tuple(state for way in ways for state in way.first), tuple(s for way in ways for s in way.last))
                return Part(any(way.empty for way in ways), *ends)
            case "AT" | "ASSERT" | "ASSERT_NOT":
                return NOTHING
            case _:
                raise TooHard(kind)


def characters(node: Node, flags: int) -> int:
    """Which characters this node takes."""
    compiled = _compiler.compile(parser.SubPattern(parser.State(), [node]), flags)
    found = sum(1 << place for place, char in enumerate(ALPHABET) if compiled.fullmatch(char))
    if not found:
        raise TooHard(f"none of ALPHABET is {node}")
    return found
