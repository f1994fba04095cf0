"""Runs the web process from the server. It is a separate process, so that viewers hardly slow down players.

The server starts the process, passes it the listening sockets, answers its questions, and sends it live
games. This module does not know HTTP, and imports no HTTP library. If the process dies, it is started again.
Its clients wait meanwhile, because the server keeps the sockets open. Errors of the process never affect
games.
"""

import logging
import re
import socket
from collections.abc import Callable, Sequence

import trio

from adapters.web.link import (
    LONGEST,
    WRONG_TOKEN,
    Act,
    Analysed,
    Answered,
    Ask,
    Condition,
    Done,
    Failed,
    Messages,
    Orders,
    Reached,
    Removed,
    Stop,
    Watch,
    Withdraw,
)
from adapters.web.live.sender import FactSender
from gateway.access.limits import LIMITS
from gateway.hub.hub import Hub
from gateway.runtime.child import Backoff, Child, LinkError
from gateway.server.acts import NotDoneError, Notice
from gateway.server.metrics.requests import Requests
from gateway.server.operating import Operator
from gateway.store import NotKeptError, StoreError
from gateway.store.open_games import OpenGames
from gateway.store.records import Cleared, Solved, game_id
from gateway.store.requests import Request

FINISHING = 2.5
"""Seconds that the process has to finish its answers when the server stops."""
PARTING = 0.25
"""Seconds that the process has to end after its link has closed."""

MOST = 1 << 32
"""A count in one message of the process must be less than this."""
_MOVES = re.compile("[0-6]{0,42}")
_COUNTED = frozenset((WRONG_TOKEN, *(f"limit_{limit}" for limit in LIMITS)))
"""The names that the process may count."""

logger = logging.getLogger(__name__)


class WebProcess:
    """Runs one process that serves the web, and restarts it."""

    def __init__(
        self,
        orders: Orders,
        sockets: Sequence["trio.socket.SocketType | socket.socket"],
        open_games: OpenGames | None,
        clear: Callable[[], Request[Cleared]] | None,
        hub: Hub,
        analyse: Callable[[Solved], object] | None = None,
    ) -> None:
        """`orders` is the first message to the process. Clients come from `sockets`.

        These are listening sockets, and a socket over which the server passes clients on. They are closed at
        the end. `open_games` are the games that wait to be stored, `clear` removes all results, and `analyse`
        stores the analysis of a game; these are None if results are not kept. `clear` and its request raise
        StoreError. Live games come from `hub`.
        """
        self._orders = orders
        self._sockets = sockets
        self._open_games = open_games
        self._clear = clear
        self._analyse = analyse
        self._hub = hub
        self.operator: Operator | None = None
        self.requests = Requests()
        """Counts of the requests that were answered, if the orders ask for them."""
        self.restarts = 0
        """How many times a process was replaced."""
        self._stopping = trio.Event()

    def stop(self) -> None:
        """Tell the process to finish its answers and end; then `run` returns."""
        self._stopping.set()

    async def run(self) -> None:
        """Run a process that serves the web, and replace it if it ends; end it when cancelled."""
        backoff = Backoff()
        try:
            while not self._stopping.is_set():
                began = trio.current_time()
                try:
                    await self._keep_one()
                except* Exception:  # a bug, or a lack of system resources; games go on
                    logger.exception(
                        "the process that serves the web cannot be served", extra={"event": "web_failed"}
                    )
                with trio.move_on_after(backoff.after(trio.current_time() - began)):
                    await self._stopping.wait()
                self.restarts += not self._stopping.is_set()
        finally:
            for each in self._sockets:
                each.close()

    async def _keep_one(self) -> None:
        """Run one process until it ends."""
        child = Child("adapters.web.serving", LONGEST)
        try:
            link = await child.start(sockets=[each.fileno() for each in self._sockets])
        except OSError as error:
            about = {"event": "web_not_started", "error": str(error)}
            logger.error("no process to serve the web can be started: %s", error, extra=about)
            return
        try:
            await self.serve(Messages(link))
        finally:
            status = await child.end(PARTING)
        if not self._stopping.is_set():
            logger.error(
                "the process that serves the web has ended, with status %s",
                status,
                extra={"event": "web_ended", "status": status},
            )

    async def serve(self, messages: Messages) -> None:
        """Serve one process until it closes the link."""
        clears: dict[int, Request[Cleared]] = {}
        try:
            await messages.send(self._orders)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._send_stop, messages)
                facts = FactSender(self._hub, messages)
                nursery.start_soon(facts.run)
                if self.operator is not None:
                    nursery.start_soon(_send_notices, messages, self.operator)
                while (message := await messages.receive()) is not None:
                    match message:
                        case Ask(int(number), "queue"):
                            await messages.send(self._condition(number))
                        case Ask(int(number), "clear"):
                            try:
                                if self._clear is None:
                                    raise NotKeptError
                                # At once, because the next message may withdraw it
                                clears[number] = self._clear()
                            except StoreError as error:
                                await messages.send(Failed(number, str(error)))
                            else:
                                nursery.start_soon(_answer_when_cleared, messages, number, clears)
                        case Withdraw(int(number)):
                            if number in clears and clears[number].withdraw():
                                logger.info(
                                    "a request to clear all results was withdrawn",
                                    extra={"event": "clear_withdrawn"},
                                )
                        case Act() if self.operator is not None:
                            nursery.start_soon(_carry_out, messages, message, self.operator)
                        case Watch(int(number)):
                            facts.want(number)
                        case Reached(str(what), int(times)) if what in _COUNTED and 0 < times < MOST:
                            self._hub.feed.counts[what, "page"] += times
                        case Answered(rows):
                            self.requests.join(rows)
                        case Analysed() if self._analyse is not None:
                            self._analyse(_solved(message))
                        case _:
                            raise LinkError(f"a {type(message).__name__} is not for the server")
                nursery.cancel_scope.cancel()  # withdraws requests that are not carried out yet
        except* LinkError:
            pass  # `run` starts a new process

    def _condition(self, number: int) -> Condition:
        games = self._open_games
        return Condition(
            number,
            waiting=0 if games is None else games.waiting,
            is_behind=games is not None and games.behind,
            cluster=None if self._hub.cluster is None else self._hub.cluster.condition(),
            is_draining=self._hub.is_draining,
        )

    async def _send_stop(self, messages: Messages) -> None:
        await self._stopping.wait()
        for each in self._sockets:
            each.close()
        await messages.send(Stop(FINISHING))


def _solved(message: Analysed) -> Solved:
    """Return the analysis in a message. Raises LinkError if it cannot be one."""
    try:
        if _MOVES.fullmatch(message.moves) is None:
            raise ValueError("not the moves of a game")
        return Solved(game_id(message.game), message.moves, bytes.fromhex(message.scores))
    except (ValueError, TypeError) as error:
        raise LinkError(f"this is not an analysis: {error}") from error


async def _send_notices(messages: Messages, operator: Operator) -> None:
    known = Notice()
    while True:
        known = await operator.next_notice(known)
        await messages.send(known)


async def _carry_out(messages: Messages, asked: Act, operator: Operator) -> None:
    """Carry out an act of the operator, and send the outcome on each node."""
    try:
        found = await operator.everywhere(asked.what, asked.about)
    except NotDoneError as error:
        await messages.send(Failed(asked.number, str(error)))
        return
    for node, text in found.items():
        await messages.send(Done(asked.number, node, text))
    await messages.send(Done(asked.number))
    if asked.what == "drain":  # only once its answer has been sent
        operator.stop()


async def _answer_when_cleared(messages: Messages, number: int, clears: dict[int, Request[Cleared]]) -> None:
    """Wait until a request to clear all results is done, and send its outcome."""
    answer: Removed | Failed
    try:
        removed = await clears[number].result()
        answer = Removed(number, removed.games, removed.players)
    except StoreError as error:
        answer = Failed(number, str(error))
    finally:
        del clears[number]
    await messages.send(answer)
