"""The web, in a process of its own, so that readers of results cost players nothing.

This is the server's end: it starts the process, hands it the sockets that web clients connect to, and
answers the little that it asks. `serving` is the program of the process, `link` what the two say to each
other. Knows no HTTP, and imports nothing that does. The rules it keeps:

- A process that dies is started again. Its clients wait meanwhile: the sockets stay open here.
- The process ends when the server does, however that ends; at a stop it finishes its answers first.
- Whatever the process sends, and whatever goes wrong with it, play goes on.
"""

import logging
import socket
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import trio

from adapters.web.link import Answer, Ask, Link, LinkError, Orders, Stop, Watch, Withdraw
from adapters.web.live.telling import Telling
from gateway.hub.interfaces import HubForSubscribers
from gateway.processes import ended, started
from gateway.store.batcher import Request
from gateway.store.errors import NotKeptError, StoreError

FINISHING = 2.5
"""Seconds that answers have for being finished, when the server stops."""
PARTING = 0.25
"""Seconds that the process has for ending, once it has hung up."""
PAUSES = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Seconds until the process is started again, for the first time it dies soon, the second and so on."""
SOON = 10.0
"""Seconds after which a process that dies is the first again."""

logger = logging.getLogger(__name__)


class Queue(Protocol):
    """Games that wait to be stored."""

    @property
    def waiting(self) -> int:
        """How many there are."""

    @property
    def behind(self) -> bool:
        """Whether one of them waits for longer than anybody waits to hear of it."""


class WebProcess:
    """The process that serves the web, whichever it is at the time."""

    def __init__(
        self,
        orders: Orders,
        listeners: Sequence[trio.SocketListener],
        queue: Queue | None,
        clear: Callable[[], Request] | None,
        hub: HubForSubscribers,
    ) -> None:
        """Let it have `orders` and accept from `listeners`, which are closed at the end.

        It is told of `queue`, and may `clear` all results, which raises StoreError, as its request does; both
        are None where no results are kept. While somebody watches there, it is told what is on in `hub`.
        """
        self._orders = orders
        self._listeners = listeners
        self._queue = queue
        self._clear = clear
        self._hub = hub
        self._stopping = trio.Event()
        self._requests: dict[int, Request] = {}

    def stop(self) -> None:
        """Let the process end with the answers that it is at, and `run` then."""
        self._stopping.set()

    async def run(self) -> None:
        """Keep a process that serves the web; when cancelled, leave none behind."""
        soon = 0
        try:
            while not self._stopping.is_set():
                begun = trio.current_time()
                try:
                    await self._keep_one()
                except* Exception:  # a mistake of ours, or a system at its limits; it must not reach play
                    logger.exception(
                        "the process that serves the web cannot be served", extra={"event": "web_failed"}
                    )
                soon = min(soon + 1, len(PAUSES)) if trio.current_time() < begun + SOON else 1
                with trio.move_on_after(PAUSES[soon - 1]):
                    await self._stopping.wait()
        finally:
            for listener in self._listeners:
                listener.socket.close()

    async def _keep_one(self) -> None:
        """Start a process, and return when it has ended."""
        try:
            process, stream = await self._start()
        except OSError as error:
            about = {"event": "web_not_started", "error": str(error)}
            logger.error("no process to serve the web can be started: %s", error, extra=about)
            return
        link = Link(stream)
        try:
            await self._serve(link)
        finally:
            with trio.CancelScope(shield=True):
                await link.aclose()
                status = await trio.to_thread.run_sync(ended, process, PARTING)
        if not self._stopping.is_set():
            logger.error(
                "the process that serves the web has ended, with status %s",
                status,
                extra={"event": "web_ended", "status": status},
            )

    async def _start(self) -> tuple[subprocess.Popen[bytes], trio.SocketStream]:
        """Return a new process, and the socket to it. Raises OSError."""
        ours, theirs = socket.socketpair()
        sockets = [theirs.fileno(), *(listener.socket.fileno() for listener in self._listeners)]
        try:
            with theirs:
                process = await trio.to_thread.run_sync(partial(started, "adapters.web.serving", sockets))
        except BaseException:
            ours.close()
            raise
        return process, trio.SocketStream(trio.socket.from_stdlib_socket(ours))

    async def _serve(self, link: Link) -> None:
        """Serve one process, until it has hung up."""
        try:
            await link.send(self._orders)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._tell_of_stop, link)
                telling = Telling(self._hub, link.tell)
                nursery.start_soon(telling.run)
                while (message := await link.receive()) is not None:
                    match message:
                        case Ask(number, "queue"):
                            await link.send(Answer(number, self._figures()))
                        case Ask(number, "clear"):
                            await self._begin_to_clear(link, number, nursery)
                        case Withdraw(number):
                            request = self._requests.get(number)
                            if request is not None and request.withdraw():
                                logger.info(
                                    "all results were to be cleared; that is withdrawn",
                                    extra={"event": "clear_withdrawn"},
                                )
                        case Watch(number):
                            telling.want(number)
                        case _:
                            raise LinkError(f"a {type(message).__name__} is not for the server")
                nursery.cancel_scope.cancel()  # what is asked is withdrawn by that
        except* LinkError:
            pass  # the process is ended, if it has not, and another is started

    def _figures(self) -> tuple[int, int]:
        return (0, 0) if self._queue is None else (self._queue.waiting, int(self._queue.behind))

    async def _tell_of_stop(self, link: Link) -> None:
        await self._stopping.wait()
        for listener in self._listeners:
            listener.socket.close()
        await link.send(Stop(FINISHING))

    async def _begin_to_clear(self, link: Link, number: int, nursery: trio.Nursery) -> None:
        """Ask for the results to be cleared, at once: what is said next may be that it is withdrawn."""
        try:
            if self._clear is None:
                raise NotKeptError
            request = self._requests[number] = self._clear()
        except StoreError as error:
            await link.send(Answer(number, error=str(error)))
        else:
            nursery.start_soon(self._answer_to_clear, link, number, request)

    async def _answer_to_clear(self, link: Link, number: int, request: Request) -> None:
        """Say whether the results were cleared."""
        try:
            removed = await request.result()
            answer = Answer(number, (removed.games, removed.players))
        except StoreError as error:
            answer = Answer(number, error=str(error))
        finally:
            del self._requests[number]
        await link.send(answer)
