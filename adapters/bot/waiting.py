"""What the bot waits for, in words, when that takes long.

Knows time, and the stages on the way to a game. Does not know connections: whoever plays says which stage is
on. The rule it keeps: a bot that gets on says nothing, and one that does not is never silent for long.
"""

import math
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import TypeAlias

import trio

FIRST = 5.0
"""Seconds after which the bot says what it waits for."""
LATER = 60.0
"""Seconds after which it says so again, and again."""


class Stage(Enum):
    """A stage on the way to a game."""

    DIALLING = auto()
    """The server is to let the connection in."""
    GREETING = auto()
    """It is to say something in the dialect."""
    LOOKING = auto()
    """It is to find an opponent."""


Words: TypeAlias = Mapping[Stage, str]
"""What is waited for, and what may be wrong."""


class Waiting:
    """How long the bot has been at a stage."""

    def __init__(self, words: Words, tell: Callable[[str], None]) -> None:
        self._words = words
        self._tell = tell
        self._stage: Stage | None = None
        self._changed = trio.Event()

    def at(self, stage: Stage | None) -> None:
        """Wait at a stage, from now on unless that was so before; None while a game is on."""
        if stage is not self._stage:
            self._stage = stage
            self._changed.set()
            self._changed = trio.Event()

    async def run(self) -> None:
        """Tell what is waited for, whenever that takes long. Runs until it is cancelled."""
        while True:
            stage, changed = self._stage, self._changed
            pause = math.inf if stage is None else FIRST
            while not changed.is_set():
                with trio.move_on_after(pause):
                    await changed.wait()
                if stage is not None and not changed.is_set():
                    self._tell(self._words[stage])
                    pause = LATER
