"""Sends talks to a port, a few at a time, and asks it afterwards whether it is still there.

Knows sockets and how a connection may end. Does not know what is sent, or to whom.
"""

import socket
import struct
from contextlib import suppress
from random import Random

import trio
import trio.lowlevel

from conformance.lab.junk.texts import Talk, talk_for
from conformance.targets import Address

AT_ONCE = 16
PATIENCE = 2.0
"""Seconds that a server has for ending a connection whose client has said that it is done."""
ANSWER_LIMIT = 10.0
_RESET = struct.pack("ii", 1, 0)
_REQUEST = b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
_PAGE = _REQUEST % b"/", b"HTTP/1.1 200"
_QUESTIONS = {
    "droidcon": (b"NAME ann\n", b"SUCCESS\n"),
    "web": (_REQUEST % b"/api/standings", b"HTTP/1.1 200"),
}
"""What a port is asked, and how the answer begins."""


async def send_all(port: str, address: Address, number: int, lot: Random) -> int:
    """Send at least so many pieces to a port; return how many connections that took."""
    connections = 0
    limiter = trio.CapacityLimiter(AT_ONCE)
    async with trio.open_nursery() as nursery:
        while number > 0:
            talk = talk_for(port, lot)[:number]
            number -= len(talk)
            connections += 1
            task = object()
            await limiter.acquire_on_behalf_of(task)
            nursery.start_soon(_send_one, address, talk, lot.random(), (limiter, task))
    return connections


async def _send_one(
    address: Address, talk: Talk, manner: float, place: tuple[trio.CapacityLimiter, object]
) -> None:
    limiter, task = place
    try:
        with trio.move_on_after(PATIENCE):
            async with await trio.open_tcp_stream(address.host, address.port) as stream:
                with suppress(trio.BrokenResourceError):  # the server has hung up
                    await _talk(stream, talk, manner)
    finally:
        limiter.release_on_behalf_of(task)


async def _talk(stream: trio.SocketStream, talk: Talk, manner: float) -> None:
    for piece in talk:
        await stream.send_all(piece)
        if manner < 0.5:
            await trio.lowlevel.checkpoint()  # so that pieces arrive one by one
    if manner < 0.3:
        await stream.send_eof()
        while await stream.receive_some(65_536):
            pass
    elif manner < 0.6:
        with trio.move_on_after(0.02):
            while await stream.receive_some(65_536):
                pass
    elif manner < 0.8:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


async def answers(port: str, address: Address) -> bool:
    """Whether a port answers what a client would ask."""
    question, expected = _QUESTIONS.get(port, _PAGE)
    got = b""
    with trio.move_on_after(ANSWER_LIMIT):
        try:
            async with await trio.open_tcp_stream(address.host, address.port) as stream:
                await stream.send_all(question)
                while len(got) < len(expected) and (more := await stream.receive_some(1000)):
                    got += more
        except OSError:
            return False
    return got.startswith(expected)
