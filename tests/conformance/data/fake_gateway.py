"""Stands in for the gateway in tests of the runner: says where it listens, and misbehaves on demand.

Every front end says something to whoever connects: the TCP one its options as a line, nac4 a text
frame with CRLF, arena JSON. It ends by os._exit, for nothing of it is worth cleaning up.
"""

import contextlib
import json
import os
import signal
import sys
from functools import partial

import trio
import trio_websocket

OPTIONS = sys.argv[7:]  # behind --nac4 0 --arena 0 --tcp 0


async def on_tcp(stream: trio.SocketStream) -> None:
    await stream.send_all(f"options {' '.join(OPTIONS)}\n".encode())
    async for data in stream:
        if data.startswith(b"DIE"):
            print("dying as asked", file=sys.stderr, flush=True)
            os._exit(7)


async def on_websocket(message: str, request: trio_websocket.WebSocketRequest) -> None:
    websocket = await request.accept()
    await websocket.send_message(message)
    with contextlib.suppress(trio_websocket.ConnectionClosed):
        await websocket.get_message()


async def main() -> None:
    async with trio.open_nursery() as nursery:
        tcp = await nursery.start(partial(trio.serve_tcp, on_tcp, 0, host="127.0.0.1"))
        print(f"listening: droidcon 127.0.0.1:{tcp[0].socket.getsockname()[1]}, line by line")
        for dialect, message in (("nac4", "options\r\n"), ("arena", json.dumps({"options": OPTIONS}))):
            serve = partial(
                trio_websocket.serve_websocket, partial(on_websocket, message), "127.0.0.1", 0, None
            )
            server = await nursery.start(serve)
            if "--mute" not in OPTIONS:
                print(f"{dialect} ws://127.0.0.1:{server.port}")
        with trio.open_signal_receiver(signal.SIGTERM) as signals:
            async for _ in signals:
                os._exit(3 if "--sour" in OPTIONS else 0)


if "--refuse" in OPTIONS:
    print("no such option: --refuse", file=sys.stderr)
    sys.exit(2)
trio.run(main)
