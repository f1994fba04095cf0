"""Stands in for the gateway in tests of the runner: says where it listens, and misbehaves on demand.

Each option with the value 0 is a front end. To whoever connects to one of them, it says its further
options as a line.
It is started often, so it imports little. It ends by os._exit, for nothing of it is worth cleaning up.
"""

import os
import signal
import sys
from itertools import pairwise
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

WORDS = [*pairwise([*sys.argv[1:], ""])]
FRONTS = [word[2:] for word, value in WORDS if value == "0"]
OPTIONS = [word for word, value in WORDS if "0" not in (word, value)]
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
    signal.signal(signal.SIGTERM, lambda *_: os._exit(3 if "--sour" in OPTIONS else 0))
    servers = [ThreadingTCPServer(HERE, Client) for _ in FRONTS]
    for name, server in zip(FRONTS, servers, strict=True):
        address = f"127.0.0.1:{server.server_address[1]}"
        if name == "tcp":
            print(f"listening: droidcon {address}, line by line", flush=True)
        elif "--mute" not in OPTIONS:
            print(f"{name} {address}", flush=True)
    for server in servers[1:]:
        Thread(target=server.serve_forever, args=(3600,), daemon=True).start()
    servers[0].serve_forever(poll_interval=3600)


if "--refuse" in OPTIONS:
    print("no such option: --refuse", file=sys.stderr)
    sys.exit(2)
main()
