"""A transcript as data: its head, its clients, its steps.

Must not know files or sockets. `transcript` creates these objects and `play` carries them out. The union
`Step` lists all kinds of steps, so type checking finds a kind that either module does not handle.
"""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Manner(Enum):
    """How a client writes and reads: what a plain `>` adds, and how a plain `<` compares."""

    TEXT = "text"  # websocket text frames, each ending in CRLF
    BARE = "bare"  # websocket text frames, without a line ending
    JSON = "json"  # websocket text frames, compared as JSON values
    EDN = "edn"  # websocket text frames, compared as EDN values
    LINES = "lines"  # TCP, lines ending in LF
    RAW = "raw"  # TCP, lines ending in CRLF; also to a websocket's port, without a handshake

    @property
    def websocket(self) -> bool:
        return self in (Manner.TEXT, Manner.BARE, Manner.JSON, Manner.EDN)

    @property
    def ending(self) -> str:
        return {Manner.TEXT: "\r\n", Manner.LINES: "\n", Manner.RAW: "\r\n"}.get(self, "")


@dataclass(frozen=True, slots=True)
class Client:
    """A client of a transcript. `path`: a websocket's request path, with placeholders; None: the target's."""

    name: str
    dialect: str
    manner: Manner
    path: str | None = None


class Form(Enum):
    """How a payload is written after the arrow."""

    PLAIN = ""  # in the dialect's own form, without the line ending
    BYTES = "bytes"  # bytes as they are, on the TCP stream itself
    TEXT = "text"  # one text frame, exactly
    BINARY = "binary"  # one binary frame, exactly
    JSON = "json"  # an arena message in this encoding, whatever the client's manner
    EDN = "edn"


@dataclass(frozen=True, slots=True)
class Connects:
    who: str


@dataclass(frozen=True, slots=True)
class Sends:
    who: str
    form: Form
    payload: str


@dataclass(frozen=True, slots=True)
class Hears:
    who: str
    form: Form
    payload: str


@dataclass(frozen=True, slots=True)
class Silent:
    """The client receives nothing for a time.

    `span`: a number of seconds or a term such as `clock-0.3`, as `placeholders.span` reads it.
    """

    who: str
    span: str


@dataclass(frozen=True, slots=True)
class Leaves:
    who: str


@dataclass(frozen=True, slots=True)
class Resets:
    who: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The server hung up; if `code` is given, with a websocket close frame of that code."""

    who: str
    code: int | None = None


@dataclass(frozen=True, slots=True)
class IgnoresTheRest:
    who: str


@dataclass(frozen=True, slots=True)
class Wait:
    span: str


@dataclass(frozen=True, slots=True)
class Lot:
    """Gives two clients the names in `parts`.

    If the first client's next message matches `payload`, it gets the first name, otherwise the second.
    """

    parts: tuple[str, str]
    clients: tuple[str, str]
    payload: str


Step = Connects | Sends | Hears | Silent | Leaves | Resets | Closed | IgnoresTheRest | Wait | Lot


@dataclass(frozen=True, slots=True)
class Line:
    """A step and its line: `number` counts from 1, `text` is the line without surrounding blanks."""

    number: int
    text: str
    step: Step


@dataclass(frozen=True, slots=True)
class Clause:
    """A numbered paragraph of a dialect's PROTOCOL.md."""

    dialect: str
    number: str

    @property
    def order(self) -> tuple[str, tuple[int, ...]]:
        """The sort key, which puts 3.10 after 3.9."""
        return self.dialect, tuple(int(part) for part in self.number.split("."))

    def __str__(self) -> str:
        return f"{self.dialect} {self.number}"


@dataclass(frozen=True, slots=True)
class Transcript:
    """A valid transcript. `id`: folder and file name without ending, as in `nac4/win`.

    `needs`: options of the gateway, sorted. `source`: "recorded" or "derived", optionally followed by a
    remark. `clock`: the value of `--clock` in `needs`, in seconds. `any_clock`: whether all times are
    relative to the clock, so that a running server with another clock may play it.
    """

    id: str
    path: Path
    title: str
    source: str
    clauses: tuple[Clause, ...]
    needs: tuple[str, ...]
    clients: tuple[Client, ...]
    lines: tuple[Line, ...]
    clock: float | None = None
    any_clock: bool = False

    @property
    def dialects(self) -> frozenset[str]:
        return frozenset(client.dialect for client in self.clients)


@dataclass(frozen=True, slots=True)
class Broken:
    """A file that is not a valid transcript: `message` says why, `number` is the line."""

    id: str
    path: Path
    number: int
    message: str
