"""The parts of an adapter, which translates between one dialect and the hub.

    bytes -> framing -> text -> codec.decode -> client message -> translator.receive -> command
    event -> translator.observe -> server messages -> codec.encode -> text -> framing -> bytes

A connection has one codec and one translator, which do no I/O. Nothing here knows a dialect.
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
    """A text after which the client is hung up on. The exception's text says what the client did."""


@dataclass(frozen=True, slots=True)
class Farewell:
    """How a client is hung up on, if its framing can express it: a websocket close code and its reason."""

    code: int = 1000
    reason: str = ""
    """At most 123 bytes of UTF-8."""


def to_column(digits: str) -> int:
    """Return the integer in `digits`, which are ASCII with an optional sign.

    The cost does not depend on the length: an integer that is too long for a column becomes another number
    that is not a column. Raises ValueError for other text.
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
        """Return the message in `text`. Raises WireError, and only that.

        Bytes that were no UTF-8 are lone surrogates in the text ("surrogateescape").
        """

    def encode(self, message: S_contra) -> str:
        """Return the text of a message, without the separator before the next one."""


class Translator(Protocol[C_contra, S_co]):
    """Client messages to commands, events to server messages."""

    @property
    def manners(self) -> Manners:
        """The manners of the client's dialect."""

    def receive(self, message: C_contra, number: int = 0) -> Command:
        """Return the command for a message with this `number`. The result depends on nothing else."""

    def observe(self, event: Event, asked: C_contra | str | None = None) -> Iterable[S_co]:
        """Return the messages to send for an event. The translator remembers only what it has sent.

        For a refusal, `asked` is the message that was refused, or the text if it was no message.
        """

    def farewell(self, dismissed: Dismissed) -> Farewell:
        """Return the close code and reason for a dismissal."""


STOPPED_READING = "stopped reading"
"""The cause that is logged of a client that read too little."""


class PeerGone(Exception):
    """The client is gone, or has stopped reading. The text, if there is one, says which."""


class Flooded(Exception):
    """A client sent more without a separator than the dialect allows."""


PROBE_LIMIT = 3.0
"""Seconds in which a client that is there answers a probe."""
SEND_LIMIT = 5.0
"""Seconds that a client has to accept a message before it counts as gone."""
