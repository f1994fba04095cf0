"""Players whose connections break during a game, in many ways, and who come back.

A player knows how many discs the board may have when it comes back. It accepts no other board, and no other
colours than before.
"""

import ctypes
import fcntl
import socket
import struct
import termios
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from time import monotonic

import trio

from conformance.dialects.frames import frame
from conformance.dialects.script import WAITING, Closed, Game, OutOfStep, Phase, Place, Script, Wish
from conformance.frames import Opcode
from conformance.lab.bots import shown
from conformance.lab.client import Client, HungUp
from conformance.lab.servers import Gateway
from conformance.lab.survive.players import VAGUE, Player

REPLAYING = VAGUE
"""Dialects that cannot show a board. If a player of such a dialect comes back, its game is played again."""
BEGINS = {"nac4": b"newgame ", "arena": b'"type":"state"', "droidcon": b"NEW_GAME"}
"""In each dialect, a part of the message with which a player gets into a game."""
REFUSES = {"nac4": b"not-connected", "arena": b'"type":"ignored"', "droidcon": b"Error"}
ELSEWHERE = ("127.0.0.2", "127.0.0.3")
"""Addresses of strangers, and of players that come back with a token."""
LETTING_IN = 8.0
"""Seconds within which a player that comes back must get its seat, or be refused."""
AGAIN = 0.5
"""Seconds before a player that was refused asks again."""
TELLING = 2.0
"""Seconds within which the opponent is told the end of a game, which has to be stored first."""
LEAVING = 0.1
"""Seconds within which all nodes notice that a client has left."""
PAUSE = 0.03
"""The longest time for a move, in seconds."""
_FAREWELLS, _OTHER_CODES = (b"", b"\x03\xe8"), (b"\x03\xe9", b"\x03\xf3", b"\x0f\xa0")
"""Payloads of close frames: with no code or 1000, and with 1001, 1011 or 4000."""
_NO_PACKET = struct.pack("HBBI", 0x06, 0, 0, 0)
"""A classic BPF program of one instruction, which drops each packet."""
_ATTACH_FILTER, _TCP_REPAIR = 26, 19


@dataclass(eq=False, slots=True)
class Break:
    """The break of a player's connection in a game."""

    kind: str
    way: str
    game: int
    """The number of the game in its course, from 0."""
    discs: int
    """How many discs the board has at least when the connection breaks."""
    delay: float
    """Seconds until the player comes back."""
    is_lost: bool
    """Whether the player has to lose the game."""
    since: float | None = None
    """When the connection broke; None: not yet."""
    may_be_over: bool = False
    """Whether the game may end while the player is away."""
    back: float | None = None
    """The seconds from then until the player had its seat again."""
    asked: float = 0.0
    """The part of `back` since the player first asked for its seat."""


class Connection(Client):
    """A connection on which a player asks to enter, or plays."""

    def __init__(self, stream: trio.SocketStream, script: Script) -> None:
        super().__init__(stream)
        self.socket = stream.socket
        self._script = script
        self._unread = b""

    async def enter_as(self, wish: Wish, host: str) -> None:
        """Ask to enter. Raises HungUp."""
        resource = self._script.resource(wish)
        if resource is not None:
            self._unread = await self.shake(host, resource)
        await self.say(self._script.opening(wish))

    async def hear(self) -> Sequence[bytes]:
        """Return the next messages; answer pings. Raises HungUp, Closed, OutOfStep."""
        while True:
            cut = self._script.cut(self._unread)
            self._unread = cut.rest
            if cut.answer:
                with suppress(HungUp):
                    await self.say(cut.answer)
            if cut.messages:
                return cut.messages
            data = await self.heard()
            self._unread += data

    async def break_off(self, way: str, code: bytes) -> None:
        """Break, in one of the ways in `connections.KINDS`. `code`: the payload of a close frame."""
        sock = self.socket
        match way:
            case "silent":
                # What was sent has to arrive first: a system that sends it again would not be silent.
                with trio.move_on_after(1):
                    while any(fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4))):  # noqa: ASYNC110
                        await trio.sleep(0.001)
                program = ctypes.create_string_buffer(_NO_PACKET)
                where = struct.pack("HL", 1, ctypes.addressof(program))
                sock.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, where)
                return
            case "close":
                with suppress(HungUp):
                    await self.say(frame(code, Opcode.CLOSE))
                return  # if the socket were closed now, it might send a reset before the frame is read
            case "rebooted":
                sock.setsockopt(socket.IPPROTO_TCP, _TCP_REPAIR, 1)
            case "reset":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            case _:
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_WR)
        sock.close()


def can_be_unnoticed() -> bool:
    """Whether this process may break a connection without a packet, which requires CAP_NET_ADMIN."""
    with socket.socket() as sock:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, _TCP_REPAIR, 1)
        except OSError:
            return False
    return True


@dataclass(eq=False, slots=True)
class Request:
    """A request for a seat, on one or more connections."""

    connections: int
    is_open: bool = True
    """Whether one connection may still get the seat."""
    answered: trio.Event = field(default_factory=trio.Event)
    """Set when one connection has the seat, or all are refused."""
    granted: Connection | None = None
    """The connection that has the seat."""
    heard: list[bytes] = field(default_factory=list)
    """What was received on that connection."""
    refusals: list[str] = field(default_factory=list)

    def grant(self, connection: Connection, heard: list[bytes]) -> bool:
        """Record that a connection has got a seat; return whether it is the one that may have it."""
        if self.is_open:
            self.is_open, self.granted, self.heard = False, connection, heard
            self.answered.set()
        return self.granted is connection

    def refuse(self, why: str) -> None:
        """Record that a connection was refused."""
        self.refusals.append(why)
        if len(self.refusals) == self.connections:
            self.answered.set()


class Pair:
    """Two players that play a few games, and what went wrong."""

    def __init__(self, name: str, nodes: Sequence[Gateway], games: Sequence[Game], lot: Random) -> None:
        self.name = name
        self.nodes = nodes
        self.games = games
        self.lot = lot
        self.players: tuple[ReturningPlayer, ReturningPlayer]
        self.taken: list[str] = []
        """Descriptions of seats that somebody else got."""
        self.refused: list[str] = []
        self.sockets: list[trio.socket.SocketType] = []
        self.asking: dict[trio.CancelScope, Request] = {}
        """The connections that ask for a seat. Cancel a scope to hang up."""
        self.nursery: trio.Nursery

    def __str__(self) -> str:
        breaks = {
            player: ", ".join(f"{each.kind}/{each.way}" for each in player.breaks) for player in self.players
        }
        return " and ".join(f"{player} ({words or 'no breaks'})" for player, words in breaks.items())

    async def send_away(self) -> None:
        """Hang up on connections that must not get a seat. After the game the server might let them play."""
        late = [scope for scope, request in self.asking.items() if not request.is_open]
        for scope in late:
            scope.cancel()
        if late:
            await trio.sleep(LEAVING)


class ReturningPlayer(Player):
    """A player whose connections break, and who comes back."""

    partner: "ReturningPlayer"

    def __init__(self, dialect: str, wish: Wish, partner: str, pair: Pair) -> None:
        super().__init__(dialect, wish, partner, pair.games, pair.lot.choice(pair.nodes))
        self.games = pair.games
        self.breaks: list[Break] = []
        self.is_away = False
        self.is_lost = False
        """Whether the player has to lose the current game."""
        self._is_over = False
        """Whether a game ended while the partner was away. Then the two play no further game."""
        self._pair = pair
        self._lot = pair.lot
        self._must_break = False
        """Whether the connection has to break now, since that of the partner does."""
        self._reading = trio.CancelScope()
        self._opens: bool | None = None
        """The colour before a break or a replay, until it is known again; None if it is, or was unknown."""
        self._before: int | None = None
        """The number of discs before a break, until the number is known again."""
        self._was_sent = True
        """Whether the last of these discs had been sent, if it is the player's own."""
        self._may_cross = False
        """Whether a move may have met the end of a game that is played again, and so may be refused."""
        self._asks = dialect == "arena"
        """Whether the player asks for each game, and gets the whole board with each message."""

    # What is received.

    @property
    def is_finished(self) -> bool:
        """Whether the player expects nothing more."""
        return self.has_all or self.is_cut_off or self._is_over

    @property
    def is_replayed(self) -> bool:
        """Whether the current game may be played again because this player's connection broke in it."""
        own = (each for each in self.breaks if each.since is not None and each.game == len(self.results))
        return self.dialect in REPLAYING and not self.is_lost and any(own)

    def hear(self, message: bytes) -> bytes:
        """Handle a message; return the bytes to send. Raises OutOfStep."""
        if self.is_finished or (self._may_cross and REFUSES[self.dialect] in message):
            return b""
        if self._before is not None and self.is_playing is not self._asks:
            self._find(message, self._before)
        before, told = self._place, len(self.results)
        answer = super().hear(message)
        if len(self.results) > told:
            self._is_over = self.partner.is_away and len(self.partner.results) == told
        elif self.is_cut_off and self.partner.is_replayed:
            if self.winner:
                raise OutOfStep(f"was told {shown(message)}, a winner, of a game to be played again")
            self.is_cut_off, self.winner, self._opens, self._may_cross = False, None, before.opens, True
            self._place = Place(Phase.PLAYING) if self.dialect in REPLAYING else WAITING
            return self._script.asking(self.wish) if self._asks else b""
        if self._place.opens is not None:
            if self._opens not in (None, self._place.opens):
                raise OutOfStep(f"has another colour than before, by {shown(message)}")
            self._opens, self._may_cross = None, False
        return answer

    def _find(self, message: bytes, before: int) -> None:
        """Find the number of discs on the board that is shown after the player has come back."""
        least = before if self.partner._place.discs >= before else max(0, before - 1)
        if self.partner.is_replayed:
            counts = range(before + 2)
        else:
            counts = range(least, before + 2) if self._was_sent else range(before - 1, before)
        opens = self._place.opens if self.is_playing else self._opens
        self._before = None
        for count in counts:
            place = Place(Phase.PLAYING, opens, count - 1) if count else self._place
            if self._script.advance(place, message, self.wish.name) is not None:
                self._place = place
                return
        if not self.is_playing:
            raise OutOfStep(f"was told {shown(message)} when the board had {counts[0]} to {counts[-1]} discs")
        self._place = Place(Phase.PLAYING, opens, before)  # perhaps the partner has left

    # Playing and breaking off.

    async def live(self) -> None:
        """Play until the course is over. Raises HungUp, Closed, OutOfStep."""
        messages: Sequence[bytes] = ()
        connection = await self._enter(self.wish, self.gateway, None)
        while (broken := await self._play(connection, messages)) is not None:
            codes = _FAREWELLS if broken.kind == "farewell" else _OTHER_CODES
            await connection.break_off(broken.way, self._lot.choice(codes))
            broken.since = self.heard_at = monotonic()
            connection, messages = await self._come_back(broken, broken.since)

    async def _play(self, connection: Connection, messages: Sequence[bytes]) -> Break | None:
        """Play until the connection has to break, or the course is over, and then return None."""
        while True:
            answer = b"".join(map(self.hear, messages))
            self.heard_at = monotonic()
            if self.is_finished:
                return None
            broken = self._due(is_asked=bool(answer))
            if broken is not None:
                await self._begin_to_break(connection, broken, answer)
                return broken
            if answer:
                await trio.sleep(self._lot.uniform(0, PAUSE))
                if self._place.discs >= len(self._script.game.moves) - 2:
                    await self._pair.send_away()
                with suppress(HungUp):  # the next read notices that the server is gone
                    await connection.say(answer)
            messages = ()
            with trio.CancelScope() as self._reading:
                if self._must_break and self._due(is_asked=False) is not None:
                    self._reading.cancel()
                messages = await connection.hear()

    def _due(self, *, is_asked: bool) -> Break | None:
        """Return the break that is due now, before the player has sent anything."""
        broken = next((each for each in self.breaks if each.since is None), None)
        if broken is None or broken.game != len(self.results) or not self.is_playing:
            return None
        if not self._must_break and self._place.discs < broken.discs:
            return None
        return broken if is_asked or broken.kind != "moving" else None

    async def _begin_to_break(self, connection: Connection, broken: Break, answer: bytes) -> None:
        """Send nothing, a part or all of the answer, and record what the board may be afterwards."""
        self._must_break, self.is_away, self.is_lost = False, True, broken.is_lost
        # A Droidcon client's last line needs no line end, even if it is half a command (1.8).
        is_whole = (broken.way, self.dialect) == ("end", "droidcon") or self._lot.random() < 0.5
        size = self._lot.randrange(1, len(answer)) if answer and broken.kind == "moving" else 0
        with suppress(HungUp):
            await connection.say(answer if is_whole else answer[:size])
        if is_whole and broken.kind != "moving":
            await trio.sleep(self._lot.choice((0.0, self._lot.uniform(0, 2 * PAUSE))))
        place, self._place = self._place, self._script.start
        if self._before is None:
            # A player that is shown its own moves counts them only then.
            self._before = place.discs + (self._asks and self._script.to_move(place))
            self._was_sent = is_whole or not answer
        self._opens = place.opens if self._opens is None else self._opens
        broken.may_be_over = self._before + 1 >= len(self._script.game.moves)
        self._before = None if self.dialect in REPLAYING else self._before
        if broken.kind == "both":
            self.partner._must_break = True
            self.partner._reading.cancel()

    # Coming back.

    async def _come_back(self, broken: Break, since: float) -> tuple[Connection, Sequence[bytes]]:
        """Ask for the seat until the player has it. Return the connection, and what has arrived on it.

        Raises OutOfStep if the player should get it and does not.
        """
        if broken.kind == "stranger":
            wish = replace(self.wish, token=None)
            strangers: list[tuple[Wish, str | None]] = [(wish, ELSEWHERE[0])]
            if self.wish.token is not None:
                strangers += [(wish, None), (replace(wish, token="x" + self.wish.token), None)]
            for each, source in strangers:
                self._pair.nursery.start_soon(self._ask, each, source, Request(1, is_open=False))
        await trio.sleep(broken.delay)
        asked = monotonic()
        while True:
            request = Request(2 if broken.kind == "twice" else 1)
            for _ in range(request.connections):
                source = self._lot.choice((None, *ELSEWHERE)) if self.wish.token else None
                self._pair.nursery.start_soon(self._ask, self.wish, source, request)
            if broken.is_lost:
                await trio.sleep_forever()  # until the partner is told
            with trio.move_on_after(LETTING_IN):
                await request.answered.wait()
            if request.granted is not None:
                break
            if not broken.may_be_over:
                self._pair.refused.append(f"{self}, {broken.way}: {request.refusals or 'no answer'}")
            request.is_open = False
            await self._pair.send_away()
            if monotonic() > since + 2 * LETTING_IN:
                raise OutOfStep("did not get its seat back")
            await trio.sleep(AGAIN)
        self.heard_at = monotonic()
        broken.back, broken.asked = self.heard_at - since, self.heard_at - asked
        if broken.may_be_over:
            await trio.sleep(TELLING)
        self.is_away = False
        return request.granted, request.heard

    async def _ask(self, wish: Wish, source: str | None, request: Request) -> None:
        """Ask to enter, on a new connection to any node, until there is an answer, or `send_away`."""
        node, connection, heard = self._lot.choice(self._pair.nodes), None, list[bytes]()
        with trio.CancelScope() as scope:
            self._pair.asking[scope] = request
            try:
                connection = await self._enter(wish, node, source)
                while True:
                    messages = await connection.hear()
                    heard += messages
                    if any(BEGINS[self.dialect] in each for each in messages):
                        if request.grant(connection, heard):
                            return
                        self._pair.taken.append(f"{self}, from {source} on {node}: {shown(messages[-1])}")
                    if any(REFUSES[self.dialect] in each for each in messages):
                        raise HungUp(shown(messages[-1]))
            except (HungUp, Closed) as error:
                request.refuse(str(error))
            finally:
                del self._pair.asking[scope]
                if connection is not None and request.granted is not connection:
                    connection.socket.close()

    async def _enter(self, wish: Wish, node: Gateway, source: str | None) -> Connection:
        """Connect to a node and ask to enter. Raises HungUp."""
        address = node.addresses[self.dialect]
        try:
            stream = await trio.open_tcp_stream(address.host, address.port, local_address=source)
        except OSError as error:
            raise HungUp(f"cannot connect: {error}") from None
        self._pair.sockets.append(stream.socket)
        connection = Connection(stream, self._script)
        try:
            await connection.enter_as(wish, address.authority)
        except BaseException:
            stream.socket.close()
            raise
        return connection
