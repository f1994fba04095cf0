"""What ``games`` and ``show --moves`` print.

Knows how things look on a terminal; does not know options. No name of a client's reaches a terminal with its
control characters.
"""

from collections.abc import Iterator

from gateway.game.board import Board
from gateway.game.text import printable
from gateway.store import games
from gateway.store.commands import aligned, drawing
from gateway.store.database import Database
from gateway.store.formats import jsonl
from gateway.store.games import Filter, NoGameError, Page
from gateway.store.outcomes import outcome
from gateway.store.records import GameRecord, moment

_WIDE = 4
"""Boards that stand beside each other."""
_OWN = ("game", "ended", "result", "opponent", "how", "moves", "seconds")
_BOTH = ("game", "ended", "first", "second", "how", "moves", "seconds")


def list_games(database: Database, wanted: Filter, limit: int, *, as_json: bool = False) -> Iterator[str]:
    """Yield a line for each of the newest `limit` games, the newest first; as JSON what `export` has.

    Raises StoreError for a player whom no stored game has.
    """
    with database.reading() as connection:
        games.check_players(connection, wanted)
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
        games.check_players(connection, wanted)
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
