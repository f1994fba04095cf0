"""The matchmaker of a match: two players sit at a table, each of them known by the port that it comes by.

Knows seats and origins, which here are the names of ports. Does not know which games are to be played: it
asks the table. Names that bots give, and wishes for opponents or tables, change nothing.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from gateway.game.commands import Command, Play, Unreadable
from gateway.game.events import ToMove
from gateway.game.ids import GameId
from gateway.game.manners import Manners
from gateway.game.results import Results
from gateway.hub.feed import Feed
from gateway.hub.hub import HubForPlayers
from gateway.hub.seats import Mailbox, Outgoing, Seat
from gateway.matchmaking.matchmaker import Answer, Decision, Entry, Matchmaker, Pair, Turn


class Series(NamedTuple):
    """Games that are to follow each other."""

    opener: int
    """Which side opens the first of them, 0 or 1."""
    games: int


class Table(Protocol):
    """What the matchmaker and the ports need of a table."""

    def plan(self) -> Series | None:
        """Return what is to be played now, again and again until it has begun; None for nothing."""

    def seated(self, side: int, *, there: bool) -> None:
        """Note that a player has a place, or has none any more."""

    def started(self, game: GameId, opener: int) -> None:
        """Note that a game began."""

    def moved(self, side: int, seconds: float) -> bool:
        """Note how long a player took for a move; return whether it is too late to be played."""

    def unreadable(self, side: int, text: str) -> None:
        """Note that a player sent a text that is no message of its dialect."""


class Tables(Matchmaker):
    """A `Matchmaker`."""

    def __init__(self) -> None:
        self._ports: dict[str, tuple[Table, int]] = {}
        self._seats: dict[int, str] = {}
        """The port of each seat that has entered."""
        self._latest: dict[str, int] = {}
        """The seat that entered last by each port: a bot may be back before it is known to be gone."""
        self._waiting: dict[str, Turn] = {}
        self._decisions: deque[Decision] = deque()
        self._stirred: deque[Table] = deque()

    def add(self, port: str, table: Table, side: int) -> None:
        """Let who comes by a port have a place at a table."""
        self._ports[port] = table, side

    def remove(self, port: str) -> None:
        """Pair nobody who came by a port."""
        self._ports.pop(port, None)
        self._waiting.pop(port, None)

    def find(self, seat: int) -> tuple[Table, int] | None:
        """Return where a seat is."""
        return self._ports.get(self._seats.get(seat, ""))

    # What happens.

    def enter(self, entry: Entry) -> None:
        """Let everybody in, but for what the hub objects to."""
        if not entry.against:
            self._seats[entry.seat] = entry.origin
            self._latest[entry.origin] = entry.seat
            self._note_seated(entry.origin, there=True)
        self._decisions.append(Decision(entry.seat, entry.against))

    def wait(self, turn: Turn, since: float) -> None:
        """Let a seat wait for the other one at its table."""
        port = self._seats[turn.seat]
        if port in self._ports and self._latest.get(port) == turn.seat:
            self._waiting[port] = turn
            self._stirred.append(self._ports[port][0])

    def leave(self, seat: int) -> None:
        """Forget a seat."""
        port = self._seats.pop(seat, None)
        if port is not None and self._latest.get(port) == seat:
            del self._latest[port]
            self._waiting.pop(port, None)
            self._note_seated(port, there=False)

    # What it answers.

    def answers(self, now: float) -> Iterator[Answer]:
        """Yield decisions, then pairs."""
        while self._decisions:
            yield self._decisions.popleft()
        while self._stirred:
            table = self._stirred.popleft()
            ports = sorted(
                (side, port)
                for port, (where, side) in self._ports.items()
                if where is table and port in self._waiting
            )
            series = table.plan() if len(ports) == 2 else None
            if series is not None:
                turns = [self._waiting.pop(port) for _, port in ports]
                yield Pair(turns[series.opener], turns[1 - series.opener], rounds=series.games)

    def _note_seated(self, port: str, *, there: bool) -> None:
        if port in self._ports:
            table, side = self._ports[port]
            table.seated(side, there=there)


class PortHub:
    """The hub as the clients of one port see it: all of them come from there."""

    def __init__(self, hub: HubForPlayers, port: str, table: Table, side: int) -> None:
        self._hub = hub
        self._port = port
        self._table = table
        self._side = side
        self._asked: tuple[Seat, float] | None = None
        """Whose move is asked for, and since when."""
        self.expect: Callable[[Outgoing], None] = hub.expect

    @property
    def results(self) -> Results:
        """The hub's."""
        return self._hub.results

    @property
    def feed(self) -> Feed:
        """The hub's."""
        return self._hub.feed

    def open(self, mailbox: Mailbox, manners: Manners, now: float, origin: str = "") -> Seat:
        """Return a seat for a player who has just come by this port."""
        return self._hub.open(mailbox, manners, now, self._port)

    def submit(self, seat: Seat, command: Command, now: float) -> bool:
        """Pass on a command; note one that nobody could read, which a connection's mailbox still has.

        A move that is too late is passed on as one that is none.
        """
        if isinstance(command, Unreadable):
            self._table.unreadable(self._side, str(getattr(seat.mailbox, "latest", "")))
        elif isinstance(command, Play) and self._asked is not None and self._asked[0] is seat:
            since, self._asked = self._asked[1], None
            if self._table.moved(self._side, now - since):
                command = Play(None, command.to)
        return self._hub.submit(seat, command, now)

    def handed(self, seat: Seat, request: ToMove, now: float) -> None:
        """Pass on that a request to move has left."""
        self._asked = seat, now
        self._hub.handed(seat, request, now)

    def alive(self, seat: Seat, now: float) -> None:
        """Pass on that a client has answered a probe."""
        self._hub.alive(seat, now)
