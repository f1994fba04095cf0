"""Opens one connection after another until the games are played, and runs the command ``c4bot``.

Knows how the bot is stopped and when it tries again. `play.py` plays on a connection. However the play on a
connection ends, the player closes the connection properly.
"""

import random
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain

import trio

from adapters.bot.choosers import Chooser, Keyboard, Person
from adapters.bot.options import Options
from adapters.bot.play import Ending, Kind, Play, Unfinished, hint, what_leaving_means
from adapters.bot.screen import Phase, Screen, Totals, Waiting, Words
from adapters.client.contract import PeerGone
from adapters.client.dialect import Dialect
from adapters.client.talk import AnyDialogue, Entry, Over, Result
from adapters.net.tls_client import Untrusted
from gateway.options.terminal import in_one_line, let_output_take_any_text
from gateway.runtime.plugins import PluginError

LONGEST_PAUSE = 30.0
"""The most seconds between two attempts to reach a server."""
RETURN_LIMIT = 60.0
"""Seconds in which a player tries to come back to a game. After that the game counts as cut off, because a
server keeps a seat for a short time only."""
RETURN_PAUSES = 0.2, 2.0
"""The first and the longest pause of a player that tries to come back to a game. It tries at once before."""


@dataclass(frozen=True, slots=True)
class Server:
    """The server to play on."""

    place: str
    """The server's address, as it is shown to people."""
    dial: Callable[[], AbstractAsyncContextManager[AnyDialogue]]
    """Connects to the server. Raises OSError, UnicodeError, PeerGone."""
    name: str
    """The name that the player has on the server."""
    dialect: str = ""
    seeks: str = "an opponent"
    """The opponent that the player waits for."""
    reason: str = ""
    """Why that opponent may take long to come."""

    def words(self) -> Words:
        """Return for each phase what the player waits for, and what may be wrong."""
        doubt = f"is it the port for {self.dialect}? {hint()}"
        return {
            Phase.DIALLING: f"waits for {self.place} to answer; {doubt}",
            Phase.GREETING: f"waits for {self.place} to send anything; {doubt}",
            Phase.LOOKING: f"{self.name} waits at {self.place} for {self.seeks}",
        }


class Bot:
    """A player that opens connections and plays."""

    def __init__(self, server: Server, chooser: Chooser, totals: Totals, screen: Screen) -> None:
        self._server = server
        self._chooser = chooser
        self._totals = totals
        self._screen = screen
        self._waiting = Waiting(server.words(), screen.warn, server.reason)
        self._unfinished: Unfinished | None = None
        """The game to which the player may come back."""
        self._running = trio.CancelScope()
        self._playing: trio.CancelScope | None = None

    def stop(self) -> None:
        """Stop playing. The first call closes a connection properly; a second call stops at once."""
        if self._playing is None or self._playing.cancel_called:
            self._running.cancel()
        else:
            self._playing.cancel()

    async def run(self, *, reconnect: bool) -> Ending:
        """Play until all games are played or the server is gone. With `reconnect`, try again after that.

        With `reconnect` a game whose connection breaks goes on when the player is back, and counts once.
        """
        ending = Ending(Kind.LEFT)
        with self._running:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._waiting.run)
                ending = await self._run(reconnect=reconnect)
                nursery.cancel_scope.cancel()
        if self._unfinished is not None:
            self._totals.add(Over(Result.CUT_OFF, self._unfinished.board))
            if ending.kind is Kind.LEFT:
                self._screen.warn(what_leaving_means(self._unfinished.board))
        return ending

    async def _run(self, *, reconnect: bool) -> Ending:
        pauses = _pauses()
        while True:
            games, before = self._totals.begun, self._unfinished
            self._waiting.at(Phase.DIALLING)
            ending = await self._connection()
            self._waiting.at(None)
            if ending.kind is Kind.SPENT:
                continue
            if not reconnect or not self._is_worth_another_try(ending):
                return ending
            game = self._unfinished
            if game is not None and trio.current_time() < game.since + RETURN_LIMIT:
                # Without a move since the last time, the server may be breaking each connection
                if before is None or before.board != game.board:
                    pauses = chain([0.0], _pauses(*RETURN_PAUSES))
                if ending.kind is Kind.BROKEN:
                    self._screen.warn(f"{ending.words}; trying to come back")
                await trio.sleep(next(pauses))
                continue
            if game is not None:
                self._unfinished = None
                self._totals.add(Over(Result.CUT_OFF, game.board))
                self._screen.warn(f"not back within {RETURN_LIMIT:g} s; the game counts as cut off")
            if games < self._totals.begun:
                pauses = _pauses()
            pause = next(pauses)
            self._screen.warn(f"{ending.words}; next try in {pause:g} s")
            await trio.sleep(pause)

    def _is_worth_another_try(self, ending: Ending) -> bool:
        """Whether another attempt may succeed.

        A player that comes back may be refused because the server has not noticed yet that its old connection
        is gone.
        """
        was_let_in = self._totals.begun > 0 or self._unfinished is not None
        return ending.kind in (Kind.LOST, Kind.BROKEN) or (ending.kind is Kind.REFUSED and was_let_in)

    async def _connection(self) -> Ending:
        """Play on one connection."""
        async with AsyncExitStack() as stack:
            try:
                dialogue = await stack.enter_async_context(self._server.dial())
            except Untrusted as error:
                return Ending(Kind.REFUSED, distrust(self._server.place, error))
            except PluginError as error:
                return Ending(Kind.REFUSED, str(error))
            except (OSError, UnicodeError, PeerGone) as error:
                return Ending(Kind.LOST, f"no server at {self._server.place}: {reason(error)}")
            if self._unfinished is None:
                self._screen.connected(self._server.place, self._server.name)
            self._waiting.at(Phase.GREETING)
            play = Play(dialogue, self._chooser, self._totals, self._screen, self._waiting, self._unfinished)
            try:
                with trio.CancelScope() as self._playing:
                    return await play.run()
            finally:
                self._playing, self._unfinished = None, play.unfinished
        return Ending(Kind.LEFT)


def _pauses(pause: float = 1.0, longest: float = LONGEST_PAUSE) -> Iterator[float]:
    while True:
        yield pause
        pause = min(2 * pause, longest)


def distrust(place: str, error: Untrusted) -> str:
    """Return why a server is not trusted, with advice if no known authority signed its certificate."""
    why = error.strerror
    if error.lacks_authority:
        why = "no known authority has signed it. If that is in order, trust its authority by --ca FILE"
    return f"the certificate of {place} is not trusted: {why}"


def reason(error: OSError | UnicodeError | PeerGone) -> str:
    """Return a short reason why a server could not be reached."""
    if isinstance(error, PeerGone):
        return f"what answers there does not speak websocket. {hint()}"
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


# The command ``c4bot`` after its options are read: it plays the games and prints a summary.

_LIMIT = "c4gateway lets two {} players meet 20 times, unless its --games-per-pair is another"


def run(options: Options) -> int:
    """Play; return the exit status.

    The status is 0 if the games are played or the person at the prompt left. It is 1 if the server is not
    there or refuses the player, or if the engine failed. After a signal it is 128 plus the signal's number.
    """
    let_output_take_any_text()
    if options.seed is not None:
        random.seed(options.seed)
    totals = Totals(options.games)
    screen = Screen(shows_games=options.verbose or options.engine is None)
    status = 1
    try:
        ending = trio.run(_play, options, totals, screen)
        status = _status(ending, screen)
        if totals.begun or status != 1:
            screen.say(totals.summary())
    except* OSError as errors:  # the reader of the output is gone
        screen.warn(f"error: {in_one_line(errors)}")
        sys.stdout = None  # otherwise the interpreter tries to flush it at its end
    except* KeyboardInterrupt:  # a signal that came before or after `_stop_on_signals` ran
        status = 128 + signal.SIGINT
    return status


def _status(ending: Ending | signal.Signals, screen: Screen) -> int:
    if isinstance(ending, signal.Signals):
        return 128 + ending
    if ending.kind in (Kind.PLAYED, Kind.LEFT):
        return 0
    screen.warn(f"error: {ending.words}")
    return 1


async def _play(options: Options, totals: Totals, screen: Screen) -> Ending | signal.Signals:
    """Play; return the signal that stopped it, or how it ended by itself."""
    stopped: list[signal.Signals] = []
    async with trio.open_nursery() as nursery:
        bot = Bot(_server(options), _chooser(options, screen, nursery), totals, screen)
        await nursery.start(_stop_on_signals, bot, stopped)
        ending = await bot.run(reconnect=options.reconnect)
        nursery.cancel_scope.cancel()
    return stopped[0] if stopped else ending


def _chooser(options: Options, screen: Screen, nursery: trio.Nursery) -> Chooser:
    if options.engine is not None:
        return options.engine
    keyboard = Keyboard()
    nursery.start_soon(keyboard.run)
    return Person(keyboard.line, screen.tell)


def _server(options: Options) -> Server:
    entry, dialect = options.entry, options.dialect
    dial = partial(dialect.open_dialogue, entry)
    return Server(entry.address.place, dial, entry.name, dialect.name, *sought(entry, dialect))


def sought(entry: Entry, dialect: Dialect) -> tuple[str, str]:
    """Return which opponent the player waits for, and why that opponent may take long to come."""
    against = entry.against or entry.address.asked("against")
    table = entry.table or entry.address.asked("table")
    limit = f", and {_LIMIT.format(dialect.name)}" if "games_per_pair" in dialect.rules else ""
    if against is not None:
        if against == entry.name or (dialect.ignores_case and against.casefold() == entry.name.casefold()):
            return repr(against), "two players of one name never meet in the lobby"
        case = (
            "in upper or lower case" if dialect.ignores_case else "spelled just so, in upper and lower case"
        )
        return repr(against), f"it has to be there, {case}, and ask for {entry.name!r} or for anybody"
    if table is not None:
        return f"another player at the table {table!r}", f"who has to name the same table{limit}"
    if entry.name.upper() == "TEST":  # one dialect allows two players of this name to meet
        return "an opponent", ""
    return "an opponent", f"two players called {entry.name!r} never meet there{limit}"


async def _stop_on_signals(
    bot: Bot,
    stopped: list[signal.Signals],
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for number in signals:
            stopped.append(signal.Signals(number))
            bot.stop()
