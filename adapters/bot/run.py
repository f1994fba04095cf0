"""What the command ``c4bot`` does once its options are read: games played, a summary out."""

import random
import signal
import sys
from functools import partial

import trio

from adapters.bot.bot import Bot, Server
from adapters.bot.choosers import Chooser, Keyboard, Person
from adapters.bot.options import Options
from adapters.bot.play import Ending, Kind
from adapters.bot.screen import Screen
from adapters.bot.totals import Totals
from adapters.client.dialect import Dialect
from adapters.client.talk import Entry
from gateway.options.arguments import in_one_line, let_output_take_any_text

_LIMIT = "c4gateway lets two {} players meet 20 times, unless its --games-per-pair is another"


def run(options: Options) -> int:
    """Play; return the exit status.

    0 when the games are played or the person at the prompt left, 1 when the server is not there or does not
    want the player, 128 and its number after a signal.
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
    except* OSError as errors:  # nobody reads what is printed
        screen.warn(f"error: {in_one_line(errors)}")
        sys.stdout = None  # the interpreter would try once more at its end
    except* KeyboardInterrupt:  # before anybody listened for it, or after
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
    """Return how the play ended: by itself, or by a signal."""
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
    """Return which opponent the player waits for, and why that one may be long in coming."""
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
    if entry.name.upper() == "TEST":  # there is a dialect in which two of these may meet
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
