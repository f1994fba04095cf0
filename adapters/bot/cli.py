"""The command ``c4bot``: options in, games played, a summary out."""

import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial

import trio

from adapters.bot import arena, droidcon, nac4
from adapters.bot.bot import Bot, Server
from adapters.bot.options import Options, parse
from adapters.bot.play import Ending, Hearing, Kind
from adapters.bot.player import Keyboard, Person, Player
from adapters.bot.screen import Screen
from adapters.bot.tally import Tally
from gateway.server.arguments import in_one_line, let_output_take_any_text

LOBBY = "lobby"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play; return the exit status.

    0 when the games are played or the person at the prompt left, 1 when the server is not there or does not
    want the player, 128 and its number after a signal.
    """
    options = parse(arguments)
    let_output_take_any_text()
    tally = Tally(options.games)
    screen = Screen(shows_games=options.verbose or options.engine is None)
    status = 1
    try:
        ending = trio.run(_play, options, tally, screen)
        status = _status(ending, screen)
        if tally.begun or status != 1:
            screen.say(tally.summary())
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


async def _play(options: Options, tally: Tally, screen: Screen) -> Ending | signal.Signals:
    """Return how the play ended: by itself, or by a signal."""
    stopped: list[signal.Signals] = []
    async with trio.open_nursery() as nursery:
        bot = Bot(_server(options), _player(options, screen, nursery), tally, screen)
        await nursery.start(_stop_on_signals, bot, stopped)
        ending = await bot.run(reconnect=options.reconnect)
        nursery.cancel_scope.cancel()
    return stopped[0] if stopped else ending


def _player(options: Options, screen: Screen, nursery: trio.Nursery) -> Player:
    if options.engine is not None:
        return options.engine
    keyboard = Keyboard()
    nursery.start_soon(keyboard.run)
    return Person(keyboard.line, screen.tell)


def _server(options: Options) -> Server:
    address = options.address
    dial: Callable[[], AbstractAsyncContextManager[Hearing]]
    match options.dialect:
        case "nac4":
            url = address.url(table=options.table, against=options.against)
            dial = partial(nac4.open_line, url, options.name)
        case "arena":
            wish = arena.Wish(options.name, options.against, options.table)
            dial = partial(arena.open_line, address.url(), wish, options.encoding)
        case _:
            channel = options.table or LOBBY if options.against is None else f"@{options.against}"
            dial = partial(droidcon.open_line, address.host, address.port, options.name, channel)
    return Server(address.place, dial, options.name, options.dialect, sought(options))


def sought(options: Options) -> str:
    """Return whom the player waits for, and what they have to do."""
    against = options.against or options.address.asked("against")
    table = options.table or options.address.asked("table")
    if against is not None:
        return f"{against!r}, who has to come there and ask for {options.name!r} or for anybody"
    if table is not None:
        return f"another player at the table {table!r}"
    return "an opponent"


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
