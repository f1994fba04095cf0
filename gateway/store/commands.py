"""What the commands on a database print: pieces of text, to be written as they come.

Knows how things look on a terminal; does not know options, or where the text goes. Nothing that a client made
up, a name or a message, reaches a terminal with its control characters.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from gateway.game.board import COLUMNS, ROWS, Board
from gateway.game.ids import GameId
from gateway.game.text import printable
from gateway.store import StoreError, games, storing
from gateway.store.database import Database, back_up
from gateway.store.evidence import Both, Exchange
from gateway.store.formats import jsonl, pgn, sheet
from gateway.store.games import Filter, NoGameError, Page
from gateway.store.presentation import outcome
from gateway.store.records import GameRecord, Participant, TakenUp, moment
from gateway.store.storing import store_lines
from gateway.store.totals import Totals


def arena_lines(games: Iterable[GameRecord]) -> Iterator[str]:
    """Yield c4-arena's own record of each game: the digit of its result, and the columns."""
    return (f"{game.result}{game.moves}\n" for game in games)


FORMATS: dict[str, Callable[[Iterable[GameRecord]], Iterator[str]]] = {
    "csv": sheet.write,
    "jsonl": jsonl.write,
    "pgn": pgn.write,
    "arena": arena_lines,
}

_DISCS = ("X", "O")
_ARROWS = {"in": "->", "out": "<-"}
_AT_ONCE = 500
"""Lines that are imported by the same statements."""
_OTHER_EXPORT = re.compile(
    rb'(?P<csv>(\xef\xbb\xbf)?"?id"?[,;\t]"?began)|(?P<pgn>\[Event ")|(?P<arena>[0-2][0-6]*\s*$)'
)
"""How an export begins that cannot be imported."""
_JSON_LINES = "import reads JSON lines: make them with export --format jsonl"
_SHOWN = 20
"""So many lines that could not be imported are named."""
NEW = 2000
"""Milliseconds after the end of a game in which its evidence is still to be expected."""


class RefusedError(StoreError):
    """Some lines could not be imported. Its text has a line for each of the first."""

    def __init__(self, refused: Sequence[tuple[int, str]], hint: str = "") -> None:
        shown = [f"line {number}: {why}" for number, why in sorted(refused)[:_SHOWN]]
        more = len(refused) - len(shown)
        last = [f"and {plural(more, 'line')} more"] if more else []
        super().__init__("\n".join(shown + last + ([hint] if hint else [])))


def show(database: Database, game: GameId) -> Iterator[str]:
    """Yield a game: board, moves, reason, and what was said on either side. Raises StoreError for none."""
    with database.reading() as connection:
        record, both = games.one(connection, game), games.evidence_of(connection, game)
    yield f"game {record.game}: {_outcome(record, both)}\n{_circumstances(record)}\n\n"
    yield from aligned([_player(record, side) for side in (0, 1)], left=(0, 1, 2, 3))
    yield f"\n{drawing(record.board())}\n\nmoves {record.moves or 'none'}\n"
    yield f"position {f'{record.position} (columns from 1)' if record.position else 'none'}\n"
    for player, exchange in zip(record.players, both, strict=True):
        yield "\n"
        is_new = 1000 * time.time() - record.ended < NEW
        yield from _conversation(player, exchange, "nothing is kept yet" if is_new else "nothing is kept")


def export(database: Database, form: str, wanted: Filter) -> Iterator[str]:
    """Yield the games in one of `FORMATS`, the oldest first, a page of them in memory at most.

    Raises StoreError for a player whom no stored game has.
    """
    with database.reading() as connection:
        games.check_players(connection, wanted)
    yield from FORMATS[form](games.every(database.reading, wanted))


def backup(where: str, target: str) -> Iterator[str]:
    """Copy a database of SQLite's to a new file; say what is in it."""
    count, size = back_up(where, target)
    yield f"{printable(target)}: {plural(count, 'game')}, {size / 1e6:.1f} MB\n"


def recount(database: Database) -> Iterator[str]:
    """Compute all totals, tallies and ratings again from the games alone; put right what differs, and say so.

    Keeps all writers waiting meanwhile, 30 s for a million games: for a database that no server writes to.
    """
    rerated = 0
    with database.writing() as connection:
        kept, counted = storing.totals_kept(connection), Totals()
        for lacking in storing.replay(connection, counted):
            storing.rerate(connection, lacking)
            rerated += len(lacking)
        if kept != counted:
            storing.rewrite(connection, counted)
    games_counted = sum(tally.games for tally in counted.tallies.values())
    found = "as kept" if kept == counted else "not as kept; now they are"
    of = f"{plural(len(counted.accounts), 'player')} in {plural(games_counted, 'game')}"
    yield f"totals and ratings of {of}: {found}\n"
    if rerated:
        yield f"ratings after each game: {plural(rerated, 'game')} had none; now all have them\n"


def add(database: Database, lines: Iterable[bytes]) -> Iterator[str]:
    """Store the games of an export or a journal in their order, with their totals; say how many are new.

    A game that is stored already is passed over. Raises RefusedError, at the end, where some lines could not
    be stored, and StoreError, at once, for an export in another format. Keeps all writers waiting meanwhile,
    as `recount` does.
    """
    beginning = [*islice(lines := iter(lines), 1)]
    if beginning and (other := _OTHER_EXPORT.match(beginning[0])):
        raise StoreError(f"this is a {other.lastgroup} export, which only goes out; {_JSON_LINES}")
    numbered, came = enumerate(chain(beginning, lines), 1), TakenUp()
    with database.writing() as connection:
        while batch := list(islice(numbered, _AT_ONCE)):
            store_lines(connection, batch, came)
    replaced = f", {came.replaced} of them in place of one without a result" if came.replaced else ""
    new = came.new + came.replaced
    yield f"{plural(new, 'game')} imported{replaced}, {came.seen - new} stored already\n"
    yield from (f"{text}\n" for text in came.differing)
    if came.refused:
        raise RefusedError(came.refused, "" if came.seen else _JSON_LINES)


def aligned(rows: Sequence[Sequence[str]], left: Sequence[int]) -> Iterator[str]:
    """Yield the rows with their columns below each other; those of the numbers `left` begin at their left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if number in left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip() + "\n"


def plural(count: int, word: str) -> str:
    """Return ``1 game`` or ``2 games``."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def _outcome(record: GameRecord, both: Both) -> str:
    said = outcome(record, both)
    names = [printable(player.name) for player in record.players]
    return f"{names[said.subject]} {said.verb} {names[1 - said.subject]} {said.how}"


def _circumstances(record: GameRecord) -> str:
    place = "lobby" if record.table is None else f"table {printable(record.table)}"
    counted = "" if record.counted else ", not counted"
    seconds = (record.ended - record.began) / 1000
    return f"{moment(record.began)}, {seconds:.3f} s, {place}, round {record.round}{counted}"


def _player(record: GameRecord, side: int) -> tuple[str, ...]:
    player = record.players[side]
    moves = len(record.moves[side::2])
    return (
        _DISCS[side],
        printable(player.name),
        printable(player.kind),
        "moved first" if side == 0 else "moved second",
        plural(moves, "move"),
        f"thought {record.thought[side] / 1000:.3f} s",
    )


def drawing(board: Board) -> str:
    """Return a board as lines, its columns numbered below."""
    cells = [["."] * COLUMNS for _ in range(ROWS)]
    for column, row, side in board.placed():
        cells[row][column] = _DISCS[side]
    lines = [*reversed(cells), [str(column) for column in range(COLUMNS)]]
    return "\n".join("  " + " ".join(line) for line in lines)


def _conversation(player: Participant, exchange: Exchange | None, nothing: str) -> Iterator[str]:
    name = printable(player.name)
    if exchange is None:
        why = "one of the server's own players, without a connection" if player.house else nothing
        yield f"{name}: {why}\n"
        return
    yield f"{name} -> said, <- heard, in milliseconds since the game began:\n"
    for line in exchange:
        if line.direction != "note":
            text = printable(line.text.rstrip("\r\n"))
            yield f"  {line.at:>8}  {_ARROWS[line.direction]}  {text}\n"
        if line.verdict:  # on a line of its own, so that no client can say it
            yield f"  {line.at:>8}  --  {printable(line.verdict)}\n"


# What ``games`` and ``show --moves`` print.
#
# Knows how things look on a terminal; does not know options. No name of a client's reaches a terminal with
# its control characters.

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
