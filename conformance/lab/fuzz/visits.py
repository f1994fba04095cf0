"""Readers that are whole adapters: they run on sockets in memory, from a client's first byte on.

Connects front ends to a hub. The clock is virtual, and jumps ahead whenever all tasks wait. A visit is two
clients of any dialects at one table, and a script of what each of them sends.
"""

import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from random import Random
from typing import TypeAlias, cast

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import adapters.arena.server
import adapters.droidcon.server
import adapters.nac4.server
import adapters.rpi.server
import adapters.tutorial.server
from adapters.client.accepted import Accepted, Serve, first_texts, hang_up
from adapters.client.contract import Farewell, PeerGone
from adapters.entrance.admission import without_limits
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import Receive, receive_lines, receive_request
from adapters.net.socket import Socket
from conformance.frames import Handshake
from conformance.lab.fuzz.memory import MemoryPoller, MemorySocket
from gateway.game.clock import Terms
from gateway.hub.hub import Hub
from gateway.matchmaking.standard import LobbyAndTables

Piece: TypeAlias = tuple[int, bytes]
"""Which of the two clients sends the piece (0 or 1), and its bytes."""

KINDS = ("droidcon", "nac4", "arena", "rpi", "tutorial")
LONGEST_PIECE = 127
_SERVE: Sequence[Callable[[Hub], Serve]] = (
    partial(adapters.droidcon.server.serving, rounds=2),
    adapters.nac4.server.serving,
    adapters.arena.server.serving,
    adapters.rpi.server.serving,
    adapters.tutorial.server.serving,
)
_SHAKEN = len(KINDS) ** 2
"""Added to the first byte of a script if both clients have already opened their websockets."""
_PAGE = 8000


def heads(data: bytes) -> None:
    """Send a request to a websocket's port, in one piece."""
    trio.run(_asked, data, clock=MockClock(autojump_threshold=0))


def visits(data: bytes) -> None:
    """Run whole adapters with a hub, and two clients at one table that follow the script in `data`."""
    trio.run(_visited, data, clock=MockClock(autojump_threshold=0))


def script(first: int, second: int, pieces: Iterable[Piece], *, shaken: bool = True) -> bytes:
    """Return the script of two clients, each given as an index into `KINDS`."""
    head = bytes([first + len(KINDS) * second + _SHAKEN * shaken])
    cut = (
        (who, data[start : start + LONGEST_PIECE])
        for who, data in pieces
        for start in range(0, len(data), LONGEST_PIECE)
    )
    return head + b"".join(bytes([who << 7 | len(piece)]) + piece for who, piece in cut)


def _pieces(data: bytes) -> Iterator[Piece]:
    """Return the pieces of a script, without its first byte. Any bytes are a valid script."""
    at = 1
    while at < len(data):
        end = at + 1 + data[at] % (LONGEST_PIECE + 1)
        yield data[at] >> 7, data[at + 1 : end]
        at = end


async def _asked(data: bytes) -> None:
    async def serve(client: Accepted) -> None:
        try:
            await first_texts(client.socket, client.framing)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise PeerGone from None
        await hang_up(client.socket, client.framing, Farewell())

    client = MemorySocket()
    client.arrives(data)
    client.ends()
    await _served(client, partial(receive_request, serve, HttpPort("text", _PAGE)))


async def _visited(data: bytes) -> None:
    hub = Hub(Terms(), LobbyAndTables(Random(0)))
    head = data[0] if data else 0
    kinds = (head % len(KINDS), head // len(KINDS) % len(KINDS))
    async with trio.open_nursery() as nursery:
        clients = [_client(nursery, kind, hub, shaken=head % (2 * _SHAKEN) >= _SHAKEN) for kind in kinds]
        for who, piece in _pieces(data):
            clients[who].arrives(piece)
            await wait_all_tasks_blocked()
        for client in clients:
            client.ends()
    assert len(hub) == 0, "somebody is still here after all have gone"


def _client(nursery: trio.Nursery, kind: int, hub: Hub, *, shaken: bool) -> MemorySocket:
    client, serve = MemorySocket(), _SERVE[kind](hub)
    if KINDS[kind] == "droidcon":
        nursery.start_soon(_served, client, partial(receive_lines, serve))
        return client
    nursery.start_soon(_served, client, partial(receive_request, serve, HttpPort("text")))
    if shaken:
        client.arrives(Handshake("x", "/?table=t").request)
    return client


async def _served(client: MemorySocket, receive: Receive) -> None:
    sock = Socket(cast("socket.socket", client), MemoryPoller())
    try:
        async with without_limits().admit("fuzz", sock.address) as entry:
            await receive(sock, entry)
    except* PeerGone:
        pass
    finally:
        sock.close()
