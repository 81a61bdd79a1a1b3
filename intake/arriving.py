"""A request while it arrives: kept until all of it is there, so that no thread waits for a client's bytes.

Only where a request ends is looked for.  What it says, and whether it is one, gunicorn's parser decides, which reads
from here what has arrived as if it were the socket, and finds an end behind it.
Message framing: RFC 9112, sections 6 and 7.1.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum, auto

END = b"\r\n"
HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"[0-9]{1,15}")
CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[^\r\n]*)?")
# Bytes of the line before a chunk and of the fields behind the last one: as many as gunicorn takes in a field.
MOST_LINE = 8190
# Bytes of all those lines together, or a body would be kept and looked through that is nothing but them.
MOST_LINES = 256 * 1024
# Bytes beyond the limit that are waited for, so that whoever reads in steps sees that there are too many.
BEYOND = 64 * 1024

Steps = Generator[None, None, bool]


class Progress(Enum):
    """How far a request has come."""

    MORE = auto()  # to come
    WHOLE = auto()
    ENOUGH = auto()  # to refuse it; the connection is of no use afterwards


class Chunked(Enum):
    """A body whose length stands in its pieces."""

    BODY = auto()


@dataclass(frozen=True, slots=True)
class Most:
    """What is waited for, in bytes; more than that is refused by whoever reads it."""

    head: int
    body: int


class Arrival:
    """What has come of one connection's request.  It is filled by the main thread, then read by one other."""

    __slots__ = ("_asks", "_data", "_most", "_read", "_steps")

    def __init__(self, most: Most) -> None:
        self._most = most
        self.restart()

    def restart(self) -> None:
        """Forget the request before."""
        self._data = bytearray()
        self._read = 0
        self._asks = False
        self._steps = self._look()

    def add(self, data: bytes) -> Progress:
        """Take what has come."""
        self._data += data
        try:
            next(self._steps)
        except StopIteration as done:
            return Progress.WHOLE if done.value else Progress.ENOUGH
        return Progress.MORE

    def is_asked(self) -> bool:
        """Whether the client waits for "100 Continue" before it sends the body (RFC 9110, 10.1.1); told once."""
        asks, self._asks = self._asks, False
        return asks

    def __len__(self) -> int:
        """How many bytes are kept."""
        return len(self._data)

    def recv(self, size: int) -> bytes:
        """As a socket's: the next bytes, none at the end.  It never waits."""
        piece = bytes(self._data[self._read : self._read + size])
        self._read += len(piece)
        return piece

    def take_rest(self) -> bytes:
        """What nobody has read, of the next request."""
        return self.recv(len(self._data))

    # --- Where it ends: each step runs until it needs more bytes. -----------------------------------------------------

    def _look(self) -> Steps:
        end = yield from self._find(HEAD_END, 0, self._most.head)
        if end is None:
            return False
        end = self._note_expectation(end)
        match framing(bytes(self._data[:end])):
            case None:
                return False
            case int(length):
                return (yield from self._length(end + length, length))
            case Chunked.BODY:
                return (yield from self._chunks(end))

    def _find(self, mark: bytes, start: int, most: int) -> Generator[None, None, int | None]:
        """The place behind the mark; None where it has not come within `most` bytes."""
        searched = start
        while (at := self._data.find(mark, searched)) < 0:
            if len(self._data) - start > most:
                return None
            searched = max(start, len(self._data) - len(mark) + 1)
            yield
        return at + len(mark)

    def _note_expectation(self, end: int) -> int:
        """Note whether the client waits, and take that out of the head, or gunicorn would answer it once more."""
        version, *fields = bytes(self._data[: end - len(HEAD_END)]).split(END)
        asking = [field for field in fields if expects(field)]
        if len(asking) != 1 or not version.endswith(b" HTTP/1.1"):
            return end
        self._asks = True
        kept = [version, *(field for field in fields if field is not asking[0])]
        head = END.join(kept) + HEAD_END
        self._data[:end] = head
        return len(head)

    def _length(self, end: int, length: int) -> Steps:
        if length > self._most.body:
            return False
        while len(self._data) < end:
            yield
        return True

    def _chunks(self, start: int) -> Steps:
        announced = lines = 0
        while True:
            line_end = yield from self._find(END, start, MOST_LINE)
            line = None if line_end is None else CHUNK_LINE.fullmatch(self._data, start, line_end - len(END))
            if line_end is None or line is None:
                return False
            size = int(line[1], 16)
            if size == 0:
                return (yield from self._trailers(line_end))
            announced += size
            lines += line_end - start
            if lines > MOST_LINES:
                return False
            start = line_end + size + len(END)
            while len(self._data) < start:
                if announced - (start - len(self._data)) > self._most.body + BEYOND:
                    return False
                yield

    def _trailers(self, start: int) -> Steps:
        while len(self._data) < start + len(END):
            yield
        if self._data.startswith(END, start):
            return True
        return (yield from self._find(HEAD_END, start, MOST_LINE)) is not None


def framing(head: bytes) -> int | Chunked | None:
    """The body's length in bytes, or that it comes in chunks; None where gunicorn refuses what is said of it."""
    fields = [
        (name.lower(), value.strip(b" \t")) for name, _, value in (line.partition(b":") for line in head.split(END))
    ]
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
    match lengths, codings:
        case [], []:
            return 0
        case [length], [] if LENGTH.fullmatch(length):
            return int(length)
        case [], [b"chunked"]:
            return Chunked.BODY
        case _:
            return None


def expects(field: bytes) -> bool:
    """Whether this line of a head says that the client waits."""
    name, _, value = field.partition(b":")
    return name.lower() == b"expect" and value.strip(b" \t").lower() == b"100-continue"
