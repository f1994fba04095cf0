"""Bots that play the drawn game over and over, and time how long its moves and results take.

A bot moves at once, or in its turn so that each pair makes a move in so many seconds. Does not know what is
done to the server meanwhile.
"""

import math
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

from conformance.dialects.script import DRAWN, Place, Wish
from conformance.lab.book import Book, Turn
from conformance.lab.bots import Bot
from conformance.lab.group import Group
from conformance.targets import Address

MOVES = len(DRAWN.moves)


@dataclass(slots=True)
class Times:
    """What all bots did since it was cleared. In seconds."""

    moves: list[float] = field(default_factory=list)
    """From a move's being sent to the opponent's hearing of it: of each move but a game's last."""
    lasts: list[float] = field(default_factory=list)
    """The same for the last moves."""
    results: list[float] = field(default_factory=list)
    """From a last move's being sent to a player's hearing of the result: two for each game."""

    def clear(self) -> None:
        self.moves.clear()
        self.lasts.clear()
        self.results.clear()


class TimedGroup(Group["TimedBot"]):
    """Timed bots. Subclasses say what becomes of those that ask for more than a move."""

    def __init__(self) -> None:
        super().__init__()
        self.times = Times()
        self.interval: float | None = None
        """Seconds between two moves of one pair; None: moves are sent at once."""

    def ask_again(self, bot: "TimedBot") -> None:
        """Let the bot ask for its next game."""
        bot.ask()

    def find(self, bot: "TimedBot", name: str) -> "TimedBot":
        """Return the bot of this name, which `bot` is to play. Raises OutOfStep."""
        for other in self.members:
            if other.wish.name == name:
                return other
        raise bot.wrong(f"was paired with {name}, which is none of us")

    def come_back(self, bot: "TimedBot") -> None:
        """Connect a bot that was hung up on after a series. Raises OutOfStep."""
        raise bot.wrong("was hung up on between two games")


class TimedBot(Bot):
    """One player. `peer` is its opponent; until the two have met, the one it is to meet."""

    def __init__(self, book: Book, wish: Wish, address: Address, group: TimedGroup) -> None:
        super().__init__(book, wish, address)
        self.peer = self
        self.sent_at = math.inf  # a bot that has not come in yet is not waited for
        """When it sent its latest move."""
        self.due = 0.0
        """When it was to send that, where moves are paced."""
        self.games = 0
        """How many results it was told."""
        self.closed_at = 0.0
        """When the last move of the latest of these games was sent."""
        self._group = group
        self._times = group.times

    def connect(self) -> int:
        number = super().connect()
        self.sent_at = perf_counter()  # it may be let in later, and is not still until then
        return number

    def ask(self) -> None:
        """Ask for another game. Raises OutOfStep."""
        self.sent_at = perf_counter()
        self.say(self.book.script.opening(self.wish))

    def send(self, move: bytes) -> None:
        """Make a move. Raises OutOfStep."""
        self.sent_at = perf_counter()
        self.say(move)

    def meets(self, opponent: str) -> None:
        self.peer = self._group.find(self, opponent)

    def come_back(self) -> None:
        self._group.come_back(self)

    def take(self, turn: Turn, before: Place) -> None:
        now = perf_counter()
        if turn.outcome is not None or (turn.told and turn.place.discs == MOVES and not turn.move):
            self._count_end(turn, before, now)
        elif turn.told:
            self._times.moves.append(now - self.peer.sent_at)
        if turn.move:
            if self._group.interval is None:
                self.send(turn.move)
            else:
                self._send_in_turn(turn.move, now, self._group.interval)
        elif turn.again:
            self._group.ask_again(self)

    def _send_in_turn(self, move: bytes, now: float, interval: float) -> None:
        """Send a move when the pair's interval has passed since its latest was due."""
        self.due = (
            max(self.due, self.peer.due) + interval
        )  # one bot makes a game's last move and the next's first
        if interval and (late := now - self.due) > interval:
            # A whole turn was missed. Pairs keep to their own beat all the same, or they would fall into one.
            self.due += late // interval * interval
        self._group.at(self.due, partial(self.send, move))

    def _count_end(self, turn: Turn, before: Place, now: float) -> None:
        """Count a game's last move, its result, or both; and the next game's first if it came behind them."""
        times, told = self._times, turn.told
        closed_at = self._last_move_at(before)
        if told and before.opens and before.discs < MOVES:  # the last of 42 moves is the other's
            times.lasts.append(now - closed_at)
            told -= 1
        if turn.outcome is not None:
            times.results.append(now - closed_at)
            self.closed_at = closed_at
            self.games += 1
            self.has_played = True
        if told:
            times.moves.append(now - self.peer.sent_at)

    def _last_move_at(self, place: Place) -> float:
        """Return when the last move of the game was sent whose result this player has yet to hear."""
        if not place.opens:
            return self.sent_at
        return self.peer.closed_at if self.peer.games > self.games else self.peer.sent_at
