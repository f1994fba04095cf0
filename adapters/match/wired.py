"""A table with at least one bot on a wire: a hub, and a port and a process for each player.

The port identifies the player, whatever name the player gives. A player's wishes for an opponent or a table
have no effect. If a player's process ends, it is started again. A player that fails several times without a
game in between is dropped; all others go on.
"""

import math
import shlex
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import trio

from adapters.client.connection import Connection
from adapters.client.plugins import served
from adapters.dialects import DIALECTS, all_dialects
from adapters.entrance.admission import without_limits
from adapters.entrance.entrance import Entrance
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import OnePort
from adapters.entrance.preamble import Preamble
from adapters.net.epoll import Poller, polling
from adapters.net.socket import Backlogs, Socket, taken
from gateway.game.clock import Terms
from gateway.game.commands import Command, Play, Unreadable
from gateway.game.events import Reason, ToMove
from gateway.game.manners import Manners
from gateway.game.results import WITHOUT_RESULT, Finished, NoResults
from gateway.game.text import quoted
from gateway.hub.hub import Hub
from gateway.hub.seats import Mailbox, Outgoing, Seat
from gateway.match.match import PATIENCE, TRIES, Match, MatchTable
from gateway.match.worker import MARGIN
from gateway.matchmaking.matchmaker import Answer, Decision, Entry, Matchmaker, Pair, Turn
from gateway.matchmaking.matchmaker import Match as Paired
from gateway.options.server import ServerOptions, parse
from gateway.options.terminal import in_one_line
from gateway.runtime import children
from gateway.runtime.accepting import accept, room_for_connections
from gateway.runtime.processes import running
from gateway.runtime.turns import Turns
from gateway.server.app import keep_time, open_port
from gateway.server.logs import log_fault
from gateway.store.records import WORDS, record_of

HOST = "127.0.0.1"
BOT = running("adapters.bot")
CONNECTIONS = 8
"""The most connections of one player at a table, so that no player uses up the others' connections."""
NOTICE = 10.0
"""Seconds after which the match reports that a bot has not asked for a game: it may use a wrong port."""
SHOWN = 80
"""The most characters that are shown of a text that is no message."""


# The command lines that start players.


def is_command(text: str) -> bool:
    """Whether a player is a bot's command, which contains ``{port}``. All other players are engines."""
    return "{port}" in text


def command(text: str, name: str, host: str, port: int) -> list[str]:
    """Return the words of a bot's command. Raises ValueError if quotes do not match."""
    words = shlex.split(text)
    for place, value in (("{host}", host), ("{port}", str(port)), ("{name}", name)):
        words = [word.replace(place, value) for word in words]
    return words


def engine(text: str, name: str, address: str, think: float | None) -> list[str]:
    """Return the words of the c4bot command that plays an engine against a bot."""
    dialect = next(each for each in DIALECTS if not each.scheme and not each.begins)
    thinking = () if think is None else ("--think", str(think))
    return [*BOT, dialect.option, address, "--engine", text, "--name", name, "--games", "0", *thinking]


# What all tables share.


@dataclass(frozen=True, slots=True)
class Network:
    """The parts of a server that all tables share."""

    poller: Poller
    turns: Turns
    backlogs: Backlogs
    room: trio.Semaphore
    options: ServerOptions

    def open_socket(self, stream: trio.SocketStream) -> Socket:
        """Return the socket of a stream."""
        return Socket(taken(stream), self.poller, self.turns, self.backlogs)


@asynccontextmanager
async def network() -> AsyncIterator[Network]:
    """Open the shared parts for as long as the block lasts."""
    turns, options = Turns(), parse(["--db", "none", "--no-web"], all_dialects())
    trio.lowlevel.add_instrument(turns)
    try:
        async with polling(turns) as poller:
            yield Network(poller, turns, Backlogs(), room_for_connections(), options)
    finally:
        trio.lowlevel.remove_instrument(turns)


# A table.


class WireTable(MatchTable, Matchmaker, NoResults):
    """A table with two players. At least one of them is a bot on a wire.

    The table is the matchmaker of its hub, has a seat for each side of the pairing, and receives the hub's
    results. The origin of a seat is the number of its side, 0 or 1.
    """

    def __init__(self, match: Match, pairing: int, network: Network) -> None:
        super().__init__(match, pairing)
        self._network = network
        self._epoch = time.time() - trio.current_time()
        self._over = trio.Event()
        self._seats: list[int | None] = [None, None]
        """The latest seat of each side. A bot may be back before its old seat has left."""
        self._has_come = [False, False]
        """Whether each side's present process has had a seat."""
        self._turns: list[Turn | None] = [None, None]
        self._decisions: deque[Decision] = deque()
        self._series: Pair | None = None
        """The series that is on."""
        self._opener = 0
        """The side that opens the first game of the series."""
        self._number: int | None = None
        """The number of the game that is on."""
        self._late = [0, 0]
        """How many late moves each side has made in the present game."""
        self._not_played = [0, 0]
        """How many games in a row each side left, or lost before it began to play.

        These games are counted separately from the failures in `fail`, for two reasons. A process that ends
        in such a game must not count twice. A process that goes on can spoil several games without a failure.
        """
        self._games = [0, 0]
        """How many games each side has played. They include games that the opponent left, or lost before the
        opponent began to play."""
        self._absence = [trio.CancelScope(), trio.CancelScope()]
        """Cancelled when a side has had no seat for too long."""

    async def run(self) -> None:
        """Play until the pairing has no more games. Raises OSError."""
        plan = self._match.plan
        hub = Hub(Terms(clock=plan.clock, idle=plan.idle), self, self, log_fault, self._match.ids)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_time, hub)
            for side in (0, 1):
                port = await self._listen(nursery, hub, side)
                nursery.start_soon(self._keep_process, side, port)
            await self._over.wait()
            nursery.cancel_scope.cancel()

    def next_game(self) -> int | None:
        """Return the number of the next game. If there is none, end the table and return None."""
        number = super().next_game()
        if number is None:
            self._over.set()
        return number

    # The matchmaker.

    def enter(self, entry: Entry) -> None:
        """Admit every client to which the hub does not object."""
        if not entry.against:
            side = int(entry.origin)
            self._seats[side] = entry.seat
            self._has_come[side] = True
            self._absence[side].deadline = math.inf
        self._decisions.append(Decision(entry.seat, entry.against))

    def wait(self, turn: Turn, since: float) -> None:
        """Record that a seat waits for the other side."""
        if turn.seat in self._seats:
            self._turns[self._seats.index(turn.seat)] = turn

    def leave(self, seat: int) -> None:
        """Forget a seat."""
        if seat in self._seats:
            side = self._seats.index(seat)
            self._seats[side] = self._turns[side] = None
            self._absence[side].deadline = trio.current_time() + PATIENCE

    def answers(self, now: float) -> Iterator[Answer]:
        """Yield decisions, then a pair if both sides wait.

        The series of the pair consists of the next unplayed games, as long as the sides open them in turn.
        """
        while self._decisions:
            yield self._decisions.popleft()
        one, two = self._turns
        if one is None or two is None or self._series is not None or (first := self.next_game()) is None:
            return
        games = 1
        while games < len(self.unplayed) and (self.unplayed[games] - first) % 2 == games % 2:
            games += 1
        self._opener = first % 2
        self._turns = [None, None]
        self._series = Pair(one, two, games) if self._opener == 0 else Pair(two, one, games)
        yield self._series

    def began(self, match: Paired, game: int, *, is_again: bool = False) -> None:
        """Record the number of the game: the next unplayed game with this opener."""
        opener = (self._opener + game - 1) % 2
        self._number = next((each for each in self.unplayed if each % 2 == opener), None)
        self._late = [0, 0]

    def finished(self, match: Paired) -> None:
        """Allow the next series to begin."""
        if match is self._series:
            self._series = None

    # Games.

    def keep(self, finished: Finished) -> None:
        """Count a game. If counting fails, stop the match, because the hub alone would only end that game."""
        try:
            self._take_in(finished)
        except Exception as error:
            self._match.stop(error)

    def _take_in(self, finished: Finished) -> None:
        """Count a game, unless it has no result, or the loser had not begun to play."""
        number, self._number = self._number, None
        # When this task is cancelled, it closes its connections. A game that ends because of this does not
        # count.
        is_ours = trio.current_effective_deadline() == -math.inf
        if number is None or is_ours or not self.is_wanted(number):
            return
        if finished.reason in WITHOUT_RESULT:
            if finished.reason is Reason.ABORTED and finished.leaver is not None:
                side = (finished.leaver + number) % 2
                self._note_not_played(side, "left a game before both players had moved")
            return
        late = self._late if number % 2 == 0 else self._late[::-1]
        record = replace(record_of(finished, self._epoch), table=None, series=0, round=1, counted=True)
        failed = self.not_begun(number, record, late)
        if failed is not None:
            self._note_not_played(failed, f"lost a game before its first move ({WORDS[record.reason]})")
            return
        was_late = record.winner is not None and late[1 - record.winner]
        if was_late and self._match.plan.strict and record.reason is Reason.ILLEGAL:
            record = replace(record, reason=Reason.TIME)  # a late move was submitted as an invalid one
        self._games = [games + 1 for games in self._games]
        self._not_played = [0, 0]
        self.count(number, record, late)

    def _note_not_played(self, side: int, why: str) -> None:
        """Count a game that has to be played again; drop the player after too many in a row."""
        self._games[1 - side] += 1
        self._not_played[side] += 1
        if self._not_played[side] == TRIES:
            self._match.drop(self._pair[side], f"{TRIES} times in a row {why}")

    def is_too_late(self, side: int, seconds: float) -> bool:
        """Count a move that took `seconds`, if it is late; return whether it loses the game."""
        plan = self._match.plan
        # A bot has the clock of the server, and no other limit
        has_clock = is_command(self._players[side][1])
        if has_clock or plan.think is None or seconds <= plan.think + MARGIN:
            return False
        self._late[side] += 1
        self.complain(side, f"took {seconds:.2f} s for a move, with --think {plan.think:g}")
        return plan.strict

    def complain(self, side: int, what: str) -> None:
        """Report a problem with a player."""
        self._match.complain(self._pair[side], what, self._match.log(self._players[side][0]))

    # Ports and processes.

    async def _listen(self, nursery: trio.Nursery, hub: Hub, side: int) -> int:
        """Open a port for a player, and serve its clients in `nursery`; return its number. Raises OSError."""
        network, seen = self._network, PortHub(hub, self, side)
        fronts = served(all_dialects(), seen, network.options.dialects, None)
        entrance = Entrance(
            name=self._players[side][0],
            receive=OnePort.of(fronts, HttpPort()).receive,
            open_socket=network.open_socket,
            admission=without_limits(),
            preamble=Preamble(None, Counter()),
        )
        few = trio.Semaphore(CONNECTIONS)

        async def serve(stream: trio.SocketStream) -> None:
            if not few.value:
                await trio.aclose_forcefully(stream)
                return
            async with few:
                await entrance.serve(stream)

        (listener,) = await open_port(0, [HOST])
        nursery.start_soon(accept, listener, serve, nursery, network.room)
        port: int = listener.socket.getsockname()[1]
        return port

    async def _keep_process(self, side: int, port: int) -> None:
        """Start a player's process, and start it again when it ends, until it has failed too often."""
        name, text = self._players[side]
        if is_command(text):
            words = command(text, name, HOST, port)
        else:
            words = engine(text, name, f"{HOST}:{port}", self._match.plan.think)
        log = self._match.log(name)
        while self.next_game() is not None:
            since, games = children.size(log), self._games[side]
            self._has_come[side] = self._seats[side] is not None
            try:
                async with children.process(words, log) as process:
                    ending = await self._ending(process, side, port)
                if ending or games == self._games[side]:
                    ending = f"{ending or 'ended without a game'}: {children.last_words(log, since)}"
            except OSError as error:
                ending = f"cannot be started: {in_one_line(error)}"
            if ending:
                self.fail(side, ending, log)

    async def _ending(self, process: trio.Process, side: int, port: int) -> str:
        """Wait for a process's end; return what went wrong, or an empty string."""
        is_there = self._seats[side] is not None  # the bot may have come before this task runs
        until = math.inf if is_there else trio.current_time() + PATIENCE
        absence = self._absence[side] = trio.CancelScope(deadline=until)
        with absence:
            with trio.move_on_after(NOTICE):
                await process.wait()
            if process.returncode is None and not self._has_come[side] and not self._failures[side]:
                where = f"asks for no game at {HOST}:{port} yet"
                self.complain(side, f"{where}; does it go to the port that {{port}} in its command says?")
            await process.wait()
        if absence.cancelled_caught:
            return f"asked for no game within {PATIENCE:g} s"
        return children.how_it_ended(process.returncode) if process.returncode else ""


class PortHub:
    """The hub as the clients of one port see it. All these clients play on the same side."""

    def __init__(self, hub: Hub, table: WireTable, side: int) -> None:
        self.results, self.feed = hub.results, hub.feed
        self.expect: Callable[[Outgoing], None] = hub.expect
        self.alive, self.seats, self.snapshot = hub.alive, hub.seats, hub.snapshot
        self._hub = hub
        self._table = table
        self._side = side
        self._asked: tuple[Seat, float] | None = None
        """The seat that has to move, and since when."""

    def open(self, mailbox: Mailbox, manners: Manners, now: float, origin: str = "") -> Seat:
        """Return a seat for a client of this port."""
        return self._hub.open(mailbox, manners, now, str(self._side))

    def submit(self, seat: Seat, command: Command, now: float) -> bool:
        """Submit a command to the hub, and a late move that loses the game as an invalid one.

        If the client sent a text that is not a message, also report the text, which its connection still has.
        """
        if isinstance(command, Unreadable) and isinstance(seat.mailbox, Connection):
            text = seat.mailbox.unreadable[:SHOWN]
            self._table.complain(self._side, f"sent what is no message of its dialect: {quoted(text)}")
        elif isinstance(command, Play) and self._asked is not None and self._asked[0] is seat:
            since, self._asked = self._asked[1], None
            if self._table.is_too_late(self._side, now - since):
                command = Play(None, command.to)
        return self._hub.submit(seat, command, now)

    def handed(self, seat: Seat, request: ToMove, now: float) -> None:
        """Record that a request to move has left the server, and inform the hub."""
        self._asked = seat, now
        self._hub.handed(seat, request, now)
