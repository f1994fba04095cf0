"""Analyses of stored games by a solver: the scores of all positions, and what follows from them.

Knows the tables; does not know the solver, or what a score means (`gateway.game.evaluation`). Either all
positions of a game are stored with their scores, or none.
"""

import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select, text

from gateway.game.board import COLUMNS, Side, other
from gateway.game.evaluation import Evaluation, Scores, Turned, better_columns, evaluations, turned
from gateway.game.ids import GameId
from gateway.store.games import one
from gateway.store.records import GameRecord, Solved, winner_of
from gateway.store.schema import analyses, games

PAGE = 1_000
"""The most games that one query looks at."""
_FULL = 0
"""The byte for a column that is full."""
_EVEN = 64
"""The byte for the score 0."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What perfect play says of a game."""

    scores: Sequence[Scores | None]
    """The scores of each position in which a move was due; None for one that was not solved."""
    evaluations: Sequence[Evaluation | None]
    """The evaluation of each position, from the start to that after the last move."""
    turned: Sequence[Turned]
    """The moves that made the result worse for the side that made them."""
    mistake: Turned | None
    """The loser's last such move; None if there is none, or nobody lost."""


def analysis_of(moves: str, winner: Side | None, scores: Sequence[Scores | None]) -> Analysis:
    """Return what the scores of a game's positions say of it."""
    known = evaluations(moves, scores)
    found = list[Turned]()
    for each in turned(known):
        position = scores[each.move - 1]
        if position:
            found.append(Turned(each.move, each.was, each.became, better_columns(position)))
    loser = None if winner is None else other(winner)
    mistake = next((each for each in reversed(found) if each.side == loser), None)
    return Analysis(scores, known, found, mistake)


def of(connection: Connection, ids: Iterable[GameId]) -> dict[GameId, Analysis]:
    """Return the analyses of those of the games that have one."""
    found = dict[GameId, Analysis]()
    for game, moves, result, scores in connection.execute(_NAMED, {"ids": [*ids]}):
        with suppress(ValueError):  # damaged, which is as if there were none
            found[game] = analysis_of(moves, winner_of(result), unpacked(Solved(game, moves, scores)))
    return found


class Backlog:
    """Finds the stored games that have no analysis, the newest first."""

    def __init__(self, page: int = PAGE) -> None:
        """Look at `page` games at most with each query."""
        self._page = page
        self._newest = 0, ""
        """The number and the id of the newest game that was seen."""
        self._ranges = list[tuple[int, int]]()
        """The first and last numbers of games that were not looked at yet; the newest games are last."""

    def next(self, connection: Connection) -> GameRecord | None:
        """Return the next game; None if all others were returned before, or have an analysis."""
        self._see_new_games(connection)
        while self._ranges:
            first, last = self._ranges.pop()
            start = max(first, last + 1 - self._page)
            query = select(games.c.id, games.c.game).join(analyses, isouter=True)
            query = query.where(games.c.id.between(start, last), analyses.c.game.is_(None))
            found = connection.execute(query.order_by(games.c.id.desc()).limit(1)).first()
            if (last := start - 1 if found is None else found.id - 1) >= first:
                self._ranges.append((first, last))
            if found is not None:
                return one(connection, found.game)
        return None

    def _see_new_games(self, connection: Connection) -> None:
        number, game = self._newest
        at = select(games.c.game).where(games.c.id == number)
        if number and connection.scalar(at) != game:  # all games were removed, so the numbers begin again
            number = 0
            self._ranges.clear()
        latest = select(games.c.id, games.c.game).order_by(games.c.id.desc()).limit(1)
        for last, name in connection.execute(latest):
            if last > number:
                self._ranges.append((number + 1, last))
            number, game = last, name
        self._newest = number, game


def store(connection: Connection, solved: Iterable[tuple[Solved, Sequence[Scores]]]) -> None:
    """Store analyses, except of games that are not stored, have other moves now, or have an analysis already.

    The connection's transaction must exclude other writers.
    """
    for each, scores in solved:
        query = select(games.c.id, games.c.result).where(
            games.c.game == each.game, games.c.moves == each.moves
        )
        for number, result in connection.execute(query).all():
            found = analysis_of(each.moves, winner_of(result), scores)
            lost_by = None if found.mistake is None else found.mistake.move
            values = {"scores": each.scores, "turned": len(found.turned), "lost_by": lost_by}
            connection.execute(_INSERT, {"game": number, **values})


def packed(scores: Iterable[Scores]) -> bytes:
    """Encode the scores of all positions of a game: a byte for each column, compressed."""
    plain = bytes(
        _EVEN + position[column] if column in position else _FULL
        for position in scores
        for column in range(COLUMNS)
    )
    return zlib.compress(plain, 9)


def unpacked(solved: Solved) -> Sequence[Scores]:
    """Decode the scores of a game. Raises ValueError if they are damaged, or not those of its moves."""
    try:
        plain = zlib.decompress(solved.scores)
    except zlib.error as error:
        raise ValueError(f"not the scores of a game: {error}") from error
    scores = [
        {column: byte - _EVEN for column, byte in enumerate(plain[start : start + COLUMNS]) if byte != _FULL}
        for start in range(0, len(plain), COLUMNS)
    ]
    played = [int(digit) in position for digit, position in zip(solved.moves, scores, strict=False)]
    if len(scores) - len(solved.moves) not in (0, 1) or not all(played):
        raise ValueError("not the scores of this game")
    return scores


_NAMED = (
    select(games.c.game, games.c.moves, games.c.result, analyses.c.scores)
    .join(games, analyses.c.game == games.c.id)
    .where(games.c.game.in_(bindparam("ids", expanding=True)))
)
_INSERT = text(
    "INSERT INTO analyses (game, scores, turned, lost_by) VALUES (:game, :scores, :turned, :lost_by)"
    " ON CONFLICT DO NOTHING"
)
