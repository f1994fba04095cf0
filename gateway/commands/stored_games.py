"""The output of the commands on stored games, as iterators of texts. Each text can be written immediately.

Does not know options, or where the text is written. Control characters in clients' names and messages are
escaped.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from gateway.game.board import Board
from gateway.game.ids import GameId
from gateway.game.text import DISCS, aligned, drawing, plural, printable
from gateway.store import StoreError, games, storing
from gateway.store.database import Database, back_up
from gateway.store.evidence import NEW, Exchange
from gateway.store.formats import FORMATS, ONLY_OUT, jsonl
from gateway.store.games import Filter, NoGameError, Page
from gateway.store.presentation import Outcome, outcome
from gateway.store.records import GameRecord, Participant, TakenUp, moment
from gateway.store.storing import store_lines

_ARROWS = {"in": "->", "out": "<-"}
_AT_ONCE = 500
"""The number of lines that are imported at a time."""
_JSON_LINES = "import reads JSON lines: make them with export --format jsonl"
_SHOWN = 20
"""The maximum number of lines that an error text names."""


class RefusedError(StoreError):
    """Some lines could not be imported. The error text names up to `_SHOWN` of them."""

    def __init__(self, refused: Sequence[tuple[int, str]], hint: str = "") -> None:
        shown = [f"line {number}: {why}" for number, why in sorted(refused)[:_SHOWN]]
        more = len(refused) - len(shown)
        last = [f"and {plural(more, 'line')} more"] if more else []
        super().__init__("\n".join(shown + last + ([hint] if hint else [])))


def show(database: Database, game: GameId) -> Iterator[str]:
    """Yield texts about a game: board, moves, reason, evidence. Raises StoreError if it is not stored."""
    with database.reading() as connection:
        record, both = games.one(connection, game), games.evidence_of(connection, game)
    yield f"game {record.game}: {_sentence(record, outcome(record, both))}\n{_circumstances(record)}\n\n"
    yield aligned([_player(record, side) for side in (0, 1)], left=(0, 1, 2, 3))
    yield f"\n{drawing(record.board())}\n\nmoves {record.moves or 'none'}\n"
    yield f"position {f'{record.position} (columns from 1)' if record.position else 'none'}\n"
    for player, exchange in zip(record.players, both, strict=True):
        yield "\n"
        is_new = 1000 * time.time() - record.ended < NEW
        yield from _conversation(player, exchange, "nothing is kept yet" if is_new else "nothing is kept")


def export(database: Database, form: str, wanted: Filter) -> Iterator[str]:
    """Yield the games in one of `FORMATS`, the oldest first. Only one page of games is in memory at a time.

    Raises StoreError if no stored game has a player of the filter.
    """
    with database.reading() as connection:
        games.check_players(connection, wanted)
    yield from FORMATS[form](games.every(database.reading, wanted))


def backup(where: str, target: str) -> Iterator[str]:
    """Copy an SQLite database to a new file; yield a line with the number of games and the size."""
    count, size = back_up(where, target)
    yield f"{printable(target)}: {plural(count, 'game')}, {size / 1e6:.1f} MB\n"


def recount(database: Database) -> Iterator[str]:
    """Compute all totals, tallies and ratings again from the games; correct and report differences.

    This takes 30 s for a million games. Other writers wait meanwhile, so use it while no server runs.
    """
    with database.writing() as connection:
        totals, were_right, rerated = storing.recount(connection)
    found = "as kept" if were_right else "not as kept; now they are"
    counted = plural(sum(tally.games for tally in totals.tallies.values()), "game")
    yield f"totals and ratings of {plural(len(totals.accounts), 'player')} in {counted}: {found}\n"
    if rerated:
        yield f"ratings after each game: {plural(rerated, 'game')} had none; now all have them\n"


def add(database: Database, lines: Iterable[bytes]) -> Iterator[str]:
    """Store the games of an export or a journal, in order, and their totals; yield the number of new games.

    Games that are stored already are skipped. Other writers wait meanwhile. Raises StoreError before it
    stores anything if the format cannot be imported, and RefusedError at the end if some lines could not be
    stored.
    """
    beginning = [*islice(lines := iter(lines), 1)]
    if beginning and (other := ONLY_OUT.match(beginning[0])):
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


def _sentence(record: GameRecord, parts: Outcome) -> str:
    names = [printable(player.name) for player in record.players]
    return f"{names[parts.subject]} {parts.verb} {names[1 - parts.subject]} {parts.how}"


def _circumstances(record: GameRecord) -> str:
    place = "lobby" if record.table is None else f"table {printable(record.table)}"
    counted = "" if record.counted else ", not counted"
    seconds = (record.ended - record.began) / 1000
    return f"{moment(record.began)}, {seconds:.3f} s, {place}, round {record.round}{counted}"


def _player(record: GameRecord, side: int) -> tuple[str, ...]:
    player = record.players[side]
    moves = len(record.moves[side::2])
    return (
        DISCS[side],
        printable(player.name),
        printable(player.kind),
        "moved first" if side == 0 else "moved second",
        plural(moves, "move"),
        f"thought {record.thought[side] / 1000:.3f} s",
    )


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
        if line.verdict:  # on a separate line, so that a client's text cannot imitate a remark
            yield f"  {line.at:>8}  --  {printable(line.verdict)}\n"


# The output of ``games`` and ``show --moves``.

_WIDE = 4
"""The number of boards that are shown side by side."""
_OWN = ("game", "ended", "result", "opponent", "how", "moves", "seconds")
_BOTH = ("game", "ended", "first", "second", "how", "moves", "seconds")


def list_games(database: Database, wanted: Filter, limit: int, *, as_json: bool = False) -> Iterator[str]:
    """Yield a line for each of the newest `limit` games, the newest first.

    With `as_json` the lines are those of `export --format jsonl`. Raises StoreError if no stored game has a
    player of the filter.
    """
    found = _newest(database, wanted, limit)
    if as_json:
        yield from jsonl.write(found)
        return
    if not found:
        yield "No such games.\n"
        return
    head = _BOTH if wanted.player is None else _OWN
    yield aligned([head, *(_line(each, wanted.player) for each in found)], left=(0, 1, 2, 3, 4))


def latest(database: Database, wanted: Filter) -> str:
    """Return the id of the newest game that matches. Raises StoreError if no game matches."""
    found = _newest(database, wanted, 1)
    if not found:
        raise NoGameError(
            "there is no such game" if wanted.player is None else f"{wanted.player!r} has no such game"
        )
    return found[0].game


def _newest(database: Database, wanted: Filter, limit: int) -> list[GameRecord]:
    with database.reading() as connection:
        games.check_players(connection, wanted)
        return games.page(connection, wanted, Page(limit=limit))


def move_by_move(database: Database, game: str) -> Iterator[str]:
    """Yield the board of a game after each of its moves. Raises StoreError if the game is not stored."""
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
    parts = outcome(record)
    names = [printable(each.name) for each in record.players]
    end = (str(len(record.moves)), f"{(record.ended - record.began) / 1000:.3f}")
    if player is None:
        return (record.game, moment(record.ended), *names, _sentence(record, parts), *end)
    own = record.side_of(player)
    if record.winner is None:
        result = "drawn" if record.counted else "-"
    else:
        result = "won" if record.winner == own else "lost"
    return (record.game, moment(record.ended), result, names[1 - own], parts.how, *end)
