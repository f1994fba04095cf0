"""The web front end: HTTP on a port of its own, spoken by hypercorn.

Puts the parts together, and serves one connection. Knows hypercorn, of which only the protocol is used:
sockets, signals and the stop are the gateway's own. The rule it keeps: a connection ends when it is told to,
whatever its client does, so what is sent has a deadline, and who is cancelled closes the socket.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import LifespanState

from adapters.connection import guarded
from adapters.web.application import Admin, Application
from adapters.web.health import Health
from adapters.web.threads import Threads
from gateway.store.reader import Reader
from gateway.store.writer import Writer

SEND_LIMIT = 30.0
"""Seconds that a client has for letting one piece of an answer in, 40 KB of an export."""
IDLE_LIMIT = 15.0
"""Seconds that a client has for a request."""

logger = logging.getLogger(__name__)


def application(reader: Reader, writer: Writer, token: str | None) -> Application:
    """Return what answers from `reader`; with a `token`, whoever shows it may clear the results."""
    health = Health(writer, partial(Threads(1).do, reader.probe))
    admin = None if token is None else Admin(token, partial(writer.ask, reader.clear))
    return Application(reader, health, admin)


class Web:
    """Serves connections."""

    def __init__(self, application: Application) -> None:
        self._application = ASGIWrapper(cast(Any, application))
        self._config = _config()
        self._context = WorkerContext(None)
        self._stopping = trio.Event()

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve one connection; return when it is over, and raise nothing."""
        await guarded("web", partial(self._serve, stream))

    def stop(self) -> None:
        """Let every connection end with the answer that it is at."""
        self._stopping.set()

    async def _serve(self, stream: trio.SocketStream) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, stream)
            polite = cast("trio.SSLStream[trio.SocketStream]", Deadlined(stream, nursery.cancel_scope.cancel))
            server = TCPServer(self._application, self._config, self._context, LifespanState(), polite)
            await server.run()
            nursery.cancel_scope.cancel()

    async def _watch(self, stream: trio.SocketStream) -> None:
        """Tell hypercorn of the stop; close the socket at the end, as nothing else ends what it shields."""
        try:
            await self._stopping.wait()
            await self._context.terminated.set()
            await trio.sleep_forever()
        finally:
            stream.socket.close()


class Deadlined:
    """A stream as hypercorn needs it, on which no piece takes for ever to be sent."""

    def __init__(self, stream: trio.SocketStream, give_up: Callable[[], None]) -> None:
        """Call `give_up` where a piece takes too long."""
        self._stream = stream
        self._give_up = give_up
        self.socket = stream.socket
        self.receive_some = stream.receive_some
        self.send_eof = stream.send_eof
        self.aclose = stream.aclose

    async def send_all(self, data: bytes) -> None:
        """Send all of `data`. Raises trio.BrokenResourceError where the client takes too long for it."""
        try:
            with trio.move_on_after(SEND_LIMIT) as scope:
                await self._stream.send_all(data)
        except trio.BusyResourceError as error:  # hypercorn is closing the stream in another task
            raise trio.BrokenResourceError from error
        if scope.cancelled_caught:
            self._give_up()
            raise trio.BrokenResourceError


def _config() -> Config:
    config = Config()
    config.errorlog = logger
    config.include_server_header = False
    config.keep_alive_timeout = IDLE_LIMIT
    return config
