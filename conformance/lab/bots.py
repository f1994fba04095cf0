"""A bot on its socket, which never blocks.

Knows the way in (a connection, perhaps a handshake, the first words), looks up in its book what the bytes
that come mean, and answers what the transport demands. What follows from a turn is for its subclasses. Does
not know who polls the sockets, nor the dialects.
"""

import socket
from abc import ABC, abstractmethod

from conformance.dialects import DIALECTS
from conformance.dialects.script import OutOfStep, Phase, Place, Script, Wish
from conformance.frames import FrameError, Handshake
from conformance.lab.book import Book, Known, Turn
from conformance.targets import Address

KINDS = {kind: (dialect.name, make) for dialect in DIALECTS.values() for kind, make in dialect.bots.items()}
"""Of each kind of bot its dialect, and what makes its script."""
PLAIN = {name: next(iter(dialect.bots)) for name, dialect in DIALECTS.items()}
"""The kind of bot that is meant by a dialect alone."""
_CHUNK = 4096
_HEAD_END = b"\r\n\r\n"


def script_of(kind: str, *game: object, timed: bool = False) -> Script:
    """Return what a kind of bot hears and answers. Raises KeyError."""
    return KINDS[kind][1](*game, timed=timed)


class Bot(ABC):
    """A bot. Its socket is there between `connect` and `close`."""

    def __init__(self, book: Book, wish: Wish, address: Address) -> None:
        self.book = book
        self.wish = wish
        self.place = book.script.start
        self.has_played = False
        """Whether a game of this connection has ended."""
        self._address = address
        self._key = book.script.key
        self._known: Known = {}
        self._rest = b""
        self._unsent = b""
        self._handshake: Handshake | None = None
        self._socket: socket.socket

    def __str__(self) -> str:
        return f"{self.book.kind} bot {self.wish.name}"

    @abstractmethod
    def take(self, turn: Turn, before: Place) -> None:
        """Do what follows from what the server has said. `before`: where the bot was until now."""

    def come_back(self) -> None:
        """Do what follows from a hang-up behind a series, where one may be. Raises OutOfStep."""
        raise self.wrong("was hung up on between two games")

    def connect(self) -> int:
        """Begin to connect; return the socket's number. Raises OutOfStep.

        What is to be said first leaves with `push`, once there is a connection.
        """
        address, script = self._address, self.book.script
        try:
            self._socket = socket.socket()
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.connect((address.host, address.port))
        except BlockingIOError:
            pass
        except OSError as error:
            self._socket.close()
            raise self.wrong(f"cannot connect: {error.strerror}") from None
        self.place, self.has_played, self._rest = script.start, False, b""
        self._known = self.book.page(self.place)
        self._receive, self._send = self._socket.recv, self._socket.send
        resource = script.resource(self.wish)
        if resource is None:
            self._unsent = script.opening(self.wish)
        else:
            self._handshake = Handshake(address.authority, address.resource(resource))
            self._unsent = self._handshake.request
        return self._socket.fileno()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def push(self) -> bool:
        """Send what could not leave before; return whether all has left. Raises OutOfStep."""
        try:
            self._unsent = self._unsent[self._send(self._unsent) :]
        except (BlockingIOError, BrokenPipeError):  # the latter: not connected yet, on some systems
            return False
        except OSError as error:
            raise self.wrong(f"cannot connect: {error.strerror}") from None
        return not self._unsent

    def say(self, data: bytes) -> None:
        """Have the system take all of `data`. Raises OutOfStep where it does not."""
        try:
            if self._send(data) == len(data):
                return
        except BlockingIOError:
            pass
        except OSError as error:
            raise self.wrong(f"cannot send: {error.strerror}") from None
        raise self.wrong("cannot send: the server has stopped reading")

    def ready(self) -> None:
        """Take in what has arrived. Raises OutOfStep."""
        try:
            data = self._receive(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        turn = self._known.get(self._key(data))
        if turn is None or self._rest:
            turn = self._read(data)
            if turn is None:
                return
        before, self.place = self.place, turn.place
        self._known = turn.known
        if turn.answer:
            self.say(turn.answer)
        self.take(turn, before)

    def meets(self, opponent: str) -> None:  # noqa: B027  most know beforehand
        """Take in whom it plays from here on. Raises OutOfStep."""

    def wrong(self, what: str) -> OutOfStep:
        """Return what to raise."""
        return OutOfStep(f"{self} {what}")

    def _read(self, data: bytes) -> Turn | None:
        """Have the script read what is not known; None where there is nothing to do about it."""
        if not data:
            self._hung_up()
            return None
        rest = self._rest
        data = rest + data
        if self._handshake is not None:
            self._rest = data
            if not self._accepted(self._handshake) or not self._rest:
                return None
            rest, data = self._rest, self._rest
        try:
            turn, self._rest = self.book.read(self.place, data, self.wish.name)
            if turn.opponent is not None:
                self.meets(turn.opponent)
        except OutOfStep as error:
            raise self.wrong(str(error)) from None
        # A name is this bot's affair, and a torn message is not worth remembering.
        if turn.opponent is None and not (rest or self._rest):
            self.book.remember(self.place, data, turn)
        return turn

    def _hung_up(self) -> None:
        if self._handshake is not None:
            raise self.wrong("was hung up on in the handshake")
        if not (self.book.script.may_hang_up and self.has_played and self.place.phase is Phase.WAITING):
            raise self.wrong(f"was hung up on when it was {self.place}")
        self.come_back()

    def _accepted(self, handshake: Handshake) -> bool:
        """Take in the answer to the handshake, if it is whole, and say what is said first."""
        head, end, rest = self._rest.partition(_HEAD_END)
        if not end:
            return False
        try:
            handshake.accept(head)
        except FrameError as error:
            raise self.wrong(f"cannot connect: {error}") from None
        self._handshake, self._rest = None, rest
        self.say(self.book.script.opening(self.wish))
        return True
