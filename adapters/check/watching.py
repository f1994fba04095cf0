"""A codec and a translator that tell what passes through them, and change nothing.

So a bot that is checked talks with the server that it is going to play on.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from adapters.check.record import Exchange
from adapters.client.contract import Codec, Farewell, Translator, WireError
from gateway.game.commands import Command
from gateway.game.events import Dismissed, Event
from gateway.game.manners import Manners


class Watcher(Protocol):
    """Hears what a bot says and is told."""

    exchange: Exchange
    speaks_as_original: bool
    """Whether the bot is told what the original server would tell."""

    def unreadable(self, text: str) -> None:
        """Hear that the bot said something that is no message."""

    def told(self, event: Event, asked: object) -> None:
        """Hear of an event that the bot is told of; of a refusal, with its message."""


class WatchedCodec:
    """A codec that keeps a record."""

    def __init__(self, codec: Codec[Any, Any], watcher: Watcher) -> None:
        self._codec, self._watcher = codec, watcher

    def decode(self, text: str) -> Any:
        """Return the message that `text` is. Raises WireError."""
        self._watcher.exchange.heard(text)
        try:
            return self._codec.decode(text)
        except WireError:
            self._watcher.unreadable(text)
            raise

    def encode(self, message: Any) -> str:
        """Return the text of a message."""
        text = self._codec.encode(message)
        self._watcher.exchange.said(text)
        return text


class WatchedTranslator:
    """A translator whose events are watched; the watcher says which of two speaks."""

    def __init__(self, usual: Translator[Any, Any], original: Translator[Any, Any], watcher: Watcher) -> None:
        self._usual, self._original, self._watcher = usual, original, watcher

    @property
    def manners(self) -> Manners:
        """What the bot expects."""
        return self._usual.manners

    def receive(self, message: Any, number: int = 0) -> Command:
        """Return what the bot asks for."""
        return self._usual.receive(message, number)

    def observe(self, event: Event, asked: Any = None) -> Iterable[Any]:
        """Return what the bot is told of `event`."""
        self._watcher.told(event, asked)
        usual, original = list(self._usual.observe(event, asked)), list(self._original.observe(event, asked))
        return original if self._watcher.speaks_as_original else usual

    def farewell(self, dismissed: Dismissed) -> Farewell:
        """Return how to hang up on the bot."""
        return self._usual.farewell(dismissed)
