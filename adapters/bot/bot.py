"""One connection after another, until the games are played.

Knows how to be stopped and when to try again; what happens on a connection is `play.py`'s. The rule it
keeps: whatever ends a connection, the server is told in good order that the player leaves.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass

import trio

from adapters.bot.choosers import Chooser
from adapters.bot.play import HINT, Ending, Kind, Play
from adapters.bot.screen import Phase, Screen, Waiting, Words
from adapters.bot.totals import Totals
from adapters.client.contract import PeerGone
from adapters.client.talk import AnyDialogue
from adapters.net.tls_client import Untrusted

LONGEST_PAUSE = 30.0
"""Seconds at most between two tries to reach a server."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where to play."""

    place: str
    """Its address, for people to read."""
    dial: Callable[[], AbstractAsyncContextManager[AnyDialogue]]
    """Connects to it. Raises OSError, UnicodeError, PeerGone."""
    name: str
    """What the player is called there."""
    dialect: str = ""
    seeks: str = "an opponent"
    """What the player waits for there."""
    reason: str = ""
    """Why that may be long in coming."""

    def words(self) -> Words:
        """Return what the player waits for, and what may be wrong."""
        doubt = f"is it the port for {self.dialect}? {HINT}"
        return {
            Phase.DIALLING: f"waits for {self.place} to answer; {doubt}",
            Phase.GREETING: f"waits for {self.place} to say anything; {doubt}",
            Phase.LOOKING: f"{self.name} waits at {self.place} for {self.seeks}",
        }


class Bot:
    """A player that looks for its games."""

    def __init__(self, server: Server, chooser: Chooser, totals: Totals, screen: Screen) -> None:
        self._server = server
        self._chooser = chooser
        self._totals = totals
        self._screen = screen
        self._waiting = Waiting(server.words(), screen.warn, server.reason)
        self._running = trio.CancelScope()
        self._playing: trio.CancelScope | None = None

    def stop(self) -> None:
        """Leave; at once if it is said a second time."""
        if self._playing is None or self._playing.cancel_called:
            self._running.cancel()
        else:
            self._playing.cancel()

    async def run(self, *, reconnect: bool) -> Ending:
        """Play until all games are played, or the server is not there; with `reconnect`, until it is."""
        ending = Ending(Kind.LEFT)
        with self._running:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._waiting.run)
                ending = await self._run(reconnect=reconnect)
                nursery.cancel_scope.cancel()
        return ending

    async def _run(self, *, reconnect: bool) -> Ending:
        pauses = _pauses()
        while True:
            games = self._totals.begun
            self._waiting.at(Phase.DIALLING)
            ending = await self._connection()
            self._waiting.at(None)
            if ending.kind is Kind.SPENT:
                continue
            if not reconnect or not self._is_worth_another_try(ending):
                return ending
            if games < self._totals.begun:
                pauses = _pauses()
            pause = next(pauses)
            self._screen.warn(f"{ending.words}; next try in {pause:g} s")
            await trio.sleep(pause)

    def _is_worth_another_try(self, ending: Ending) -> bool:
        """Whether it may end otherwise next time.

        A player that was let in before may be refused because the server has not yet missed it.
        """
        return ending.kind is Kind.LOST or (ending.kind is Kind.REFUSED and self._totals.begun > 0)

    async def _connection(self) -> Ending:
        """Play on one connection."""
        async with AsyncExitStack() as stack:
            try:
                dialogue = await stack.enter_async_context(self._server.dial())
            except Untrusted as error:
                return Ending(Kind.REFUSED, distrust(self._server.place, error))
            except (OSError, UnicodeError, PeerGone) as error:
                return Ending(Kind.LOST, f"no server at {self._server.place}: {reason(error)}")
            self._screen.connected(self._server.place, self._server.name)
            self._waiting.at(Phase.GREETING)
            try:
                with trio.CancelScope() as self._playing:
                    return await Play(
                        dialogue, self._chooser, self._totals, self._screen, self._waiting
                    ).run()
            finally:
                self._playing = None
        return Ending(Kind.LEFT)


def _pauses() -> Iterator[float]:
    pause = 1.0
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)


def distrust(place: str, error: Untrusted) -> str:
    """Return why a server is not trusted, and what to do where somebody else may be."""
    why = error.strerror
    if error.lacks_authority:
        why = "no known authority has signed it. If that is in order, trust its authority by --ca FILE"
    return f"the certificate of {place} is not trusted: {why}"


def reason(error: OSError | UnicodeError | PeerGone) -> str:
    """Return in a few words why a server could not be reached."""
    if isinstance(error, PeerGone):
        return f"what answers there does not speak websocket. {HINT}"
    if isinstance(error, UnicodeError):
        return "not the name of a host"
    cause = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    if isinstance(cause, OSError):
        error = cause
    if isinstance(error, socket.gaierror):
        return error.strerror or "not the name of a host"
    return (error.strerror or str(error)).rpartition(": ")[2]
