"""A hub, and clients on sockets in memory, which speak a toy dialect by lines or by websocket.

From the bytes of a client to the hub and back all code is the real one; only the system's socket is replaced.
What a test sees names no class between them: the last part of this file alone does.
"""

import random
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from ipaddress import ip_network
from math import inf
from typing import Literal, TypeAlias, cast

import trio
import trio.testing

from adapters.client.accepted import Accepted
from adapters.client.connection import Connection, Queries
from adapters.client.contract import Farewell, WireError
from adapters.entrance.admission import Admitted, admission
from adapters.entrance.entrance import Entrance
from adapters.entrance.handshake import HttpPort, PlainRequest, Websites
from adapters.entrance.one_port import Receive, receive_lines, receive_request
from adapters.entrance.preamble import Preamble
from adapters.net.socket import Backlogs, Socket
from conformance.lab.fuzz.memory import MemoryPoller, MemorySocket
from gateway.access.certificates import Certificate
from gateway.game.board import Side
from gateway.game.clock import Terms
from gateway.game.commands import AtTable, Command, Enter, Play, Unfit
from gateway.game.events import Dismissed, Ended, Event, Introduced, Objection, Refused, Spoken, ToMove
from gateway.game.ids import GameId
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished
from gateway.hub.hub import Hub
from gateway.hub.seats import Seat
from gateway.matchmaking.matchmaker import Answer
from gateway.matchmaking.standard import LobbyAndTables
from gateway.options.server import ServerOptions
from gateway.runtime.turns import Turns
from gateway.server.app import keep_time

Framing: TypeAlias = Literal["lines", "websocket"]
HERE = "192.0.2.1"
"""Where a client is unless a test says otherwise."""
PAGE = "Connect with a websocket client.\n"
"""What the websocket port says to those who ask for no websocket."""
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HANDSHAKE = (
    b"GET /?table=x HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
FULL = b"Error FULL\n"
"""What a client that writes lines hears where it is not let in."""
IDLE = 30.0
"""Seconds that a player has for a move unless a test says otherwise."""

TEXT, BINARY, CLOSE, PING, PONG = 0x81, 0x82, 0x88, 0x89, 0x8A
"""First bytes of whole frames (RFC 6455, 5.2)."""
BEGIN, GO_ON, END = 0x01, 0x00, 0x80
"""First bytes of the fragments of a text."""


def frame(kind: int, payload: bytes | str = b"", mask: bytes = b"\0\0\0\0") -> bytes:
    """Return a frame as a client sends it."""
    data = payload.encode() if isinstance(payload, str) else payload
    size = len(data)
    if size < 126:
        length = bytes((0x80 | size,))
    else:
        length = b"\xfe" + size.to_bytes(2) if size < 1 << 16 else b"\xff" + size.to_bytes(8)
    return bytes((kind,)) + length + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))


class ToyCodec:
    """Texts are messages; those with an exclamation mark are none."""

    def decode(self, text: str) -> str:
        if "!" in text:
            raise WireError
        return text

    def encode(self, message: str) -> str:
        return message.encode("utf-8", "backslashreplace").decode()


class ToyTranslator:
    """``enter NAME`` sits down at the one table, ``play N`` plays; what is told are the events' names."""

    manners = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)

    def receive(self, message: str, number: int = 0) -> Command:
        match message.split():
            case ["enter", name]:
                return Enter(AtTable("table"), name, number)
            case ["play", column]:
                return Play(int(column), number)
        return Unfit(number)

    def observe(self, event: Event, asked: str | None = None) -> Iterator[str]:
        match event:
            case Refused(objections):
                yield f"Refused {objections.name} {asked}"
            case Introduced(name):
                yield name
            case ToMove() | Dismissed():
                pass
            case _:
                yield type(event).__name__

    def farewell(self, dismissed: Dismissed) -> Farewell:
        return Farewell(1000, dismissed.why.value)


def answered(texts: Iterable[str]) -> list[str]:
    """Return which of a client's texts were refused, as its translator says at the end of each refusal."""
    return [text.split(" ", 2)[2] for text in texts if text.startswith("Refused ")]


class ClientSocket(MemorySocket):
    """The server's end of a connection; what it sends is the client's as soon as that has room for it."""

    def __init__(self, address: str, receive: Callable[[bytes], None]) -> None:
        super().__init__(address)
        self.room = inf
        """How many more bytes the server can send."""
        self.is_deaf = False
        """Whether nothing can be sent to the client any more, though what it has sent can be read."""
        self.was_cut_off = False
        """Whether the server closed it with bytes unread, which destroys what the client had not read."""
        self.vanished: float | None = None
        """Since when the client's system has acknowledged nothing."""
        self._receive = receive

    @property
    def is_writable(self) -> bool:
        return self.room > 0 or self.is_reset

    def send(self, data: bytes | bytearray) -> int:
        self.check()
        if self.is_deaf:
            raise BrokenPipeError
        size = int(min(len(data), self.room))
        if not size and data:
            raise BlockingIOError
        self.room -= size
        self._receive(bytes(data[:size]))
        return size

    def shutdown(self, how: int) -> None:
        super().shutdown(how)
        self._receive(b"")

    def close(self) -> None:
        self.was_cut_off = self.was_cut_off or bool(self.arrived)
        super().close()
        self._receive(b"")

    def getsockopt(self, level: int, option: int, size: int = 0) -> bytes:
        self.silence = 0.0 if self.vanished is None else trio.current_time() - self.vanished
        self.unanswered_probes = 0 if self.vanished is None else 1
        return super().getsockopt(level, option, size)


class Client:
    """A client, as far as its program decides what happens."""

    def __init__(self, framing: Framing, address: str) -> None:
        self.framing = framing
        self.socket = ClientSocket(address, self._receive)
        self.received = bytearray()
        """All bytes that it has got."""
        self.texts: list[str] = []
        """What it was told. A test may clear this."""
        self.packets: list[list[str]] = []
        """The same, by what arrived at once."""
        self.frames: list[tuple[int, bytes]] = []
        """The first byte and payload of each frame that is no text."""
        self.answers = True
        """Whether its program answers a ping, a close frame and the end of the stream, as libraries do."""
        self.hung_up_at: float | None = None
        """When the server ended its stream."""
        self.seat: Seat | None = None
        self._rest = bytearray()
        self._is_open = framing == "lines"

    def send(self, data: bytes) -> None:
        """Send bytes in one packet."""
        self.socket.arrives(data)

    def say(self, *texts: str) -> None:
        """Send texts in one packet."""
        by_lines = self.framing == "lines"
        self.send(b"".join(f"{text}\n".encode() if by_lines else frame(TEXT, text) for text in texts))

    def stops_reading(self, room: int = 0) -> None:
        """Take no more than `room` bytes until it reads on."""
        self.socket.room = room

    def reads_on(self) -> None:
        self.socket.room = inf
        self.socket.changed.unpark_all()

    def hangs_up(self) -> None:
        """Send no more: the end of the stream, without a close frame."""
        self.socket.ends()

    def resets(self, *, unnoticed: bool = False) -> None:
        """Break the connection; `unnoticed`, the server finds out when it writes."""
        if unnoticed:
            self.socket.is_reset = True
        else:
            self.socket.resets()

    def vanishes(self) -> None:
        """Lose its connection without a trace: neither its program nor its system answers any more."""
        self.answers, self.socket.vanished = False, trio.current_time()

    @property
    def unread(self) -> int:
        """How many bytes that it has sent still wait in the system, as the server does not read them."""
        return len(self.socket.arrived)

    @property
    def is_hung_up_on(self) -> bool:
        return self.hung_up_at is not None

    @property
    def close_frame(self) -> tuple[int, str] | None:
        """The code and reason with which its websocket was closed."""
        found = [(int.from_bytes(data[:2]), data[2:].decode()) for kind, data in self.frames if kind == CLOSE]
        return found[0] if found else None

    def is_dismissed(self, code: int, reason: str) -> bool:
        """Whether it was hung up on, and has heard why if it came by websocket."""
        return self.is_hung_up_on and self.close_frame == (
            (code, reason) if self.framing == "websocket" else None
        )

    @property
    def is_reachable(self) -> bool:
        """Whether the hub may pair it."""
        assert self.seat is not None
        return self.seat.mailbox.is_reachable

    @property
    def response(self) -> tuple[int, dict[str, str], str]:
        """Status, headers and body of the answer to its request by HTTP."""
        head, _, body = self.received.partition(b"\r\n\r\n")
        status, *lines = head.decode().split("\r\n")
        assert status.startswith("HTTP/1.1 ")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        return int(status[9:12]), headers, "" if self._is_open else body.decode()

    def _receive(self, data: bytes) -> None:
        before = len(self.texts)
        self.received += data
        self._rest += data
        if not self._is_open and b"\r\n\r\n" in self._rest:
            head, _, self._rest = self._rest.partition(b"\r\n\r\n")
            self._is_open = head.startswith(b"HTTP/1.1 101 ")
        if self._is_open:
            self._read_lines() if self.framing == "lines" else self._read_frames()
        if len(self.texts) > before:
            self.packets.append(self.texts[before:])
        if self.hung_up_at is None and (self.socket.has_ended or self.socket.is_closed):
            self.hung_up_at = trio.current_time()
            if self.answers:
                self.hangs_up()

    def _read_lines(self) -> None:
        *lines, self._rest = self._rest.split(b"\n")
        self.texts += [line.decode() for line in lines]

    def _read_frames(self) -> None:
        while len(self._rest) >= 2:
            kind, size = self._rest[:2]
            at = {126: 4, 127: 10}.get(size, 2)
            end = at + (size if at == 2 else int.from_bytes(self._rest[2:at]))
            if end > len(self._rest):
                break
            payload = bytes(self._rest[at:end])
            del self._rest[:end]
            if kind == TEXT:
                self.texts.append(payload.decode())
                continue
            self.frames.append((kind, payload))
            if self.answers and kind in (PING, CLOSE):
                self.send(frame(PONG if kind == PING else CLOSE, payload[:125]))


class Results:
    """Stores results at once, or, from `hold` on, when the test says so."""

    def __init__(self, *, takes_evidence: bool) -> None:
        self.takes_evidence = takes_evidence
        self.kept: dict[GameId, Finished] = {}
        self._held: list[Callable[[], object]] | None = None
        self._enclosed: dict[tuple[GameId, Side], list[str]] = {}

    def keep(self, finished: Finished) -> None:
        self.kept[finished.game] = finished

    def is_open(self, game: GameId) -> bool:
        assert game in self.kept
        return self._held is not None

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        assert self._held is not None
        self._held.append(then)

    def as_stored(self, ended: Ended) -> Ended:
        return ended

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken], *, is_part: bool = False) -> None:
        assert is_part or (game, side) not in self._enclosed, "evidence is handed in once"
        self._enclosed.setdefault((game, side), []).extend(_written(*line) for line in said)

    def hold(self) -> None:
        """Let no result be stored."""
        self._held = []

    def store(self) -> None:
        """Let all results be stored, those to come at once."""
        held, self._held = self._held or [], None
        for then in held:
            then()

    def enclosed(self, number: int = 0) -> dict[Side, list[str]]:
        """Return the evidence of the game that was over as the number given, from 0."""
        game = [*self.kept][number]
        return {side: said for (of, side), said in self._enclosed.items() if of == game}


def _written(_: float, way: str, text: str, remark: Objection | float | str | None) -> str:
    word = remark.name if isinstance(remark, Objection) else remark
    return {"in": f"> {text}", "out": f"< {text}", "note": "--"}[way] + ("" if word is None else f" ({word})")


class Matchmaker(LobbyAndTables):
    """Answers later while it thinks: within a second after that."""

    thinks = False

    def answers(self, now: float) -> Iterable[Answer]:
        return () if self.thinks else super().answers(now)

    def next_due(self) -> float | None:
        return None if self.thinks else super().next_due()


class World:
    """The server, and how clients come to it."""

    def __init__(
        self,
        *,
        keeps_wire: bool = False,
        idle: float = IDLE,
        grace: float = 0.0,
        rate: float = 0,
        burst: int = 1,
        max_connections: int = 0,
        max_per_address: int = 0,
        connects_per_second: int = 0,
        request_seconds: float | None = None,
        page: int | None = None,
        allow_origin: Sequence[str] = (),
        trusted_proxy: Sequence[str] = (),
        proxy_protocol: bool = False,
        certificate: Certificate | None = None,
        tls_only: bool = False,
        silence: float | None = None,
        passes_on: bool = False,
        turns: Turns | None = None,
        backlog: int | None = None,
        queries: Queries[str] | None = None,
    ) -> None:
        """`keeps_wire` keeps evidence, `passes_on` requests for no websocket, `turns` are installed already.

        A client that may begin TLS may say nothing for `silence` seconds. At most `backlog` bytes wait for
        all clients. `queries` answers texts that are no commands. The others are options; 0 is no limit.
        """
        self.turns = turns
        self.backlogs = Backlogs() if backlog is None else Backlogs(backlog)
        self.results = Results(takes_evidence=keeps_wire)
        self.queries = queries
        self.matchmaker = Matchmaker(random.Random(0), grace=grace)
        self.hub = Hub(Terms(idle=idle, grace=grace), self.matchmaker, self.results)
        self.page, self.passes_on, self.allow_origin = page, passes_on, allow_origin
        self.certificate, self.tls_only = certificate, tls_only
        self.silence = {} if silence is None else {"silence": silence}
        self.options = ServerOptions(
            max_connections=max_connections,
            max_per_address=max_per_address,
            connects_per_second=connects_per_second,
            messages_per_second=rate,
            message_burst=burst,
            request_seconds=request_seconds,
            trusted_proxy=[ip_network(each) for each in trusted_proxy],
            proxy_protocol=proxy_protocol,
        )
        self._keeps_time = False
        self.is_stopping = False
        """Whether no websocket is opened any more."""
        self.counts: Counter[tuple[str, str]] = Counter()
        """How often a limit was reached, as ``limit_`` with its option, and a client not let in."""
        self.opened: list[tuple[str, str | None]] = []
        """Of each websocket: the target of its request, and the token in its header."""
        self.passed_on: list[tuple[bytes, bool, bool]] = []
        """Of each such request: what was read, whether its client uses HTTPS, and whether a proxy sent it."""

    def dial(
        self,
        framing: Framing = "websocket",
        origin: str = HERE,
        translator: ToyTranslator | None = None,
        receive: Receive | None = None,
    ) -> Client:
        """Return a client who has a connection and has sent nothing.

        Behind the preamble `receive` serves it, by default with the toy dialect.
        """
        client = Client(framing, origin)
        if receive is None:
            receive = self.stack.receiving(framing, translator or ToyTranslator())
            self._keep_time()
        self.nursery.start_soon(self.stack.serve, client.socket, framing, receive)
        return client

    async def connect(
        self,
        framing: Framing,
        name: str = "",
        origin: str = HERE,
        translator: ToyTranslator | None = None,
    ) -> Client:
        """Return a client whose websocket, if it is one, is open, and who has entered if it has a name."""
        client = self.dial(framing, origin, translator)
        if framing == "websocket":
            client.send(HANDSHAKE)
        await self.quiet()
        client.seat = self.hub.seats()[-1]
        if name:
            client.say(f"enter {name}")
            await self.quiet()
        return client

    async def game(self, framing: Framing) -> tuple[Client, Client]:
        """Return two players in a game, the one to move first, who were told of nothing else."""
        ann, bob = [await self.connect(framing, name) for name in ("ann", "bob")]
        for player in (ann, bob):
            assert player.texts == ["Entered", "Started"]
            player.texts.clear()
        return ann, bob

    def _keep_time(self) -> None:
        if not self._keeps_time:  # in a world without players it would cost time alone
            self._keeps_time = True
            self.nursery.start_soon(keep_time, self.hub)

    def tell(self, client: Client, event: Event) -> None:
        """Let the hub tell a client of something."""
        assert client.seat is not None
        client.seat.mailbox.deliver(event)
        self.hub.tick(trio.current_time())

    async def quiet(self) -> None:
        """Return when nothing more happens unless time passes."""
        await trio.testing.wait_all_tasks_blocked()


@asynccontextmanager
async def connections(**options: object) -> AsyncIterator[World]:
    """Run a server with these options; see `World`."""
    world = World(**options)  # type: ignore[arg-type]
    async with trio.open_nursery() as world.nursery:
        world.stack = Stack(world)
        with world.stack.seeing_turns():
            yield world
        world.nursery.cancel_scope.cancel()


# What knows the classes of the client stack: nothing above does.


class Stack:
    """Serves clients as the server does, by the classes between a socket and the hub."""

    def __init__(self, world: World) -> None:
        self._turns = world.turns or Turns()
        self._world = world
        self._poller = MemoryPoller()
        self._admission = admission(world.options, world.counts)
        trusted, proxied = world.options.trusted_proxy, world.options.proxy_protocol
        self._preamble = Preamble(
            world.certificate, world.counts, tls_only=world.tls_only, proxied=proxied, trusted=trusted
        )
        self._http = HttpPort(
            PAGE,
            world.page,
            trusted,
            Websites(world.allow_origin, world.counts),
            self._pass_on if world.passes_on else None,
            lambda: world.is_stopping,
            has_hsts=world.tls_only,
        )

    @contextmanager
    def seeing_turns(self) -> Iterator[None]:
        if self._world.turns is not None:
            yield
            return
        trio.lowlevel.add_instrument(self._turns)
        try:
            yield
        finally:
            trio.lowlevel.remove_instrument(self._turns)

    def receiving(self, framing: Framing, translator: ToyTranslator) -> Receive:
        serve = partial(self._serve, translator)
        if framing == "lines":
            return partial(receive_lines, serve)
        return partial(receive_request, serve, self._http)

    async def serve(self, client: ClientSocket, framing: Framing, receive: Receive) -> None:
        refusal = FULL if framing == "lines" else b""
        world, common = self._world, (self._admission, self._preamble)
        entrance = Entrance("toy", receive, self._open, *common, refusal, **world.silence)
        await entrance.serve(cast("trio.SocketStream", client))

    def _open(self, stream: trio.SocketStream) -> Socket:
        return Socket(cast("socket.socket", stream), self._poller, self._turns, self._world.backlogs)

    async def _serve(self, translator: ToyTranslator, client: Accepted) -> None:
        if client.target:
            self._world.opened.append((client.target, client.token))
        world = self._world
        await Connection(world.hub, client, ToyCodec(), translator, queries=world.queries).run()

    async def _pass_on(self, _: Socket, __: Admitted, request: PlainRequest) -> None:
        self._world.passed_on.append((request.begun, request.is_secure, request.is_single))
