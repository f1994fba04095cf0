"""What a transcript says, as data: its head, its clients, its steps.

Knows the vocabulary and nothing else: no files, no sockets. `transcript` reads it, `play` performs
it; the union `Step` is closed, so that both know every kind of step.
"""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Manner(Enum):
    """How a client writes and reads: what a plain `>` adds and what a plain `<` compares."""

    TEXT = "text"  # websocket text frames, each ending in CRLF
    JSON = "json"  # websocket text frames, compared as JSON values
    EDN = "edn"  # websocket text frames, compared as EDN values
    LINES = "lines"  # TCP, lines ending in LF
    RAW = "raw"  # TCP to a websocket port without a handshake, lines ending in CRLF

    @property
    def websocket(self) -> bool:
        return self in (Manner.TEXT, Manner.JSON, Manner.EDN)

    @property
    def ending(self) -> str:
        return {Manner.TEXT: "\r\n", Manner.LINES: "\n", Manner.RAW: "\r\n"}.get(self, "")


@dataclass(frozen=True, slots=True)
class Client:
    """Who takes part. `path`: the request path of a websocket, placeholders in it; None for the target's."""

    name: str
    dialect: str
    manner: Manner
    path: str | None = None


class Form(Enum):
    """How a payload is written after the arrow."""

    PLAIN = ""  # as the dialect has it, without the line ending
    BYTES = "bytes"  # bytes as they are, on the TCP stream itself
    TEXT = "text"  # one text frame, exactly
    BINARY = "binary"  # one binary frame, exactly
    JSON = "json"  # an arena message in this encoding, whatever the client usually reads
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
    """`span`: seconds, or in terms of the clock, as `placeholders.span` reads it."""

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
    """The server hung up; with `code`, by a websocket close frame that carries it."""

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
    """Which of two clients has which part: the order stays if the next message of the first fits."""

    parts: tuple[str, str]
    clients: tuple[str, str]
    payload: str


Step = Connects | Sends | Hears | Silent | Leaves | Resets | Closed | IgnoresTheRest | Wait | Lot


@dataclass(frozen=True, slots=True)
class Line:
    """A step and where it stands: `number` counts from 1, `text` is the line without blanks around it."""

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
        """Sorts 3.10 behind 3.9."""
        return self.dialect, tuple(int(part) for part in self.number.split("."))

    def __str__(self) -> str:
        return f"{self.dialect} {self.number}"


@dataclass(frozen=True, slots=True)
class Transcript:
    """`id`: folder and file name without ending, `nac4/win`. `needs`: options for the gateway, sorted.

    `source`: "recorded" or "derived", perhaps with a remark behind it. `clock`: the `--clock` among its
    needs, in seconds. `any_clock`: whether all its times are in terms of that, so that a server that is
    there already may have another.
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
    """A file that is no transcript: `message` says why, `number` in which line."""

    id: str
    path: Path
    number: int
    message: str
