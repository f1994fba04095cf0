"""One bot on its socket, which never blocks.

Knows the way in (a connection, perhaps a handshake, the first words) and how bytes become what a bot hears.
Does not know what it makes of that: its subclasses do.
"""

import socket
from abc import ABC, abstractmethod
from dataclasses import dataclass

from conformance.frames import FrameError, Handshake
from conformance.lab.bench.script import OutOfStep
from conformance.lab.crowd.speech import Heard, Speech

_CHUNK = 16384
_HEAD_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Look:
    """When a loop looked at its sockets. Seconds of `time.perf_counter`."""

    now: float
    """When what it found is being dealt with."""
    before: float
    """When it had looked at all of them before: what it finds now had not come by then."""


class Member(ABC):
    """A bot. Its socket is there between `connect` and `close`."""

    def __init__(self, host: str, port: int, speech: Speech) -> None:
        self.speech = speech
        self._address = host, port
        self._handshake: Handshake | None = None
        self._head = b""
        self._unsent = b""
        self._socket: socket.socket

    def __str__(self) -> str:
        return f"{type(self.speech).__name__} bot {self.speech.wish.name}"

    @abstractmethod
    def hears(self, heard: Heard, look: Look) -> None:
        """Do what follows from what the server has said."""

    def is_left(self) -> None:
        """Do what follows from the server's hanging up. Raises OutOfStep."""
        raise self.wrong("was hung up on")

    def connect(self) -> int:
        """Begin to connect; return the socket's number. Raises OutOfStep.

        What is to be said first leaves with `push`, once there is a connection.
        """
        try:
            self._socket = socket.socket()
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.connect(self._address)
        except BlockingIOError:
            pass
        except OSError as error:
            raise self.wrong(f"cannot connect: {error.strerror}") from None
        host, port = self._address
        resource = self.speech.resource
        if resource is None:
            self._unsent = self.speech.opening()
        else:
            self._handshake = Handshake(f"{host}:{port}", resource)
            self._unsent = self._handshake.request
        return self._socket.fileno()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def push(self) -> bool:
        """Send what could not leave before; return whether all has left. Raises OutOfStep."""
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except (BlockingIOError, BrokenPipeError):  # the latter: not connected yet, on some systems
            return False
        except OSError as error:
            raise self.wrong(f"cannot send: {error.strerror}") from None
        return not self._unsent

    def say(self, data: bytes) -> None:
        """Have the system take all of `data`. Raises OutOfStep where it does not."""
        try:
            if self._socket.send(data) == len(data):
                return
        except BlockingIOError:
            pass
        except OSError as error:
            raise self.wrong(f"cannot send: {error.strerror}") from None
        raise self.wrong("cannot send: the server has stopped reading")

    def take(self, look: Look) -> None:
        """Take in what has come. Raises OutOfStep."""
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.is_left()
        elif self._handshake is not None:
            self._take_head(self._handshake, data, look)
        else:
            self._take_words(data, look)

    def wrong(self, what: str) -> OutOfStep:
        """Return what to raise."""
        return OutOfStep(f"{self} {what}")

    def _take_head(self, handshake: Handshake, data: bytes, look: Look) -> None:
        self._head += data
        if _HEAD_END not in self._head:
            return
        head, _, rest = self._head.partition(_HEAD_END)
        try:
            handshake.accept(head)
        except FrameError as error:
            raise self.wrong(f"cannot connect: {error}") from None
        self._handshake = None
        self.say(self.speech.opening())
        if rest:
            self._take_words(rest, look)

    def _take_words(self, data: bytes, look: Look) -> None:
        try:
            news = list(self.speech.hear(data))
        except OutOfStep as error:
            raise self.wrong(str(error)) from None
        for heard in news:
            self.hears(heard, look)
        if self.speech.answer:
            answer, self.speech.answer = self.speech.answer, b""
            self.say(answer)
