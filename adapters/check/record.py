"""What went over the wires of one bot, and the faults that were seen there.

Knows texts, and when they went. Does not know what they mean.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from adapters.client.rules import Topic

HUNG_UP = "it hung up"
"""How the words of a fault begin that is about this."""
KEPT = 14
"""Lines that are shown of what led to a fault."""
_LONGEST = 160


@dataclass(eq=False, slots=True)
class HangUp:
    """The end of a connection, by the bot."""

    at: float
    crash: str = ""
    """How the bot's process failed then; empty where nobody knows that it did."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that a bot did wrong."""

    topic: Topic
    words: str
    scenario: str
    """The title of the game in which it happened; empty outside of any."""
    exchange: tuple[str, ...]
    """What went over the wire until then, as lines for people."""
    is_grave: bool = True
    """Whether the bot is wrong; otherwise it is only remarked."""
    is_stall: bool = False
    """Whether it is that the bot did not go on."""
    hang_up: HangUp | None = None
    """The end of the connection, if it is that the bot has hung up."""

    @property
    def is_crash(self) -> bool:
        """Whether the bot hung up because its process failed."""
        return self.hang_up is not None and bool(self.hang_up.crash)

    @property
    def seen(self) -> str:
        """What was seen, for people: the words, and how the bot crashed if it did."""
        if self.hang_up is None or not self.hang_up.crash:
            return self.words
        return f"{self.words.replace(HUNG_UP, 'it crashed', 1)}: {self.hang_up.crash}"


class Exchange:
    """The latest that went over one connection."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now, self._began = now, now()
        self.latest = ""
        """What the bot said last."""
        self._lines: deque[str] = deque(maxlen=KEPT)

    def heard(self, text: str) -> None:
        """Note what the bot said."""
        self.latest = text.rstrip("\r\n")
        self._add("->", text)

    def said(self, text: str) -> None:
        """Note what the bot was told."""
        self._add("<-", text)

    def note(self, words: str) -> None:
        """Note something that is no text."""
        self._add("--", words)

    def lines(self) -> tuple[str, ...]:
        """Return what is kept, the latest last."""
        return tuple(self._lines)

    def _add(self, way: str, text: str) -> None:
        text = text.rstrip("\r\n")
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}... ({len(text)} characters)"
        self._lines.append(f"{1000 * (self._now() - self._began):7.0f}  {way}  {text}")
