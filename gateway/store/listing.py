"""What ``games``, ``show --moves`` and ``standings --cross`` print beyond what the other commands do.

Knows how things look on a terminal; does not know options. No name of a client's reaches a terminal with its
control characters.
"""

from collections.abc import Iterator, Sequence

from gateway.game.board import Board
from gateway.game.text import json_text, printable
from gateway.store import comparing, games, objects
from gateway.store.commands import NO_GAMES, aligned, drawing, rows_of
from gateway.store.comparing import Choice
from gateway.store.database import Database
from gateway.store.formats import jsonl
from gateway.store.games import Filter, NoGameError, Page
from gateway.store.outcomes import outcome
from gateway.store.records import GameRecord, moment
from gateway.store.statistics import Score, Standing

_WIDE = 4
"""Boards that stand beside each other."""
_NONE = Score(0, 0, 0)
_NOBODY = "No such games, or no player with so many of them."
_OWN = ("game", "ended", "result", "opponent", "how", "moves", "seconds")
_BOTH = ("game", "ended", "first", "second", "how", "moves", "seconds")


def list_games(database: Database, wanted: Filter, limit: int, *, as_json: bool = False) -> Iterator[str]:
    """Yield a line for each of the newest `limit` games, the newest first; as JSON what `export` has."""
    with database.reading() as connection:
        found = games.page(connection, wanted, Page(limit=limit))
    if as_json:
        yield from jsonl.write(found)
        return
    if not found:
        yield "No such games.\n"
        return
    head = _BOTH if wanted.player is None else _OWN
    yield from aligned([head, *(_line(each, wanted.player) for each in found)], left=(0, 1, 2, 3, 4))


def latest(database: Database, wanted: Filter) -> str:
    """Return the id of the newest game. Raises StoreError where there is none."""
    with database.reading() as connection:
        found = games.page(connection, wanted, Page(limit=1))
    if not found:
        raise NoGameError(
            "there is no such game" if wanted.player is None else f"{wanted.player!r} has no such game"
        )
    return found[0].game


def move_by_move(database: Database, game: str) -> Iterator[str]:
    """Yield the boards of a game after each of its moves. Raises StoreError where there is no such game."""
    with database.reading() as connection:
        record = games.one(connection, game)
    board, boards = Board(), list[list[str]]()
    for number, column in enumerate(map(int, record.moves), 1):
        board = board.drop(column)
        boards.append([f"  {number}. {column}", *drawing(board).splitlines()])
    for start in range(0, len(boards), _WIDE):
        row = boards[start : start + _WIDE]
        yield "\n"
        for lines in zip(*row, strict=True):
            yield "    ".join(line.ljust(15) for line in lines).rstrip() + "\n"


def some_standings(
    database: Database, choice: Choice, least: int, *, cross: bool = False, as_json: bool = False
) -> Iterator[str]:
    """Yield who stands where in some games, of the players with at least `least` of them.

    With `cross` also what each of them scored against each other one.
    """
    with database.reading() as connection:
        everybody = comparing.compare(connection, choice).standings
        found = [each for each in everybody if each.record.total.games >= least]
        names = [each.name for each in found]
        scores = comparing.scores(connection, choice, names, names) if cross else {}
    firsts = sum((each.record.first for each in everybody), _NONE)
    if as_json:
        said = objects.of_standings(found, firsts)
        met = [
            {"name": one, "opponent": two, **objects.of_score(score)} for (one, two), score in scores.items()
        ]
        yield json_text(said | ({"cross": met} if cross else {}), indent=2) + "\n"
        return
    yield from rows_of(found, firsts, NO_GAMES if choice.is_everything and not firsts.games else _NOBODY)
    if cross and found:
        yield "\nPoints of each against each, of the games that they played:\n\n"
        yield from aligned(_table(found, scores), left=(0, 1))


def _table(found: Sequence[Standing], scores: dict[tuple[str, str], Score]) -> list[list[str]]:
    names = [each.name for each in found]
    rows = [["", "player", *(str(rank) for rank in range(1, len(names) + 1))]]
    for rank, name in enumerate(names, 1):
        rows.append([str(rank), printable(name), *(_points(scores.get((name, other))) for other in names)])
    return rows


def _points(score: Score | None) -> str:
    return "-" if score is None else f"{score.won + score.drawn / 2:g}/{score.games}"


def _line(record: GameRecord, player: str | None) -> tuple[str, ...]:
    said = outcome(record)
    names = [printable(each.name) for each in record.players]
    how, length = said.how, str(len(record.moves))
    seconds = f"{(record.ended - record.began) / 1000:.3f}"
    ended = moment(record.ended)
    if player is None:
        words = f"{names[said.subject]} {said.verb} {names[1 - said.subject]} {how}"
        return (record.game, ended, *names, words, length, seconds)
    own = 0 if record.players[0].name == player else 1
    result = "-" if record.winner is None else "won" if record.winner == own else "lost"
    if record.winner is None and record.counted:
        result = "drawn"
    return (record.game, ended, result, names[1 - own], how, length, seconds)
