"""Whether a regular expression can be made to try many ways: its ambiguity, read off its own syntax tree.

A backtracking matcher goes through all paths of the pattern's automaton over one text before it says no.  They are
exponentially many where a state comes back to itself by two paths over one word, and polynomially many where one loop
leads over a word to another loop that takes the same word (Weber and Seidl, "On the degree of ambiguity of finite
automata", 1991).  A search has a loop before its pattern: it begins anywhere.

The automaton has a state for each character of the pattern (Glushkov's).  It takes more than the pattern does: what
stands before and behind is not looked at, but for one character before a search.  So what is called dangerous here may
be harmless, and a person looks.  What is not called so may still cost a factor: the lengths of its short repetitions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.automata import ALPHABET, EVERY, LARGE, Automaton, Node, State, characters, parser

ANYWHERE = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})


@dataclass(frozen=True, slots=True)
class Danger:
    """How the work grows ("exponential" or "polynomial"), and the word that an attacker would repeat."""

    growth: str
    word: str


def danger(pattern: str, flags: int, method: str) -> Danger | None:
    """The worst that a text can do to a pattern that is used by this method of `re`.  Raises TooHard."""
    tree = list(parser.parse(pattern, flags))
    for ahead in looked_ahead(tree):
        if method in ANYWHERE and has_loop(ahead):
            return Danger("polynomial", "whatever it looks ahead at from each place")
        if found := worst(built(ahead, flags, "match")):
            return found
    return worst(built(tree, flags, method))


def built(tree: Sequence[Node], flags: int, method: str) -> Automaton:
    """The automaton, and before it the loop of a search that begins anywhere."""
    automaton = Automaton()
    part = automaton.part(tree, flags)
    if method in ANYWHERE and not is_anchored(tree):
        not_before = characters_not_before(tree, flags)
        fit, unfit = automaton.state(EVERY & ~not_before), automaton.state(not_before)
        automaton.join((fit, unfit), (fit, unfit))
        automaton.join((fit,), part.first)
    if method != "fullmatch" and not has_conditions(tree):
        automaton.done |= set(part.last)
    return automaton


def is_anchored(tree: Sequence[Node]) -> bool:
    return bool(tree) and str(tree[0][0]) == "AT" and str(tree[0][1]) in {"AT_BEGINNING", "AT_BEGINNING_STRING"}


def characters_not_before(tree: Sequence[Node], flags: int) -> int:
    """Where a search cannot begin: behind these."""
    if tree and str(tree[0][0]) in {"ASSERT", "ASSERT_NOT"} and tree[0][1][0] < 0 and len(tree[0][1][1]) == 1:
        behind = characters(tree[0][1][1][0], flags)
        return behind if str(tree[0][0]) == "ASSERT_NOT" else EVERY & ~behind
    return 0


def inside(node: Node) -> Iterator[Sequence[Node]]:
    """The trees of a node."""
    kind, what = str(node[0]), node[1]
    match kind:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            yield list(what[2])
        case "SUBPATTERN":
            yield list(what[3])
        case "ATOMIC_GROUP":
            yield list(what)
        case "ASSERT" | "ASSERT_NOT":
            yield list(what[1])
        case "BRANCH":
            yield from map(list, what[1])
        case _:
            return


def nodes_of(tree: Sequence[Node]) -> Iterator[Node]:
    for node in tree:
        yield node
        for below in inside(node):
            yield from nodes_of(below)


def looked_ahead(tree: Sequence[Node]) -> list[Sequence[Node]]:
    return [list(node[1][1]) for node in nodes_of(tree) if str(node[0]).startswith("ASSERT") and node[1][0] > 0]


def has_loop(tree: Sequence[Node]) -> bool:
    return any(str(node[0]).endswith("REPEAT") and node[1][1] > LARGE for node in nodes_of(tree))


def has_conditions(tree: Sequence[Node]) -> bool:
    """Whether it may still fail when all its characters are there."""
    before = tree[0] if tree else None
    return any(str(node[0]) in {"AT", "ASSERT", "ASSERT_NOT"} and node is not before for node in nodes_of(tree))


# --- ambiguity --------------------------------------------------------------------------------------------------------


def worst(automaton: Automaton) -> Danger | None:
    """Exponential, else polynomial growth, else none."""
    circles = circles_of(automaton)
    # What has matched already does not fail, so nobody comes back to it.
    failing = {state: circle for state, circle in circles.items() if not circle & automaton.done}
    for state, circle in failing.items():
        word = two_ways_round(automaton, state, circle)
        if word is not None:
            return Danger("exponential", word)
    for one in circles:
        for other, circle in failing.items():
            word = from_one_to_the_other(automaton, one, other, circles[one], circle) if one != other else None
            if word is not None:
                return Danger("polynomial", word)
    return None


def circles_of(automaton: Automaton) -> Mapping[State, frozenset[State]]:
    """By state that can be come back to: all states on the way."""
    reach = [reachable(automaton, state) for state in range(len(automaton.takes))]
    return {
        state: frozenset(other for other in reach[state] if state in reach[other])
        for state in range(len(automaton.takes))
        if state in reach[state]
    }


def reachable(automaton: Automaton, start: State) -> set[State]:
    found: set[State] = set()
    waiting = [start]
    while waiting:
        new = set(automaton.targets[waiting.pop()]) - found
        found |= new
        waiting.extend(new)
    return found


def two_ways_round(automaton: Automaton, state: State, circle: frozenset[State]) -> str | None:
    """A word by which two different paths lead from a state back to it."""

    def onward(at: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
        left, right, parted = at
        for i, one in enumerate(automaton.targets[left]):
            for j, other in enumerate(automaton.targets[right]):
                taken = automaton.takes[one] & automaton.takes[other]
                if taken and one in circle and other in circle:
                    yield (one, other, int(parted or left != right or i != j)), taken

    return word_between((state, state, 0), (state, state, 1), onward)


def from_one_to_the_other(
    automaton: Automaton, one: State, other: State, first: frozenset[State], second: frozenset[State]
) -> str | None:
    """A word that leads round one loop, round the other, and from the one to the other."""

    def onward(at: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
        left, between, right = at
        for x in first.intersection(automaton.targets[left]):
            for z in second.intersection(automaton.targets[right]):
                both = automaton.takes[x] & automaton.takes[z]
                for y in set(automaton.targets[between]) if both else ():
                    if both & automaton.takes[y]:
                        yield (x, y, z), both & automaton.takes[y]

    return word_between((one, one, other), (one, other, other), onward)


def word_between(
    start: tuple[int, ...],
    goal: tuple[int, ...],
    onward: Callable[[tuple[int, ...]], Iterator[tuple[tuple[int, ...], int]]],
) -> str | None:
    """The shortest word from here to there; None where there is none."""
    words: dict[tuple[int, ...], str] = {}
    waiting = deque([(start, "")])
    while waiting:
        at, word = waiting.popleft()
        for there, taken in onward(at):
            if there not in words:
                words[there] = word + ALPHABET[(taken & -taken).bit_length() - 1]
                waiting.append((there, words[there]))
        if goal in words:
            return words[goal]
    return None
