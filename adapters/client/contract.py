"""The parts of an adapter. An adapter translates between one dialect and the hub.

    bytes -> framing -> text -> codec.decode -> client message -> translator.receive -> command
    event -> translator.observe -> server messages -> codec.encode -> text -> framing -> bytes

Each connection has one codec and one translator, which do no I/O. This module knows no particular dialect.
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
    """A text after which the server hangs up. The exception's text says what the client did."""


@dataclass(frozen=True, slots=True)
class Farewell:
    """The close code and the reason in a websocket's close frame. Other framings do not use them."""

    code: int = 1000
    reason: str = ""
    """At most 123 bytes of UTF-8."""


def to_column(digits: str) -> int:
    """Return the integer in `digits`, which are ASCII with an optional sign.

    Return -1, which is not a column, for an integer of more than two digits after leading zeros: to convert
    a very long integer would take too much time. Raises ValueError for other text.
    """
    match = _INTEGER.fullmatch(digits)
    if match is None:
        raise ValueError(f"{digits!r} is not an integer")
    if len(match[1]) > 2:
        return -1
    value = int(match[1])
    return -value if digits.startswith("-") else value


class Codec(Protocol[C_co, S_contra]):
    """Decodes client messages from text, and encodes server messages as text."""

    def decode(self, text: str) -> C_co:
        """Return the message in `text`. Raises only WireError.

        Bytes that were not UTF-8 are lone surrogates in the text ("surrogateescape").
        """

    def encode(self, message: S_contra) -> str:
        """Return the text of a message, without a separator at its end."""


class Translator(Protocol[C_contra, S_co]):
    """Translates client messages to commands, and events to server messages."""

    @property
    def manners(self) -> Manners:
        """The manners of the client's dialect."""

    def receive(self, message: C_contra, number: int = 0) -> Command:
        """Return the command for a message with this `number`. The result depends on nothing else."""

    def observe(self, event: Event, asked: C_contra | str | None = None) -> Iterable[S_co]:
        """Return the messages to send for an event. The translator remembers only what it has sent.

        For a refusal, `asked` is the message that was refused, or its text if it was not a valid message.
        """

    def farewell(self, dismissed: Dismissed) -> Farewell:
        """Return the close code and reason for a dismissal; by default the usual code without a reason."""
        return Farewell()


STOPPED_READING = "stopped reading"
"""The logged cause if a client reads too little."""


class PeerGone(Exception):
    """The client is gone, or has stopped reading. The exception's text, if any, is the cause."""


class Flooded(Exception):
    """A client sent more bytes without a separator than the framing allows."""


PROBE_LIMIT = 3.0
"""Seconds that a client has to answer a probe."""
SEND_LIMIT = 5.0
"""Seconds that a client has to accept a message before it counts as gone."""
