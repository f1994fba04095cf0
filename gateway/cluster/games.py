"""Series between players of two nodes, and the frames that the nodes exchange during these series.

Knows the hub and encodings; does not know how frames are sent. A frame from another node is checked as
strictly as a client's text: an invalid one raises `EncodingError`.
"""

# A frame is a letter, the turn of the seat on the player's node, and a payload. The player's node is the one
# that does not hold the game. Most frames are moves and requests to move. To keep them short, the player's
# node has a board of its own, and gets only columns.
#
# from the node that holds the game | payload
# --------------------------------- | ---------------------------------------------------------------------
# `m` moves                         | columns since the last `m`; the player gets an event for the last column
# `t` request to move               | its number, seconds left on the clock or `-`
# `e` any other event               | in the form of `gateway.game.encoding`
# `q` probe the client              | nothing
#
# to that node                      | payload; *used*: seconds since the request; number 0: no open request
# --------------------------------- | ---------------------------------------------------------------------
# `p` move                          | column, `to`, number of the request, used
# `c` any other command             | number of the request, used, the form of `gateway.game.encoding`
# `f` the time is up                | number of the request, used
# `d` no further game               | nothing
# `w` the connection broke          | seconds for which the player's node keeps the seat
# `b` the player has come back      | 1 if it was told of the current game, else 0; the game's id, or nothing
# `a` the client answered a probe   | nothing
#
# A client that has come back to a seat on another node exchanges the same frames with that node, for as long
# as it is connected. Its seat has the turn 0 in them, which no wait has.

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import TypeAlias

from gateway.game.board import COLUMNS, Board
from gateway.game.commands import Command, Leave, Play
from gateway.game.encoding import EncodingError, decode_command, decode_event, encode
from gateway.game.events import Dismissed, Ended, Event, Moved, Resumed, Started, ToMove, Why
from gateway.game.ids import GameId
from gateway.game.results import Results
from gateway.hub.hub import Hub
from gateway.hub.seats import Hosted, Hosting, Seat
from gateway.matchmaking.matchmaker import Returning

ITS_OWN = frozenset({Why.SERIES_OVER, Why.TIME, Why.FORFEIT, Why.REFUSED, Why.LEFT})
"""Reasons for which the player is disconnected. For any other reason it stays connected to its own node."""

AT_ONCE = 8
"""The most series with lost nodes that one call ends, in about 2 ms."""

Send: TypeAlias = Callable[[bytes], None]
"""Sends a frame to one node."""


_Key: TypeAlias = tuple[str, bytes]
"""The name of a node, and the turn that identifies a series in frames."""


@dataclass(eq=False, slots=True)
class _RemotePlayer:
    """The mailbox of a player of another node, during a series on this node; or of a seat of this node whose
    client is connected to another node."""

    name: bytes
    send: Send
    forget: Callable[[], object]
    results: Results
    is_relay: bool = False
    """Whether the seat is this node's, and only the client is connected to another node."""
    request: ToMove | None = None
    """The latest request to move."""
    sent: int = 0
    """The number of moves of this game that were sent to the player's node."""
    is_reachable: bool = True
    held: list[Event] | None = None
    """Events that wait for a result to be stored; None if nothing waits."""
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
                self.send(b"t %s %d %s" % (self.name, number, b"-" if rest is None else b"%r" % rest))
            case _:
                if isinstance(event, Started):
                    self.sent, self.request = 0, None
                if isinstance(event, Resumed):
                    self.sent, self.request = len(event.board.moves), None
                if isinstance(event, Dismissed):
                    self.forget()
                    is_its_own = event.why in ITS_OWN or self.is_relay
                    event = event if is_its_own else Dismissed(Why.RETURNED)
                self.send(b"e %s %s" % (self.name, encode(event)))

    def resume(self) -> None:
        """Do nothing: frames of other nodes are never held back."""

    def probe(self) -> None:
        """Let the node of the client probe it, if the seat is this node's."""
        if self.is_relay:
            self.send(b"q %s " % self.name)

    def move_to(self, seat: Seat) -> None:
        """Use `seat` from now on."""
        self.seat = seat

    def conclude(self, ended: Ended, *, is_last: bool) -> None:
        """Do nothing: the other node has forgotten the client."""

    async def settle(self) -> None:
        """Return at once: the player's node reads the client's socket before it reports that time is up.

        The clock of a request that was open while the player was away runs on this node. There a move that
        was on its way from the other node may come too late.
        """


@dataclass(eq=False, slots=True)
class _RemoteGame:
    """A game on another node in which a player of this node plays."""

    name: bytes
    send: Send
    forget: Callable[[], object]
    seat: Seat
    game: str = ""
    board: Board = field(default_factory=Board)

    def submit(self, command: Command, request: int, used: float) -> None:
        if isinstance(command, Leave):
            self.send(b"c %s %d %r %s" % (self.name, request, used, encode(command)))
            self.forget()
            self.send = _nowhere
        elif isinstance(command, Play) and command.column is not None and 0 <= command.column < COLUMNS:
            self.send(b"p %s %d %d %d %r" % (self.name, command.column, command.to, request, used))
        else:
            self.send(b"c %s %d %r %s" % (self.name, request, used, encode(command)))

    def flag(self, request: int, used: float) -> None:
        self.send(b"f %s %d %r" % (self.name, request, used))

    def away(self, grace: float) -> None:
        self.send(b"w %s %r" % (self.name, grace))

    def back(self, game: GameId, *, is_told: bool, resumes: bool) -> None:
        self.send(b"b %s %d %d %s" % (self.name, is_told, resumes, game.encode()))

    def alive(self) -> None:
        self.send(b"a %s " % self.name)

    def leave(self, *, is_broken: bool = False) -> None:
        self.submit(Leave(is_broken), 0, 0.0)

    def end_series(self) -> None:
        """Ask the other node to begin no further game."""
        self.send(b"d %s " % self.name)

    def event(self, kind: bytes, payload: bytes) -> Event:
        """Return the event of a frame. Raises ValueError."""
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
                elif isinstance(event, Resumed):
                    self.game, self.board = event.game, event.board
                return event
        raise ValueError("no frame of this version")


class Games:
    """All series between this node and others."""

    def __init__(self, hub: Hub, send: Callable[[str, bytes], None]) -> None:
        """`send(node, frame)` sends a frame to a node."""
        self._hub = hub
        self._send = send
        self._players: dict[_Key, _RemotePlayer] = {}
        """Players of other nodes in series on this node, by their turns on their own nodes; and clients of
        other nodes with seats on this node, with the turn 0."""
        self._games: dict[_Key, _RemoteGame] = {}
        """Games of this node's players on other nodes, by the turns of the players' seats."""
        self._lost: dict[_RemotePlayer | _RemoteGame, None] = {}
        """Series with lost nodes that are still to be ended, a few at a time since there may be thousands."""
        self._is_draining = False

    @property
    def is_empty(self) -> bool:
        """Whether there is no series with another node."""
        return not self._players and not self._games and not self._lost

    @property
    def is_hosting(self) -> bool:
        """Whether any series on this node has a player of another node. Such players may wait for results."""
        return bool(self._players)

    def open_seat(self, match: Hosting, now: float) -> Seat:
        """Open a seat in the hub for a player of another node, for one series, and return it."""
        node, name = key = match.node, b"%d.%d" % match.other
        send, forget = partial(self._send, node), partial(self._players.pop, key, None)
        player = self._players[key] = _RemotePlayer(name, send, forget, self._hub.results)
        player.seat = self._hub.open(player, match.player.manners, now, match.origin)
        return player.seat

    def play_elsewhere(self, seat: Seat, match: Hosted) -> _RemoteGame:
        """Return the game on another node that the player of `seat` plays from now on."""
        node, name = key = match.node, b"%d.%d" % match.turn
        send, forget = partial(self._send, node), partial(self._games.pop, key, None)
        game = self._games[key] = _RemoteGame(name, send, forget, seat)
        if self._is_draining:
            game.end_series()
        return game

    def send_to(self, node: str, returning: Returning, now: float) -> None:
        """Give a kept seat back to its player, whose new connection is to `node`."""
        name = b"%d.0" % returning.seat
        send, forget = partial(self._send, node), partial(self._players.pop, (node, name), None)
        player = _RemotePlayer(name, send, forget, self._hub.results, is_relay=True)
        self._players[node, name] = player
        self._hub.give_back(returning, player, now)

    def receive_from(self, node: str, seat: Seat, now: float) -> None:
        """Connect the client of a seat with its kept seat on `node`."""
        name = b"%d.0" % seat.number
        send, forget = partial(self._send, node), partial(self._games.pop, (node, name), None)
        game = self._games[node, name] = _RemoteGame(name, send, forget, seat)
        self._hub.relay_to(seat, game)

    def decline(self, node: str, seat: int) -> None:
        """Tell `node` that the client to which it gave a kept seat has left."""
        self._send(node, b"c %d.0 0 0.0 %s" % (seat, encode(Leave(is_broken=True))))

    def drain(self) -> None:
        """End all series of this node's players on other nodes after their current games."""
        self._is_draining = True
        for game in self._games.values():
            game.end_series()

    def receive(self, node: str, frame: bytes, now: float) -> None:
        """Carry out a frame of another node; ignore it if its series is over. Raises EncodingError.

        Events for players are sent when the hub settles.
        """
        try:
            kind, name, payload = frame.split(b" ", 2)
            if kind in b"mteq" and (game := self._games.get((node, name))) is not None:
                if kind == b"q":
                    game.seat.mailbox.probe()
                    return
                event = game.event(kind, payload)
                if isinstance(event, Dismissed):
                    game.forget()
                self._hub.relay(game.seat, event, now)
            elif kind in b"pcfdwba" and (player := self._players.get((node, name))) is not None:
                self._obey(player, kind, payload, now)
        except ValueError as error:
            raise EncodingError(str(error)) from error

    def _obey(self, player: _RemotePlayer, kind: bytes, payload: bytes, now: float) -> None:
        """Carry out a frame about a player of another node. Raises ValueError."""
        command: Command | None = None
        match kind:
            case b"p":
                column, to, number, used = payload.split(b" ")
                command = Play(_columns(column)[0], int(to))
            case b"c":
                number, used, data = payload.split(b" ", 2)
                command = decode_command(data)
            case b"f":
                number, used = payload.split(b" ")
            case b"d":
                self._hub.end_series(player.seat, now)
                return
            case b"w":
                self._hub.away(player.seat, _seconds(payload), now)
                return
            case b"b":
                told, resumes, game = payload.split(b" ")
                self._hub.back(
                    player.seat, game.decode("ascii"), now, is_told=told == b"1", resumes=resumes == b"1"
                )
                return
            case b"a":
                self._hub.alive(player.seat, now)
                return
            case _:
                raise ValueError("no frame of this version")
        request, since = player.request, now - _seconds(used)
        is_open = request is not None and request.number == int(number)
        if request is not None and is_open:
            self._hub.handed(player.seat, request, since)
        if command is not None:
            if isinstance(command, Leave):
                player.forget()
                player.send = _nowhere
            self._hub.submit(player.seat, command, now)
        elif is_open:
            self._hub.flag(player.seat, now)

    def lose(self, node: str) -> None:
        """Stop all exchange with a lost node. `end_lost` later ends the series with it."""
        games: dict[_Key, _RemotePlayer] | dict[_Key, _RemoteGame]
        for games in (self._players, self._games):
            for key in [key for key in games if key[0] == node]:
                game = games.pop(key)
                game.send, game.forget = _nowhere, partial(self._lost.pop, game, None)
                self._lost[game] = None

    def end_lost(self, now: float) -> bool:
        """End a few series with lost nodes; return whether there are more."""
        for _ in range(min(AT_ONCE, len(self._lost))):
            game, _ = self._lost.popitem()
            if isinstance(game, _RemotePlayer) and game.is_relay:
                self._hub.submit(game.seat, Leave(is_broken=True), now)
            else:
                self._hub.lose(game.seat, now)
        return bool(self._lost)


def _nowhere(_: bytes) -> None:
    """Send nothing."""


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
