"""Stands in for the gateway in tests of the runner: says where it listens, and misbehaves on demand.

To whoever connects, its TCP front end says its options as a line; the others are there, and say nothing.
It is started often, so it imports little. It ends by os._exit, for nothing of it is worth cleaning up.
"""

import os
import signal
import socket
import sys
from socketserver import StreamRequestHandler, ThreadingTCPServer

OPTIONS = sys.argv[7:]  # behind --nac4 0 --arena 0 --tcp 0
HERE = ("127.0.0.1", 0)


class Client(StreamRequestHandler):
    """One connection to the TCP front end."""

    def handle(self) -> None:
        self.wfile.write(f"options {' '.join(OPTIONS)}\n".encode())
        for line in self.rfile:
            if line.startswith(b"DIE"):
                print("dying as asked", file=sys.stderr, flush=True)
                os._exit(7)


def main() -> None:
    with (
        ThreadingTCPServer(HERE, Client) as tcp,
        socket.create_server(HERE) as nac4,
        socket.create_server(HERE) as arena,
    ):
        signal.signal(signal.SIGTERM, lambda *_: os._exit(3 if "--sour" in OPTIONS else 0))
        print(f"listening: droidcon 127.0.0.1:{tcp.server_address[1]}, line by line", flush=True)
        for dialect, server in (("nac4", nac4), ("arena", arena)):
            if "--mute" not in OPTIONS:
                print(f"{dialect} ws://127.0.0.1:{server.getsockname()[1]}", flush=True)
        tcp.serve_forever(poll_interval=3600)


if "--refuse" in OPTIONS:
    print("no such option: --refuse", file=sys.stderr)
    sys.exit(2)
main()
