"""What an adapter is.

An adapter translates one dialect to the hub's commands and events and back, in a straight line:

    bytes -> framing -> text -> codec.decode -> client message -> translator.receive -> command
    event -> translator.observe -> server messages -> codec.encode -> text -> framing -> bytes

Codec and translator are plain objects, one of each for a connection, that do no I/O. A dialect is a folder
with the files messages, codec, translator, server and client; nothing here knows any of them. Integers are
read here, for all codecs that have them as text.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gateway.game.commands import Command
from gateway.game.events import Dismissed, Event
from gateway.game.manners import Manners

C = TypeVar("C")
"""A dialect's client messages."""
S = TypeVar("S")
"""A dialect's server messages."""
C_co = TypeVar("C_co", covariant=True)
C_contra = TypeVar("C_contra", contravariant=True)
S_co = TypeVar("S_co", covariant=True)
S_contra = TypeVar("S_contra", contravariant=True)

_INTEGER = re.compile(r"[+-]?0*([0-9]+)", re.ASCII)


class WireError(Exception):
    """A text that is not a message of the dialect."""


class HangUp(WireError):
    """A text whose client is hung up on; nothing that it sent behind it is read. Says what the client did."""


@dataclass(frozen=True, slots=True)
class Farewell:
    """How a client is hung up on, where its framing can say so: a websocket close code and its reason."""

    code: int = 1000
    reason: str = ""
    """At most 123 bytes of UTF-8."""


def to_column(digits: str) -> int:
    """Return the integer that `digits`, ASCII with an optional sign, stand for.

    An integer of any length costs nothing: one that is too long to be a column becomes some number that is
    not a column. Raises ValueError for other text.
    """
    match = _INTEGER.fullmatch(digits)
    if match is None:
        raise ValueError(f"{digits!r} is not an integer")
    if len(match[1]) > 2:
        return -1
    value = int(match[1])
    return -value if digits.startswith("-") else value


class Codec(Protocol[C_co, S_contra]):
    """Text to client messages, server messages to text."""

    def decode(self, text: str) -> C_co:
        """Return the message that `text` is. Raises WireError, and only that.

        Bytes that were no UTF-8 stand in the text as lone surrogates ("surrogateescape").
        """

    def encode(self, message: S_contra) -> str:
        """Return the text of a message, without what separates it from the next one on the wire."""


class Translator(Protocol[C_contra, S_co]):
    """Client messages to commands, events to server messages."""

    @property
    def manners(self) -> Manners:
        """What the client expects of its server."""

    def receive(self, message: C_contra, number: int = 0) -> Command:
        """Return what the client asks for, with the `number` of its message. It depends on nothing else."""

    def observe(self, event: Event, asked: C_contra | str | None = None) -> Iterable[S_co]:
        """Return what the client is told of `event`. The translator remembers only what it has told.

        Of a refusal, `asked` is the message that was refused, or the text if it was not a message.
        """

    def farewell(self, dismissed: Dismissed) -> Farewell:
        """Return how to hang up on the client."""


STOPPED_READING = "stopped reading"
"""What is said of a client that let in too little of what it was told."""


class PeerGone(Exception):
    """The client is not there any more, or has stopped reading; its text, if it has one, says which."""


class Flooded(Exception):
    """A client sent more without a separator than the dialect allows."""


PROBE_LIMIT = 3.0
"""Seconds in which a client that is there answers a probe."""
SEND_LIMIT = 5.0
"""Seconds that a client may take to let a message in before it counts as gone."""
