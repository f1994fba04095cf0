"""The processes of a match: a bot's, and the one in which two engines play.

Knows their command lines, and what is said to the latter. Does not know what a game is.
"""

import json
import shlex
from typing import Any

import trio

from adapters.dialects import DIALECTS
from gateway.runtime.children import how_it_ended
from gateway.runtime.processes import running

WORKER = running("gateway.match.worker")
BOT = running("adapters.bot")


class Died(Exception):
    """A process has ended that had more to do."""


class Late(Exception):
    """A process has not answered in its time."""


def is_command(text: str) -> bool:
    """Whether a player is a command: it wants to be told a port. All others are engines."""
    return "{port}" in text


def command(text: str, name: str, host: str, port: int) -> list[str]:
    """Return the words of a bot's command. Raises ValueError where quotes do not match."""
    places = {"{host}": host, "{port}": str(port), "{name}": name}
    words = shlex.split(text)
    for place, value in places.items():
        words = [word.replace(place, value) for word in words]
    return words


def engine(text: str, name: str, address: str, think: float | None) -> list[str]:
    """Return the words of the c4bot that plays an engine against a bot, without a clock of its own."""
    (dialect,) = (each for each in DIALECTS if not each.scheme)
    thinking = () if think is None else ("--think", str(think))
    return [*BOT, dialect.option, address, "--engine", text, "--name", name, "--games", "0", *thinking]


class Worker:
    """The process in which two engines play, from here."""

    def __init__(self, started: trio.Process) -> None:
        self._process = started
        self._rest = b""

    async def say(self, words: object) -> None:
        """Send a line. Raises Died."""
        assert self._process.stdin is not None
        try:
            await self._process.stdin.send_all(json.dumps(words).encode() + b"\n")
        except trio.BrokenResourceError:
            raise Died(how_it_ended(await self._process.wait())) from None

    async def answer(self, seconds: float) -> Any:
        """Return what the next line says. Raises Died, Late."""
        assert self._process.stdout is not None
        while b"\n" not in self._rest:
            data = None
            with trio.move_on_after(seconds):
                data = await self._process.stdout.receive_some()
            if data is None:
                raise Late
            if not data:
                raise Died(how_it_ended(await self._process.wait()))
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)
