"""A cable between a browser and the server that a test can pull out and put in again."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Relay:
    """Passes on what comes at a port of its own, in both directions, while it is whole."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._is_whole = True
        self._sockets: list[socket.socket] = []

    def cut(self) -> None:
        """Reset all connections, and those that are tried from now on."""
        self._is_whole = False
        self._hang_up()

    def mend(self) -> None:
        """Pass on again what comes on new connections."""
        self._is_whole = True

    def run(self) -> None:
        """Accept until closed."""
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if not self._is_whole:
                    client.close()
                    continue
                server = socket.create_connection(self._target)
                self._sockets += [client, server]
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=_pass_on, args=ends, daemon=True).start()

    def close(self) -> None:
        """Accept nothing more, and hang up."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._hang_up()

    def _hang_up(self) -> None:
        while self._sockets:
            each = self._sockets.pop()
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@contextmanager
def relayed(port: int) -> Iterator[Relay]:
    """A relay to a port of this machine, for as long as the block lasts."""
    relay = Relay(port)
    thread = threading.Thread(target=relay.run)
    thread.start()
    try:
        yield relay
    finally:
        relay.close()
        thread.join()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
