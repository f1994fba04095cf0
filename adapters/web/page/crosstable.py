"""The cross-table of a tournament: the games of each player against each other one.

Pure. A report is as `gateway.tournament.report.described` returns it, live games as in the live stream.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.web.live.state import Json
from adapters.web.page import charts
from adapters.web.page.sentences import badge
from gateway.game.board import Side
from gateway.game.ids import GameId
from gateway.store.records import GameRecord
from gateway.store.statistics import Score


@dataclass(frozen=True, slots=True)
class CellGame:
    """A game in a cell."""

    game: GameId
    side: Side
    """The side of the row's player."""
    moves: int | None
    """The number of its moves; None if it is not known."""
    badge: str
    """The word on the badge of the row's player."""


@dataclass(slots=True)
class Cell:
    """A cell: the games of one player against another one."""

    points: float = 0.0
    lost: float = 0.0
    """The points of the other player."""
    games: list[CellGame] = field(default_factory=list)
    is_on: bool = False

    @property
    def step(self) -> str:
        """The style of the cell; empty before the first result."""
        # A score counts whole games, so each half point stands for a game that was won or lost.
        score = Score(games=round(2 * (self.points + self.lost)), won=round(2 * self.points), drawn=0)
        return charts.step(score) if score.games else ""


def cross_table(
    pairings: Sequence[Mapping[str, Any]], on: Mapping[int, Json], stored: Mapping[GameId, GameRecord]
) -> dict[tuple[str, str], Cell]:
    """Return the cells by the names of the player and of its opponent.

    `on` are the live games by the numbers of their pairings, and `stored` the stored games by their ids.
    """
    cells = dict[tuple[str, str], Cell]()
    for each in pairings:
        for side in (0, 1):
            name, other = each["players"][side], each["players"][1 - side]
            cell = cells.setdefault((name, other), Cell())
            cell.points += each["points"][side]
            cell.lost += each["points"][1 - side]
            cell.games += [_game(game, name, stored.get(game["game"])) for game in each["games"]]
            cell.is_on = cell.is_on or each["number"] in on
    return cells


def _game(game: Mapping[str, Any], name: str, record: GameRecord | None) -> CellGame:
    side: Side = 0 if game["first"] == name else 1
    if record is not None:
        return CellGame(game["game"], side, len(record.moves), badge(record, side))
    word = "drawn" if not game["winner"] else "won" if game["winner"] == side + 1 else "lost"
    return CellGame(game["game"], side, None, word)
