"""The processes of bots that a check starts, again and again until it is over.

Knows processes. Does not know what the bots do.
"""

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol
from urllib.parse import urlsplit

import trio

from gateway.game.text import visible
from gateway.runtime.children import how_it_ended, last_lines, process, size

_MOST = 100
"""Starts of one bot."""
_PAUSE = 0.2
"""Seconds until a bot is started again."""
_KEPT = 2000
"""Bytes of a bot's stderr that are shown."""
_NOTICE = 10.0
"""Seconds until it is told that no bot has connected."""
_QUICK = 3
"""Starts one after the other that come to no connection before the bot is given up."""


class Desk(Protocol):
    """Where the bots come."""

    def connections(self) -> int:
        """Return how many connections there have been."""

    def give_up(self) -> None:
        """Note that a bot cannot come."""

    def failed(self, command: str, how: str, words: Sequence[str]) -> None:
        """Note how a bot that had connected ended, where it failed, and the lines that it said last."""


def command(text: str) -> str:
    """Return what starts a bot. Raises ValueError if quotes do not match, or there is nothing."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
    if not any(words[:1]):
        raise ValueError("give the command that starts the bot")
    return text


async def keep_running(command: str, address: str, desk: Desk) -> None:
    """Run a bot, again and again, until it is cancelled, or keeps ending without a connection.

    Raises OSError if there is no such program.
    """
    with TemporaryDirectory(prefix="c4gateway-") as place:
        log = Path(place, "stderr")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_remind, f"{command!r} has not connected to {address}", desk.connections, log)
            await _run(command, _words(command, address), desk, log)
            nursery.cancel_scope.cancel()


async def _run(command: str, words: list[str], desk: Desk, log: Path) -> None:
    failures = 0
    for _ in range(_MOST):
        before, since = desk.connections(), size(log)
        async with process(words, log) as bot:
            status = await bot.wait()
        how = how_it_ended(status)
        failures = failures + 1 if desk.connections() == before else 0
        if failures == _QUICK:
            _tell(f"{command!r} {how}, without a connection", log, since)
            desk.give_up()
            return
        await trio.sleep(_PAUSE)  # and so the end of its connection has been seen, too
        if status and not failures:
            desk.failed(command, how, _end_of(log, since))


async def _remind(what: str, connections: Callable[[], int], log: Path) -> None:
    """Tell of a bot that has not come after a while: it may be looking for the server elsewhere."""
    await trio.sleep(_NOTICE)
    if not connections():
        _tell(f"{what} after {_NOTICE:g} s", log, 0)


def _tell(what: str, log: Path, since: int) -> None:
    """Print what is wrong with a bot, and what it said last."""
    said = _end_of(log, since)
    print(f"{what}{':' if said else ', and has said nothing'}", *said, sep="\n", file=sys.stderr)


def _words(command: str, address: str) -> list[str]:
    place = urlsplit(address if "//" in address else f"//{address}")
    host, port = place.hostname or "", str(place.port)
    return [
        word.replace("{address}", address).replace("{host}", host).replace("{port}", port)
        for word in shlex.split(command)
    ]


def _end_of(log: Path, since: int) -> list[str]:
    """Return the last lines that the bot wrote since its log had a size."""
    return [visible(line) for line in last_lines(log, since, _KEPT)]
