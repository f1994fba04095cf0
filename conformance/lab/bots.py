"""Fast bots: scripted clients on sockets that never block, thousands of them in one process.

Bots play the same games over and over, so the same bytes come again and again. What they mean is read once
and then looked up in a dict. What a bot does about them is for the subclasses of `Bot`.
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

KINDS = {kind: (dialect.name, make) for dialect in DIALECTS.values() for kind, make in dialect.bots.items()}
"""Of each kind of bot its dialect, and what makes its script."""
PLAIN = {name: next(iter(dialect.bots)) for name, dialect in DIALECTS.items()}
"""The kind of bot that is meant by a dialect alone."""
NAP = 0.01
"""Seconds that one look at the sockets waits at most."""
_CHUNK = 4096
_HEAD_END = b"\r\n\r\n"
_SHOWN = 200
_MOST_KNOWN = 2000
"""Chunks that are remembered in one place, so that new ones do not fill the memory."""
_MOST_FOUND = 1000
"""A look that finds so many sockets may have left some out."""


def script_of(kind: str, *game: object, timed: bool = False) -> Script:
    """Return what a kind of bot hears and answers. Raises KeyError."""
    return KINDS[kind][1](*game, timed=timed)


def shown(message: bytes) -> str:
    """Return a message in quotes, cut where it is long."""
    text = repr(message)[1:]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


Known = dict[bytes, "Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a chunk of bytes does to a bot."""

    place: Place
    known: Known
    """The chunks that are known in that place."""
    told: int
    """How many moves of the opponent it has: 2 where one game ends and the next begins."""
    outcome: Outcome | None
    answer: bytes
    """The bytes to send at once, such as answers to pings."""
    move: bytes
    again: bool
    entered: bool
    begun: bool
    opponent: str | None


class BotError(OutOfStep):
    """A bot is out of step, or lost its connection."""

    def __init__(self, bot: "Bot", what: str) -> None:
        super().__init__(f"{bot} {what}")
        self.bot = bot


class Readings:
    """The known chunks that one kind of bot receives."""

    def __init__(self, kind: str, script: Script) -> None:
        self.kind = kind
        self.script = script
        self._known: dict[Place, Known] = {}

    def known(self, place: Place) -> Known:
        """Return what is known in a place, which grows."""
        return self._known.setdefault(place, {})

    def read(self, place: Place, data: bytes, name: str) -> tuple[Reading, bytes]:
        """Return what `data` does to the bot of this name, and the message it leaves unfinished.

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
        """Remember what a chunk does to any bot in this place."""
        known = self.known(place)
        if len(known) < _MOST_KNOWN:
            known[self.script.key(data)] = reading


class Bot(ABC):
    """A bot. Its socket is there between `connect` and `close`."""

    def __init__(self, readings: Readings, wish: Wish, address: Address) -> None:
        self.readings = readings
        self.wish = wish
        self.place = readings.script.start
        self.has_played = False
        """Whether a game of this connection has ended."""
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
        """Do what follows from what was received. `before` is where the bot was until then."""

    def come_back(self) -> None:
        """Do what follows where the server hung up after a series, as it may. Raises OutOfStep."""
        raise self.wrong("was hung up on between two games")

    def connect(self) -> int:
        """Begin to connect; return the socket's number. Raises OutOfStep.

        What is to be said first leaves with `push`, once there is a connection.
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
        """Send what could not leave before; return whether all has left. Raises OutOfStep."""
        try:
            self._unsent = self._unsent[self._send(self._unsent) :]
        except (BlockingIOError, BrokenPipeError):  # the latter: not connected yet, on some systems
            return False
        except OSError as error:
            raise self.wrong(f"cannot connect: {error.strerror}") from None
        return not self._unsent

    def say(self, data: bytes) -> None:
        """Send all of `data` at once. Raises OutOfStep where the system does not take it."""
        try:
            if self._send(data) == len(data):
                return
        except BlockingIOError:
            pass
        except OSError as error:
            raise self.wrong(f"cannot send: {error.strerror}") from None
        raise self.wrong("cannot send: the server has stopped reading")

    def ready(self) -> None:
        """Receive what has arrived, and do what follows. Raises OutOfStep."""
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
        """Return what to raise."""
        return BotError(self, what)

    def _read(self, data: bytes) -> Reading | None:
        """Read what is not known yet by the script; None where nothing follows from it."""
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
        # A name is this bot's affair, and a torn message is not worth remembering.
        if reading.opponent is None and not (rest or self._rest):
            self.readings.remember(self.place, data, reading)
        return reading


B = TypeVar("B", bound=Bot)


class BotLoop(Generic[B]):
    """The loop that many bots share: which can be read, what is to be done later, which still connect.

    Between two looks at the sockets at most `NAP` seconds pass, plus what the work takes. So it is known to
    that when a message came.
    """

    def __init__(self) -> None:
        self.looked_before = perf_counter()
        """When the sockets were looked at before the latest time: what that found had not come by then."""
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
        """Whether some bots have not said their first words yet."""
        return bool(self._connecting)

    def lose(self, error: BotError) -> None:
        """Do what follows from a bot's mistake, or its server's: raise it, unless a subclass goes on."""
        raise error

    def watch(self, number: int, ready: Callable[[], None]) -> None:
        """Call `ready` when there is something to read at a file descriptor."""
        self._readers[number] = ready
        self._poll.register(number, select.EPOLLIN)

    def add(self, bot: B) -> None:
        """Connect a bot. Raises OutOfStep."""
        number = bot.connect()
        self._numbers[bot] = number
        self.watch(number, bot.ready)
        self._connecting.append(bot)

    def remove(self, bot: B) -> None:
        """Hang up, if that was not done yet."""
        number = self._numbers.pop(bot, None)
        if number is not None:
            self._poll.unregister(number)
            del self._readers[number]
            bot.close()

    def close(self, bots: Iterable[B] | None = None) -> None:
        """Hang up, all of them or some."""
        for bot in list(self._numbers if bots is None else bots):
            self.remove(bot)

    def at(self, when: float, what: Callable[[], None]) -> None:
        """Call `what` at a time of `perf_counter`."""
        heappush(self._later, (when, next(self._order), what))

    def hurry(self) -> None:
        """Call at once what was to be called later."""
        self._do(float("inf"))

    def run(self, is_over: Callable[[], bool], limit: float) -> None:
        """Run all bots until it is over. Raises OutOfStep where nothing comes for `limit` seconds."""
        end = perf_counter() + limit
        while not is_over():
            if self.turn():
                end = perf_counter() + limit
            elif perf_counter() > end:
                raise OutOfStep(f"{len(self)} bots have received nothing for {limit:g} s")

    def run_for(self, seconds: float) -> None:
        """Run all bots for so long. Raises OutOfStep."""
        end = perf_counter() + seconds
        while perf_counter() < end:
            self.turn()

    def turn(self, longest: float = NAP) -> bool:
        """Do what is due, look at the sockets once, and deal with what they bring. Raises OutOfStep.

        Returns whether there was something to read.
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
            if number in readers:  # another bot may have removed it just now
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
    """Return the table for the next series of a bot that was hung up on at this one."""
    name, _, series = (table or "").partition("-")
    return f"{name}-{int(series or 0) + 1}"


def couple(name: str, *, at_table: bool) -> tuple[Wish, Wish]:
    """Return the wishes of two who want to meet: at a table of their own, or by name."""
    one, two = f"{name}a", f"{name}b"
    if at_table:
        return Wish(one, table=name), Wish(two, table=name)
    return Wish(one, against=two), Wish(two, against=one)


def readings_of(
    kinds: Iterable[str], game: Sequence[object] = (), *, timed: bool = False
) -> dict[str, Readings]:
    """Return what is shared by the bots of each kind, or of each dialect."""
    return {kind: Readings(kind, script_of(PLAIN.get(kind, kind), *game, timed=timed)) for kind in kinds}
