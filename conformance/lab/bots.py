"""Fast bots: scripted clients on non-blocking sockets, thousands of them in one process.

Bots play the same games over and over, and receive the same bytes. The script interprets each chunk of bytes
once; after that its meaning is looked up in a dict. Subclasses of `Bot` define how a bot reacts to a chunk.
"""

import select
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from time import perf_counter
from typing import Generic, TypeVar

from conformance.dialects import DIALECTS
from conformance.dialects.script import Outcome, OutOfStep, Phase, Place, Script, Step, Wish
from conformance.frames import FrameError, Handshake
from conformance.targets import Address

_AT_TABLES = [dialect for dialect in DIALECTS.values() if dialect.has_tables]
"""The dialects whose bots can meet at a table, as these bots do."""
KINDS = {kind: (dialect.name, make) for dialect in _AT_TABLES for kind, make in dialect.bots.items()}
"""The dialect of each kind of bot, and the function that creates its script."""
PLAIN = {dialect.name: next(iter(dialect.bots)) for dialect in _AT_TABLES}
"""The default kind of bot for each of these dialects."""
EVERY = {dialect.name: next(iter(dialect.bots)) for dialect in DIALECTS.values()}
"""The default kind of bot for each built-in dialect."""
_MAKE = {kind: make for dialect in DIALECTS.values() for kind, make in dialect.bots.items()}
NAP = 0.01
"""The longest time that one look at the sockets waits for data, in seconds."""
_CHUNK = 4096
_HEAD_END = b"\r\n\r\n"
_SHOWN = 200
_MOST_KNOWN = 2000
"""The most chunks that are remembered for one place. This limits the memory."""
_MOST_FOUND = 1000
"""If one look finds at least this many readable sockets, it may have missed others."""


def script_of(kind: str, *game: object, timed: bool = False) -> Script:
    """Create the script of a kind of bot. Raises KeyError for an unknown kind."""
    return _MAKE[kind](*game, timed=timed)


def shown(message: bytes) -> str:
    """Return a message in quotes, cut after 200 characters."""
    text = repr(message)[1:]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


Known = dict[bytes, "Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """The effect of a chunk of received bytes on a bot."""

    place: Place
    known: Known
    """The known chunks for `place`."""
    told: int
    """How many moves of the opponent the chunk contains. It can be 2 if one game ends and the next begins."""
    outcome: Outcome | None
    answer: bytes
    """The bytes to send at once, such as answers to pings."""
    move: bytes
    again: bool
    entered: bool
    begun: bool
    opponent: str | None


class BotError(OutOfStep):
    """A bot is out of step, or has lost its connection."""

    def __init__(self, bot: "Bot", what: str) -> None:
        super().__init__(f"{bot} {what}")
        self.bot = bot


class Readings:
    """The known chunks for one kind of bot."""

    def __init__(self, kind: str, script: Script) -> None:
        self.kind = kind
        self.script = script
        self._known: dict[Place, Known] = {}

    def known(self, place: Place) -> Known:
        """Return the dict of known chunks for a place. `remember` adds to it."""
        return self._known.setdefault(place, {})

    def read(self, place: Place, data: bytes, name: str) -> tuple[Reading, bytes]:
        """Interpret `data` for the bot called `name`; return its effect, and any incomplete last message.

        Raises OutOfStep.
        """
        cut = self.script.cut(data)
        steps: list[Step] = []
        here = place
        for message in cut.messages:
            step = self.script.advance(here, message, name)
            if step is None:
                raise OutOfStep(f"was told {shown(message)} when it was {here}")
            steps.append(step)
            here = step.place
        reading = Reading(
            place=here,
            known=self.known(here),
            told=sum(step.told for step in steps),
            outcome=next((step.outcome for step in steps if step.outcome), None),
            answer=cut.answer,
            move=b"".join(step.move for step in steps),
            again=any(step.again for step in steps),
            entered=any(step.entered for step in steps),
            begun=any(step.begun for step in steps),
            opponent=next((step.opponent for step in reversed(steps) if step.opponent), None),
        )
        # The last move of a game and the first of the next can come together.
        if reading.told > 1 + (reading.outcome is not None):
            raise OutOfStep(f"was told of two moves at once when it was {place}")
        return reading, cut.rest

    def remember(self, place: Place, data: bytes, reading: Reading) -> None:
        """Remember the effect of a chunk on any bot in this place."""
        known = self.known(place)
        if len(known) < _MOST_KNOWN:
            known[self.script.key(data)] = reading


class Bot(ABC):
    """A bot. It has a socket between `connect` and `close`."""

    def __init__(self, readings: Readings, wish: Wish, address: Address) -> None:
        self.readings = readings
        self.wish = wish
        self.place = readings.script.start
        self.has_played = False
        """Whether a game has ended on this connection."""
        self._address = address
        self._key = readings.script.key
        self._known: Known = {}
        self._rest = b""
        self._unsent = b""
        self._handshake: Handshake | None = None
        self._socket: socket.socket

    def __str__(self) -> str:
        return f"{self.readings.kind} bot {self.wish.name}"

    @abstractmethod
    def take(self, reading: Reading, before: Place) -> None:
        """React to received bytes. `before` is the bot's place before it received them."""

    def come_back(self) -> None:
        """React when the server hangs up after a series. By default, raises OutOfStep."""
        raise self.wrong("was hung up on between two games")

    def connect(self) -> int:
        """Begin to connect; return the socket's file descriptor. Raises OutOfStep.

        `push` sends the first message when the connection is established.
        """
        address, script = self._address, self.readings.script
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
        self._known = self.readings.known(self.place)
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
        """Send the bytes that are still unsent; return whether all have been sent. Raises OutOfStep."""
        try:
            self._unsent = self._unsent[self._send(self._unsent) :]
        except (BlockingIOError, BrokenPipeError):  # some systems raise BrokenPipeError while connecting
            return False
        except OSError as error:
            raise self.wrong(f"cannot connect: {error.strerror}") from None
        return not self._unsent

    def say(self, data: bytes) -> None:
        """Send all of `data` at once. Raises OutOfStep if the system does not accept all of it."""
        try:
            if self._send(data) == len(data):
                return
        except BlockingIOError:
            pass
        except OSError as error:
            raise self.wrong(f"cannot send: {error.strerror}") from None
        raise self.wrong("cannot send: the server has stopped reading")

    def ready(self) -> None:
        """Receive the bytes that have arrived, and react to them. Raises OutOfStep."""
        try:
            data = self._receive(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        reading = self._known.get(self._key(data))
        if reading is None or self._rest:
            reading = self._read(data)
            if reading is None:
                return
        before, self.place = self.place, reading.place
        self._known = reading.known
        if reading.answer:
            self.say(reading.answer)
        self.take(reading, before)

    def wrong(self, what: str) -> BotError:
        """Return an error about this bot, for the caller to raise."""
        return BotError(self, what)

    def _read(self, data: bytes) -> Reading | None:
        """Interpret bytes that are not a known chunk; return None if there is nothing to react to."""
        script = self.readings.script
        if not data:
            if self._handshake is not None:
                raise self.wrong("was hung up on in the handshake")
            if not (script.may_hang_up and self.has_played and self.place.phase is Phase.WAITING):
                raise self.wrong(f"was hung up on when it was {self.place}")
            self.come_back()
            return None
        rest = self._rest
        data = rest + data
        if self._handshake is not None:
            head, end, rest = data.partition(_HEAD_END)
            if not end:
                self._rest = data
                return None
            try:
                self._handshake.accept(head)
            except FrameError as error:
                raise self.wrong(f"cannot connect: {error}") from None
            self._handshake, self._rest, data = None, b"", rest
            self.say(script.opening(self.wish))
            if not data:
                return None
        try:
            reading, self._rest = self.readings.read(self.place, data, self.wish.name)
        except OutOfStep as error:
            raise self.wrong(str(error)) from None
        # Do not remember a chunk that contains the opponent's name or an incomplete message.
        if reading.opponent is None and not (rest or self._rest):
            self.readings.remember(self.place, data, reading)
        return reading


B = TypeVar("B", bound=Bot)


class BotLoop(Generic[B]):
    """The event loop of many bots. It serves readable sockets, delayed calls and bots that still connect.

    Two looks at the sockets are at most `NAP` seconds apart, plus the time that the work takes. The arrival
    time of a message is known with this accuracy.
    """

    def __init__(self) -> None:
        self.looked_before = perf_counter()
        """The time of the previous look at all sockets. The data that the latest look found arrived later."""
        self._poll = select.epoll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._numbers: dict[B, int] = {}
        self._connecting: list[B] = []
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._looked = perf_counter()

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def is_waiting_for_connections(self) -> bool:
        """Whether some bots have not sent their first message yet."""
        return bool(self._connecting)

    def lose(self, error: BotError) -> None:
        """Raise the error of a bot or of its server. A subclass may handle the error instead."""
        raise error

    def watch(self, number: int, ready: Callable[[], None]) -> None:
        """Call `ready` whenever a file descriptor is readable."""
        self._readers[number] = ready
        self._poll.register(number, select.EPOLLIN)

    def add(self, bot: B) -> None:
        """Connect a bot. Raises OutOfStep."""
        number = bot.connect()
        self._numbers[bot] = number
        self.watch(number, bot.ready)
        self._connecting.append(bot)

    def remove(self, bot: B) -> None:
        """Close a bot's connection, unless it is closed already."""
        number = self._numbers.pop(bot, None)
        if number is not None:
            self._poll.unregister(number)
            del self._readers[number]
            bot.close()

    def close(self, bots: Iterable[B] | None = None) -> None:
        """Close the connections of `bots`, or of all bots if it is None."""
        for bot in list(self._numbers if bots is None else bots):
            self.remove(bot)

    def at(self, when: float, what: Callable[[], None]) -> None:
        """Call `what` when `perf_counter` reaches `when`."""
        heappush(self._later, (when, next(self._order), what))

    def hurry(self) -> None:
        """Make all delayed calls at once."""
        self._do(float("inf"))

    def run(self, is_over: Callable[[], bool], limit: float) -> None:
        """Run all bots until `is_over` returns True. Raises OutOfStep after `limit` seconds of silence."""
        end = perf_counter() + limit
        while not is_over():
            if self.turn():
                end = perf_counter() + limit
            elif perf_counter() > end:
                raise OutOfStep(f"{len(self)} bots have received nothing for {limit:g} s")

    def run_for(self, seconds: float) -> None:
        """Run all bots for `seconds`. Raises OutOfStep."""
        end = perf_counter() + seconds
        while perf_counter() < end:
            self.turn()

    def turn(self, longest: float = NAP) -> bool:
        """Make the calls that are due, look at the sockets once, and handle what has arrived.

        Returns whether anything was readable. Raises OutOfStep.
        """
        if self._connecting:
            connecting, self._connecting = self._connecting, []
            for bot in connecting:
                try:
                    if bot in self._numbers and not bot.push():
                        self._connecting.append(bot)
                except BotError as error:
                    self.lose(error)
        now = perf_counter()
        if self._later:
            self._do(now)
            if self._later:
                longest = max(0.0, min(longest, self._later[0][0] - now))
        found = self._poll.poll(longest)
        self.looked_before = self._looked
        if len(found) < _MOST_FOUND:
            self._looked = perf_counter()
        readers = self._readers
        for number, _ in found:
            if number in readers:  # another bot may have just removed this one
                try:
                    readers[number]()
                except BotError as error:
                    self.lose(error)
        return bool(found)

    def _do(self, now: float) -> None:
        while self._later and self._later[0][0] <= now:
            try:
                heappop(self._later)[2]()
            except BotError as error:
                self.lose(error)


def renamed_table(table: str | None) -> str:
    """Return the table for a bot's next series, after the server has hung up on it at `table`."""
    name, _, series = (table or "").partition("-")
    return f"{name}-{int(series or 0) + 1}"


def couple(name: str, *, at_table: bool) -> tuple[Wish, Wish]:
    """Return the wishes of two bots that want to meet: at a table of their own, or each other by name."""
    one, two = f"{name}a", f"{name}b"
    if at_table:
        return Wish(one, table=name), Wish(two, table=name)
    return Wish(one, against=two), Wish(two, against=one)


def readings_of(
    kinds: Iterable[str], game: Sequence[object] = (), *, timed: bool = False
) -> dict[str, Readings]:
    """Return the `Readings` for each kind of bot. A dialect's name stands for its default kind."""
    return {kind: Readings(kind, script_of(PLAIN.get(kind, kind), *game, timed=timed)) for kind in kinds}
