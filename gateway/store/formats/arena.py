"""c4-arena's own record of a game: one line, the winner's digit and the digits of the columns.

1 is the first mover, 2 the second, 0 nobody: a draw, or a game that was aborted or that the server cut short.
Nothing else of a game is in it, so what is read back is only that.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway.game.board import Side
from gateway.store.records import StoredGame, winner_of


@dataclass(frozen=True, slots=True)
class Bare:
    """A game's moves and its winner."""

    moves: str
    winner: Side | None


def write(games: Iterable[StoredGame]) -> Iterator[str]:
    """Yield a line for each game."""
    for game in games:
        yield f"{game.record.result}{game.record.moves}\n"


def read(lines: Iterable[str]) -> Iterator[Bare]:
    """Yield what is known of the games. Raises ValueError."""
    for line in lines:
        text = line.strip()
        if not text or not set(text[1:]) <= set("0123456"):
            raise ValueError(f"no game: {line!r}")
        yield Bare(text[1:], winner_of(int(text[0])))
