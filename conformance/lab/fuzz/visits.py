"""Readers that are whole adapters: on memory streams, from a client's first byte on.

Knows how a hub and front ends fit together, and nothing of time: the clock jumps to whatever is waited for. A
visit is two clients at one table, of whatever dialects, and a script of who sends what.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import TypeAlias, cast

import trio
from trio.testing import MockClock, memory_stream_pair, wait_all_tasks_blocked

import adapters.arena.server
import adapters.droidcon.server
import adapters.nac4.server
from adapters.client.contract import PeerGone
from adapters.client.upgrade import Endpoint, serve_websocket
from adapters.client.websocket import WebSocketTransport
from adapters.net.sockets import DirectSocket
from adapters.net.wire import Wire
from conformance.frames import Handshake
from conformance.lab.fuzz.memory import MemorySocket
from gateway.game.clock import Terms
from gateway.hub.hub import Hub
from gateway.matchmaking.standard import LobbyAndTables

Serve: TypeAlias = Callable[[Wire, Hub], Awaitable[None]]
Piece: TypeAlias = tuple[int, bytes]
"""Which of the two sends it, and what."""

KINDS = ("droidcon", "nac4", "arena")
LONGEST_PIECE = 127
_SERVE: Sequence[Serve] = (
    partial(adapters.droidcon.server.serve, rounds=2),
    lambda wire, hub: serve_websocket(wire, adapters.nac4.server.endpoint(hub)),
    lambda wire, hub: serve_websocket(wire, adapters.arena.server.endpoint(hub)),
)
_SHAKEN = 9
"""What the first byte of a script has more where both have opened their websockets already."""
_GONE = (trio.BrokenResourceError, trio.ClosedResourceError)
_PAGE = 8000


def heads(data: bytes) -> None:
    """Ask a websocket's port for something, in one piece."""
    trio.run(_asked, data, clock=MockClock(autojump_threshold=0))


def visits(data: bytes) -> None:
    """Let two clients send what a script says."""
    trio.run(_visited, data, clock=MockClock(autojump_threshold=0))


def script(first: int, second: int, pieces: Iterable[Piece], *, shaken: bool = True) -> bytes:
    """Return the script of two clients, each a place in `KINDS`."""
    head = bytes([first + 3 * second + _SHAKEN * shaken])
    cut = (
        (who, data[start : start + LONGEST_PIECE])
        for who, data in pieces
        for start in range(0, len(data), LONGEST_PIECE)
    )
    return head + b"".join(bytes([who << 7 | len(piece)]) + piece for who, piece in cut)


def _pieces(data: bytes) -> Iterator[Piece]:
    """Undo `script`, but for its head. Any bytes are a script."""
    at = 1
    while at < len(data):
        end = at + 1 + data[at] % (LONGEST_PIECE + 1)
        yield data[at] >> 7, data[at + 1 : end]
        at = end


async def _asked(data: bytes) -> None:
    async def talk(transport: WebSocketTransport, target: str) -> None:
        await transport.listen(lambda texts: True)

    client, server = memory_stream_pair()
    await client.send_all(data)
    await client.send_eof()
    with suppress(PeerGone):
        await serve_websocket(_wired(server), Endpoint(talk, "text", _PAGE))


async def _visited(data: bytes) -> None:
    hub = Hub(Terms(), LobbyAndTables(Random(0)))
    head = data[0] if data else 0
    kinds = (head % 3, head // 3 % 3)
    async with trio.open_nursery() as nursery:
        clients = [await _client(nursery, kind, hub, shaken=head % 18 >= _SHAKEN) for kind in kinds]
        for who, piece in _pieces(data):
            with suppress(*_GONE):
                await clients[who].send_all(piece)
            await wait_all_tasks_blocked()
        for client in clients:
            with suppress(*_GONE):
                await client.send_eof()
    assert len(hub) == 0, "somebody is still here after all have gone"


async def _client(nursery: trio.Nursery, kind: int, hub: Hub, *, shaken: bool) -> trio.StapledStream:  # type: ignore[type-arg]
    client, server = memory_stream_pair()
    nursery.start_soon(_served, _SERVE[kind], _wired(server), hub)
    if shaken and KINDS[kind] != "droidcon":
        await client.send_all(Handshake("x", "/?table=t").request)
    return client


async def _served(serve: Serve, wire: Wire, hub: Hub) -> None:
    try:
        await serve(wire, hub)
    except* PeerGone:
        pass
    finally:
        await trio.aclose_forcefully(wire)


def _wired(stream: trio.abc.Stream) -> Wire:
    return Wire(cast("DirectSocket", MemorySocket(stream)))
