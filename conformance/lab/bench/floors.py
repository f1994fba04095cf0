"""The floors: two servers that do nothing but send back, on the same foundations as the gateway.

`python -m conformance.lab.bench.floors tcp` (or `websocket`) prints the port it took and serves until it is
terminated. A line comes by trio's SocketStream, a text by trio-websocket, each used in the plainest way.
"""

import sys
from functools import partial

import trio
import trio_websocket

from conformance.lab.bench.plan import TCP

_CHUNK = 4096


async def echo_lines(stream: trio.SocketStream) -> None:
    """Send every line back."""
    rest = b""
    try:
        while data := await stream.receive_some(_CHUNK):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                await stream.send_all(line + b"\n")
    except trio.BrokenResourceError:
        pass


async def echo_texts(request: trio_websocket.WebSocketRequest) -> None:
    """Send every message back."""
    websocket = await request.accept()
    try:
        while True:
            await websocket.send_message(await websocket.get_message())
    except trio_websocket.ConnectionClosed:
        pass


async def serve(transport: str) -> None:
    """Serve until cancelled; print the port."""
    async with trio.open_nursery() as nursery:
        if transport == TCP:
            listeners = await nursery.start(partial(trio.serve_tcp, echo_lines, 0, host="127.0.0.1"))
            port = listeners[0].socket.getsockname()[1]
        else:
            server = await nursery.start(trio_websocket.serve_websocket, echo_texts, "127.0.0.1", 0, None)
            port = server.port
        print(port, flush=True)


if __name__ == "__main__":
    trio.run(serve, sys.argv[1])
