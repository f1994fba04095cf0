"""Runs bots as processes, and starts each one again until the check is over.

Knows processes. Does not know what the bots do.
"""

import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import trio

from adapters.check.bots import Bots
from gateway.game.text import visible
from gateway.runtime.children import how_it_ended, last_lines, process, size

_MOST = 100
"""The most times that one bot is started."""
_PAUSE = 0.2
"""Seconds until a bot is started again."""
_KEPT = 2000
"""The most bytes of a bot's stderr that are shown."""
_NOTICE = 10.0
"""Seconds after which the check reports that no bot has connected."""
_QUICK = 3
"""A bot is given up after this many starts in a row without a connection."""


async def keep_running(command: str, address: str, bots: Bots) -> None:
    """Run a bot again and again.

    Returns after `_MOST` starts, or after `_QUICK` starts in a row without a connection. Raises OSError if
    the program does not exist.
    """
    with TemporaryDirectory(prefix="c4gateway-") as place:
        log = Path(place, "stderr")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_remind, f"{command!r} has not connected to {address}", bots, log)
            await _run(command, _words(command, address), bots, log)
            nursery.cancel_scope.cancel()


async def _run(command: str, words: list[str], bots: Bots, log: Path) -> None:
    failures = 0
    for _ in range(_MOST):
        before, since = bots.connections, size(log)
        async with process(words, log) as bot:
            status = await bot.wait()
        how = how_it_ended(status)
        failures = failures + 1 if bots.connections == before else 0
        if failures == _QUICK:
            _tell(f"{command!r} {how}, without a connection", log, since)
            bots.give_up()
            return
        await trio.sleep(_PAUSE)  # after this pause, the check has also seen the end of the connection
        if status and not failures:
            bots.failed(command, how, _end_of(log, since))
        await bots.process_ended()


async def _remind(what: str, bots: Bots, log: Path) -> None:
    """Print a warning if no bot has connected after `_NOTICE` seconds: the address may be wrong."""
    await trio.sleep(_NOTICE)
    if not bots.connections:
        _tell(f"{what} after {_NOTICE:g} s", log, 0)


def _tell(what: str, log: Path, since: int) -> None:
    """Print what is wrong with a bot, and its last lines on stderr."""
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
    """Return the last lines of the bot's log, without its first `since` bytes."""
    return [visible(line) for line in last_lines(log, since, _KEPT)]
