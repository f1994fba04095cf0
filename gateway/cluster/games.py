"""Series between players of two nodes: what passes between the nodes while they are played.

Knows the hub of this node, and writes frames for others: bytes that arrive there once each, and in order, as
long as neither node has lost the other. Does not know how they travel. Nearly all that passes are moves and
requests to move. They are written in short: the node that does not hold the game keeps a board, and is sent
columns.

A frame is a letter, the turn of the seat of that node, and what the letter stands for. What another node
sends is read as strictly as a client's text: anything else is an `EncodingError`.

A node that is lost may leave thousands of series. Nothing passes from that moment on; they are ended a few at
a time, so that no other game has to wait for that.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import TypeAlias

from gateway.game.board import COLUMNS, Board
from gateway.game.commands import Command, Leave, Play
from gateway.game.encoding import EncodingError, decode_command, decode_event, encode
from gateway.game.events import Dismissed, Ended, Event, Moved, Started, ToMove, Why
from gateway.game.results import Results
from gateway.hub.hub import Hub
from gateway.hub.seats import Hosted, Hosting, Seat
from gateway.matchmaking.matchmaker import Turn

ITS_OWN = frozenset({Why.SERIES_OVER, Why.TIME, Why.FORFEIT, Why.REFUSED, Why.LEFT})
"""Why a player is hung up on by its own doing. For any other reason it goes on at its own node."""

AT_ONCE = 8
"""Series with a lost node that are ended together, in about 2 ms."""

Send: TypeAlias = Callable[[bytes], None]
"""Puts a frame on its way to one node."""


@dataclass(eq=False, slots=True)
class _Here:
    """A series on this node, and the mailbox of its player of another."""

    node: str
    name: bytes
    send: Send
    forget: Callable[[], object]
    results: Results
    request: ToMove | None = None
    sent: int = 0
    """How many moves of the game the player has been sent."""
    is_reachable: bool = True
    held: list[Event] | None = None
    """What waits for a result to be stored."""
    seat: Seat = field(init=False)

    def deliver(self, event: Event) -> None:
        if self.held is not None:
            self.held.append(event)
        elif isinstance(event, Ended) and self.results.is_open(event.game):
            self.held = [event]
            self.results.when_stored(event.game, self._release)
        else:
            self._write(event)

    def _release(self) -> None:
        events, self.held = self.held or [], None
        for event in events:
            self.deliver(event)

    def _write(self, event: Event) -> None:
        match event:
            case Moved(board=board):
                columns, self.sent = board.moves[self.sent :], len(board.moves)
                self.send(b"m %s %s" % (self.name, "".join(map(str, columns)).encode()))
            case ToMove(_, number, _, rest):
                self.request = event
                self.send(b"t %s %d %s" % (self.name, number, b"-" if rest is None else repr(rest).encode()))
            case _:
                if isinstance(event, Started):
                    self.sent, self.request = 0, None
                if isinstance(event, Dismissed):
                    self.forget()
                    event = event if event.why in ITS_OWN else Dismissed(Why.RETURNED)
                self.send(b"e %s %s" % (self.name, encode(event)))

    def resume(self) -> None:
        """Do nothing: what comes from another node is not held back."""

    def probe(self) -> None:
        """Do nothing: the player's own node probes it."""

    async def settle(self) -> None:
        """Return at once: the other node has read its client's socket before it says that time is up."""

    def asked(self, number: int) -> ToMove | None:
        """Return the request with that number, if it is the latest."""
        return self.request if self.request is not None and self.request.number == number else None


@dataclass(eq=False, slots=True)
class _There:
    """A series on another node, and what this one knows of it."""

    node: str
    name: bytes
    send: Send
    forget: Callable[[], object]
    seat: Seat
    game: str = ""
    board: Board = field(default_factory=Board)

    def submit(self, command: Command, request: int, used: float) -> None:
        if isinstance(command, Play) and command.column is not None and 0 <= command.column < COLUMNS:
            self.send(b"p %s %d %d %d %s" % (self.name, command.column, command.to, request, _text(used)))
        else:
            self.send(b"c %s %d %s %s" % (self.name, request, _text(used), encode(command)))

    def flag(self, request: int, used: float) -> None:
        self.send(b"f %s %d %s" % (self.name, request, _text(used)))

    def leave(self) -> None:
        self.send(b"c %s 0 0.0 %s" % (self.name, encode(Leave())))
        self.forget()

    def end_series(self) -> None:
        """Ask for no further game."""
        self.send(b"d %s " % self.name)

    def event(self, kind: bytes, payload: bytes) -> Event:
        """Return what a frame tells. Raises ValueError."""
        match kind:
            case b"m":
                *silent, column = _columns(payload)
                for each in silent:
                    self.board = self.board.drop(each)
                mover = self.board.turn
                self.board = self.board.drop(column)
                return Moved(self.game, mover, column, self.board)
            case b"t":
                number, rest = payload.split(b" ")
                return ToMove(self.game, int(number), self.board, None if rest == b"-" else _seconds(rest))
            case b"e":
                event = decode_event(payload)
                if isinstance(event, Started):
                    self.game, self.board = event.game, Board()
                return event
        raise ValueError("not a frame of a host")


class Games:
    """All series between this node and others."""

    def __init__(self, hub: Hub, send: Callable[[str, bytes], None]) -> None:
        """`send` puts a frame on its way to the node of that name."""
        self._hub = hub
        self._send = send
        self._here: dict[tuple[str, bytes], _Here] = {}
        self._there: dict[tuple[str, bytes], _There] = {}
        self._lost: dict[_Here | _There, None] = {}
        """Series with nodes that are lost."""
        self._is_draining = False

    @property
    def is_empty(self) -> bool:
        """Whether there is none."""
        return not self._here and not self._there and not self._lost

    @property
    def is_hosting(self) -> bool:
        """Whether players of other nodes are here, who may have results to wait for."""
        return bool(self._here)

    def open_seat(self, match: Hosting, now: float) -> Seat:
        """Open a seat in the hub for a player of another node, who comes for a series, and return it."""
        node, name = key = match.node, _name(match.other)
        results = self._hub.results
        here = _Here(node, name, self._way_to(node), lambda: self._here.pop(key, None), results)
        here.seat = self._hub.open(here, match.player.manners, now, match.origin)
        self._here[key] = here
        return here.seat

    def play_elsewhere(self, seat: Seat, match: Hosted) -> _There:
        """Return the way to the series that the player of `seat` has on another node from now on."""
        node, name = key = match.node, _name(match.turn)
        there = _There(node, name, self._way_to(node), lambda: self._there.pop(key, None), seat)
        self._there[key] = there
        if self._is_draining:
            there.end_series()
        return there

    def drain(self) -> None:
        """Let all series of this node's players on others be over with the games that are on."""
        self._is_draining = True
        for there in self._there.values():
            there.end_series()

    def receive(self, node: str, frame: bytes, now: float) -> None:
        """Carry out what another node says. Of a series that is over it is void. Raises EncodingError.

        What players are told leaves once the hub settles.
        """
        try:
            kind, name, payload = frame.split(b" ", 2)
            if (there := self._there.get((node, name))) is not None and kind in b"mte":
                self._hear(there, there.event(kind, payload), now)
            elif (here := self._here.get((node, name))) is not None and kind in b"pcfd":
                self._obey(here, kind, payload, now)
        except ValueError as error:
            raise EncodingError(str(error)) from error

    def lose(self, node: str) -> None:
        """Let nothing pass between this node and another any more, as the way is gone, until `end_lost`."""
        games: dict[tuple[str, bytes], _Here] | dict[tuple[str, bytes], _There]
        for games in (self._here, self._there):
            for key in [key for key in games if key[0] == node]:
                game = games.pop(key)
                game.send, game.forget = _nowhere, partial(self._lost.pop, game, None)
                self._lost[game] = None

    def end_lost(self, now: float) -> bool:
        """Let a few series with lost nodes be over; return whether there are more."""
        for _ in range(min(AT_ONCE, len(self._lost))):
            game, _ = self._lost.popitem()
            self._hub.lose(game.seat, now)
        return bool(self._lost)

    def _way_to(self, node: str) -> Send:
        return lambda frame: self._send(node, frame)

    def _hear(self, there: _There, event: Event, now: float) -> None:
        if isinstance(event, Dismissed):
            there.forget()
        self._hub.relay(there.seat, event, now)

    def _obey(self, here: _Here, kind: bytes, payload: bytes, now: float) -> None:
        command: Command
        if kind == b"d":
            self._hub.end_series(here.seat, now)
            return
        if kind == b"f":
            number, used = payload.split(b" ")
            request = here.asked(int(number))
            if request is not None:
                self._hub.handed(here.seat, request, now - _seconds(used))
                self._hub.flag(here.seat, now)
            return
        if kind == b"p":
            column, to, number, used = payload.split(b" ")
            command = Play(_columns(column)[0], int(to))
        else:
            number, used, data = payload.split(b" ", 2)
            command = decode_command(data)
        request, seconds = here.asked(int(number)), _seconds(used)
        if request is not None:
            self._hub.handed(here.seat, request, now - seconds)
        self._hub.submit(here.seat, command, now)


def _nowhere(_: bytes) -> None:
    """Send nothing."""


def _name(turn: Turn) -> bytes:
    return b"%d.%d" % turn


def _text(seconds: float) -> bytes:
    return repr(seconds).encode()


def _seconds(text: bytes) -> float:
    seconds = float(text)
    if not isfinite(seconds) or seconds < 0:
        raise ValueError("not a time")
    return seconds


def _columns(text: bytes) -> list[int]:
    columns = [each - ord("0") for each in text]
    if not columns or not all(0 <= column < COLUMNS for column in columns):
        raise ValueError("not a column")
    return columns
