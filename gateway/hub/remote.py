"""A series that a player of this node has on another node, as far as this one knows of it.

Knows the way there, the open request and its time. Does not know the rules: the other node holds the game.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from gateway.game.board import Board
from gateway.game.commands import Command, Enter
from gateway.game.events import Started, ToMove
from gateway.game.results import Player
from gateway.matchmaking.matchmaker import Hosted


class RemoteGame(Protocol):
    """The way to the node where a player of this one has its series. MUST NOT block or raise."""

    def submit(self, command: Command, request: int, used: float) -> None:
        """Send a command. A move answers the open request of that number, for which it took `used` seconds.

        The number is 0 where the client was asked for no move.
        """

    def flag(self, request: int, used: float) -> None:
        """Say that the time for the open request is up, which has run for `used` seconds."""

    def leave(self) -> None:
        """Say that the player is there no more. Nothing follows."""


@dataclass(eq=False, slots=True)
class Away:
    """In a series on another node, as far as the player has heard of it."""

    match: Hosted
    game: RemoteGame
    player: Player
    opponent: Player
    rounds: int = 0
    """How many games have begun."""
    begun: Started | None = None
    """The game that is on."""
    began: float = 0.0
    """When the player heard of that."""
    board: Board = field(default_factory=Board)
    thought: float = 0.0
    """Seconds that the player has thought in this game."""
    ready: bool = True
    """Whether the player is ready for the next round."""
    request: ToMove | None = None
    """The open request to move."""
    handed: float | None = None
    """When that left for the client."""
    asked: Enter | None = None
    """A wish for the next round that has no answer yet."""

    @property
    def names(self) -> tuple[str, str]:
        """The player's own name in the series, and the opponent's."""
        return self.player.name, self.opponent.name

    def begin(self, started: Started, now: float) -> None:
        """Let a game be on."""
        self.begun, self.began = started, now
        self.rounds += 1
        self.board, self.thought = Board(), 0.0

    def ask(self, command: Enter) -> None:
        """Wait for the answer to a wish for the next round."""
        self.asked = command

    def join(self) -> None:
        """Be ready for the next round."""
        self.ready, self.asked = True, None

    def open(self, request: ToMove) -> None:
        """Let a move be asked for."""
        self.request, self.handed, self.board = request, None, request.board

    def see(self, board: Board) -> None:
        """Take the board as it is now."""
        self.board = board

    def run(self, now: float) -> None:
        """Let the player's time run: the open request has left for the client."""
        self.handed = now

    def used(self, now: float) -> float:
        """Return for how many seconds the time for the open request has run."""
        return 0.0 if self.handed is None else max(0.0, now - self.handed)

    def answered(self, now: float) -> tuple[int, float]:
        """Close the open request; return its number, 0 where none is open, and the seconds it took."""
        request, used = self.request, self.used(now)
        self.request = self.handed = None
        self.thought += used
        return 0 if request is None else request.number, used

    def move(self, column: int | None) -> None:
        """Let the player's own move count, where the game goes on with it: it may be the last that is known.

        Whether it ends the game the other node says.
        """
        with suppress(ValueError):
            board = self.board.drop(-1 if column is None else column)
            self.board = self.board if board.over else board

    def over(self, *, ready: bool) -> None:
        """Let the game be over."""
        self.begun, self.ready = None, ready
        self.request = self.handed = None
